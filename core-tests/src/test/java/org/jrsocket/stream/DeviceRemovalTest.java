/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.loopback.LiveObjects;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackDevice;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A device that is removed from the host, and comes back. */
@Timeout(120)
class DeviceRemovalTest {

    private static final StreamConfig CONFIG = StreamConfig.DEFAULT;

    private final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig());
    private InetAddress there;
    private LoopbackDevice device;
    private RdmaTransport transport;
    private RdmaListener listener;

    @BeforeEach
    void open() throws Exception {
        there = InetAddress.getByName("127.0.0.9");
        device = plug();
        transport = RdmaTransport.over(verbs);
        listener = transport.listen(new InetSocketAddress(there, 0), 50, CONFIG);
    }

    @AfterEach
    void everythingIsGivenBack() {
        listener.close();
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** Another device that has the address, as after a removal. */
    private LoopbackDevice plug() {
        return verbs.addDevice(new LoopbackConfig().name("pluggable"), there);
    }

    private StreamPair connect() throws Exception {
        RdmaStream client =
                transport.connect(null, listener.localAddress(), CONFIG).await(StreamPair.PATIENCE);
        return new StreamPair(client, StreamPair.accept(listener));
    }

    @Test
    void shouldSayWhichDeviceAConnectionWasLostWith() throws Exception {
        try (StreamPair pair = connect()) {
            verbs.faults().removeDevice(device);
            for (RdmaStream end : List.of(pair.client, pair.server)) {
                SocketException e =
                        assertThrows(SocketException.class, () -> end.read(new byte[1], 0, 1, StreamPair.PATIENCE));
                assertEquals("Connection reset", e.getMessage());
                // Perhaps the reader has seen the queue pair fail before anybody said why.
                String why = StreamFailure.of(e).getMessage();
                assertTrue(why.contains(" (pluggable, "), why);
            }
        }
    }

    /** Some kernels wait in the removal until all of it is freed, and the application may never close. */
    @Test
    void shouldFreeWhatIsOnItThoughNobodyHasClosed() throws Exception {
        try (StreamPair kept = connect()) {
            kept.client.write(new byte[100], 0, 100, StreamPair.PATIENCE);
        }
        try (StreamPair pair = connect()) {
            verbs.faults().removeDevice(device);
            RawPeer.await(() -> isBare(verbs.liveObjects()), () -> "still there: " + verbs.liveObjects());
            assertTrue(device.isLost());
            assertTrue(pair.client.isOpen());
            RawPeer.await(pair.server::isFreed, () -> "its objects are gone, and it does not know");
        }
    }

    private static boolean isBare(LiveObjects live) {
        return live.pds() + live.cqs() + live.mrs() + live.qps() == 0;
    }

    @Test
    void shouldListenAgainWhenADeviceHasTheAddressAgain() throws Exception {
        InetSocketAddress address = listener.localAddress();
        connect().close();
        verbs.faults().removeDevice(device);
        RawPeer.await(device::isLost, () -> "nobody has noticed");
        RdmaConnectException nobody = assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, address, CONFIG).await(StreamPair.PATIENCE));
        assertEquals(RdmaConnectException.Reason.NO_DEVICE, nobody.reason());
        LoopbackDevice back = plug();
        RdmaStream[] client = new RdmaStream[1];
        RawPeer.await(() -> (client[0] = tryToConnect(address)) != null, () -> "nobody listens on " + address);
        try (StreamPair pair = new StreamPair(client[0], StreamPair.accept(listener))) {
            pair.client.write(new byte[] {7}, 0, 1, StreamPair.PATIENCE);
            assertEquals(1, pair.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            assertFalse(back.isLost());
            assertEquals(address, listener.localAddress());
        }
    }

    /** That is said once, and whether it can be said must not matter. */
    @Test
    void shouldListenAgainThoughALoggerFails() throws Exception {
        InetSocketAddress address = listener.localAddress();
        connect().close();
        PrintStream before = System.err;
        AtomicBoolean met = new AtomicBoolean();
        System.setErr(new PrintStream(
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        met.set(true);
                        throw new IllegalStateException("as the test wants");
                    }
                },
                true,
                StandardCharsets.UTF_8));
        try {
            verbs.faults().removeDevice(device);
            RawPeer.await(met::get, () -> "nothing was logged");
            RawPeer.await(device::isLost, () -> "nobody has noticed");
        } finally {
            System.setErr(before);
        }
        plug();
        RdmaStream[] client = new RdmaStream[1];
        RawPeer.await(() -> (client[0] = tryToConnect(address)) != null, () -> "nobody listens on " + address);
        new StreamPair(client[0], StreamPair.accept(listener)).close();
    }

    /** A host whose driver is loaded again and again: each time it is another device. */
    @Test
    void shouldKeepNothingOfADeviceThatIsGone() throws Exception {
        RawPeer.await(() -> transport.services().devices.count() == 1, () -> "nobody listens to that of the listener");
        for (int i = 0; i < 20; i++) {
            LoopbackDevice each =
                    verbs.addDevice(new LoopbackConfig().name("again").maxInline(64), there);
            transport.tryQueuePair(there, CONFIG);
            RawPeer.await(() -> transport.services().devices.count() == 2, () -> "nobody listens to it");
            assertEquals(1, transport.services().inlineLimits.count());
            verbs.faults().removeDevice(each);
            RawPeer.await(each::isLost, () -> "nobody has noticed");
            RawPeer.await(
                    () -> transport.services().devices.count() == 1,
                    () -> "something is kept of " + transport.services().devices.count());
            RawPeer.await(() -> transport.services().inlineLimits.count() == 0, () -> "what it takes inline is kept");
        }
    }

    private RdmaStream tryToConnect(InetSocketAddress address) {
        try {
            return transport.connect(null, address, CONFIG).await(StreamPair.PATIENCE);
        } catch (IOException e) {
            return null;
        }
    }

    @Test
    void shouldCloseAListenerWhoseDeviceIsGone() throws Exception {
        verbs.faults().removeDevice(device);
        // What says so comes before what is asked of it.
        assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, listener.localAddress(), CONFIG).await(StreamPair.PATIENCE));
        listener.close();
        plug();
        try (RdmaListener other = transport.listen(listener.localAddress(), 50, CONFIG)) {
            assertEquals(listener.localAddress(), other.localAddress());
        }
    }

    /** Returns once it has dealt with the events that it has taken. */
    private void awaitServiceThread() throws Exception {
        CompletableFuture.runAsync(() -> {}, transport.service()::execute).get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldTakeTheEventsOfADevice() throws Exception {
        try (StreamPair pair = connect()) {
            List<String> warnings = RawPeerTests.warningsIn(() -> {
                verbs.faults().asyncEvent(device, Device.event(Device.EVENT_PORT_ERR, 2));
                verbs.faults().asyncEvent(device, Device.event(Device.EVENT_PORT_ACTIVE, 2));
                RawPeer.await(() -> !device.hasEvents(), () -> "nobody takes them");
                awaitServiceThread();
            });
            assertEquals(2, warnings.size(), warnings.toString());
            assertTrue(warnings.get(0).contains("port 2 of RDMA device pluggable is down"), warnings.toString());
            assertTrue(warnings.get(1).contains("port 2 of RDMA device pluggable is up"), warnings.toString());
            pair.client.write(new byte[] {7}, 0, 1, StreamPair.PATIENCE); // a link that was down is no loss in itself
            assertEquals(1, pair.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        }
    }

    /** Fails a queue of a stream, of which nothing but an event tells, and returns what its waiting reader gets. */
    private SocketException readAfter(RdmaStream stream, int event) throws Exception {
        CompletableFuture<Integer> reading = CompletableFuture.supplyAsync(() -> {
            try {
                return stream.read(new byte[1], 0, 1, StreamPair.PATIENCE);
            } catch (IOException e) {
                throw new CompletionException(e);
            }
        });
        StreamBehaviour.awaitInside("read", 1);
        verbs.faults().asyncEvent(device, event);
        CompletionException e = assertThrows(CompletionException.class, reading::join);
        return assertInstanceOf(SocketException.class, e.getCause());
    }

    /** No completion comes any more, so no reader would learn of anything. */
    @Test
    void shouldResetTheConnectionWhoseCompletionQueueHasFailed() throws Exception {
        try (StreamPair pair = connect();
                StreamPair other = connect()) {
            int event = Device.event(
                    Device.EVENT_CQ_ERR, pair.client.core().queues.receiveCq().getHandle());
            List<String> warnings = RawPeerTests.warningsIn(() -> {
                SocketException e = readAfter(pair.client, event);
                assertEquals("Connection reset", e.getMessage());
                String why = StreamFailure.of(e).getMessage();
                assertTrue(why.startsWith("a completion queue of this host's device has failed (pluggable, "), why);
                awaitServiceThread();
            });
            assertEquals(1, warnings.size(), warnings.toString());
            SocketException peers =
                    assertThrows(SocketException.class, () -> pair.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            assertEquals("Connection reset", peers.getMessage());
            RawPeer.await(pair.client::isFreed, () -> "its objects are kept");
            other.client.write(new byte[] {7}, 0, 1, StreamPair.PATIENCE);
            assertEquals(1, other.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        }
    }

    /** It may complete what was posted, which says more; but it need not. */
    @Test
    void shouldResetTheConnectionWhoseQueuePairHasFailed() throws Exception {
        try (StreamPair pair = connect();
                StreamPair other = connect()) {
            int event = Device.event(
                    Device.EVENT_QP_FATAL, pair.server.core().endpoint.qp().getQp_num());
            SocketException e = readAfter(pair.server, event);
            assertEquals("Connection reset", e.getMessage());
            String why = StreamFailure.of(e).getMessage();
            assertTrue(why.startsWith("this host's device has failed the queue pair (asynchronous event 1) ("), why);
            other.client.write(new byte[] {7}, 0, 1, StreamPair.PATIENCE);
            assertEquals(1, other.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        }
    }
}
