/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LiveObjects;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackDevice;
import org.jrsocket.verbs.loopback.LoopbackId;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listeners whose address moves from one device to another while both live. */
class MovedAddressTest extends RawPeerTests {

    private HookedVerbs hooked;
    private InetAddress address;
    private LoopbackDevice before;
    private LoopbackDevice after;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @BeforeEach
    void addDevices() throws IOException {
        address = InetAddress.getByName("10.9.0.1");
        before = verbs.addDevice(new LoopbackConfig().name("before"), address);
        after = verbs.addDevice(new LoopbackConfig().name("after"));
    }

    private RdmaListener listen() throws IOException {
        return later(transport.listen(new InetSocketAddress(address, 0), 50, CONFIG));
    }

    private void move() {
        verbs.serve(address, after);
    }

    private RdmaStream connect(RdmaListener listener) throws IOException {
        return transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
    }

    private void assertListensOn(LoopbackDevice device, RdmaListener listener) throws Exception {
        RawPeer.await(() -> deviceOf(listener) == device, () -> "it listens on " + deviceOf(listener));
        try (StreamPair pair = new StreamPair(connect(listener), StreamPair.accept(listener))) {
            pair.client.write(new byte[] {7}, 0, 1, PATIENCE);
            assertEquals(1, pair.server.read(new byte[1], 0, 1, PATIENCE));
            assertEquals(device.name(), pair.server.deviceName());
        }
    }

    private LoopbackId idOf(RdmaListener listener) {
        return verbs.ids().stream()
                .filter(id -> id.state() == LoopbackId.State.LISTENING)
                .filter(id -> listener.localAddress().equals(id.getSource()))
                .findFirst()
                .orElse(null);
    }

    private Device deviceOf(RdmaListener listener) {
        LoopbackId id = idOf(listener);
        return id == null ? null : id.getVerbs();
    }

    /** What makes it look. */
    private void hint(String what, RdmaListener listener) {
        switch (what) {
            case "GID_CHANGE" -> verbs.faults().asyncEvent(before, Device.event(Device.EVENT_GID_CHANGE, 1));
            case "PORT_ERR" -> verbs.faults().asyncEvent(before, Device.event(Device.EVENT_PORT_ERR, 1));
            case "PORT_ACTIVE" -> verbs.faults().asyncEvent(before, Device.event(Device.EVENT_PORT_ACTIVE, 1));
            case "ADDR_CHANGE" -> verbs.faults().changeAddress(idOf(listener));
            default -> transport.services().listening.period(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** No connection has been made, so nobody but the listener has asked for the device's events. */
    @ParameterizedTest
    @ValueSource(strings = {"GID_CHANGE", "PORT_ERR", "PORT_ACTIVE", "ADDR_CHANGE", "time"})
    void shouldFollowItsAddressToAnotherDevice(String hint) throws Exception {
        transport.services().listening.period(TimeUnit.HOURS.toNanos(1));
        RdmaListener listener = listen();
        move();
        RdmaConnectException deaf = assertThrows(RdmaConnectException.class, () -> connect(listener));
        assertEquals(RdmaConnectException.Reason.REFUSED, deaf.reason());
        hint(hint, listener);
        assertListensOn(after, listener);
    }

    /** The address is on its way: the device that lost it says so before the other one has it. */
    @Test
    void shouldFollowAnAddressThatArrivesAfterTheEvent() throws Exception {
        RdmaListener listener = listen();
        LoopbackId id = idOf(listener);
        verbs.place(address, Reachability.NO_DEVICE);
        int[] binds = {0};
        CompletableFuture<Void> looked = new CompletableFuture<>();
        hooked.beforeBind = () -> {
            if (++binds[0] == 2) {
                looked.complete(null);
            }
        };
        hint("GID_CHANGE", listener);
        looked.get(60, TimeUnit.SECONDS);
        assertSame(id, idOf(listener), "it may come back to the same device");
        move();
        assertListensOn(after, listener);
    }

    @Test
    void shouldStayWhereItIsWhenItsAddressComesBack() throws Exception {
        RdmaListener listener = listen();
        LoopbackId id = idOf(listener);
        verbs.place(address, Reachability.NO_DEVICE);
        hint("time", listener);
        awaitLooks(3);
        verbs.serve(address, before);
        awaitLooks(3);
        assertSame(id, idOf(listener));
        assertListensOn(before, listener);
    }

    private void awaitLooks(int looks) throws Exception {
        CompletableFuture<Void> enough = new CompletableFuture<>();
        int[] binds = {0};
        hooked.beforeBind = () -> {
            if (++binds[0] == looks + 1) { // those before are over then
                enough.complete(null);
            }
        };
        enough.get(60, TimeUnit.SECONDS);
        hooked.beforeBind = () -> {};
        passTheServiceThread();
    }

    @Test
    void shouldSayThatItMoves() throws Exception {
        RdmaListener listener = listen();
        List<String> warnings = warningsIn(() -> {
            move();
            hint("time", listener);
            RawPeer.await(() -> deviceOf(listener) == after, () -> "it has not moved");
            awaitLooks(3);
        });
        String said = "the RDMA listener on " + listener.localAddress()
                + " moves from RDMA device before to after, which has its address now";
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.get(0).endsWith(said), warnings::toString);
    }

    /** Connections live on the device where they were made. */
    @Test
    void shouldKeepConnectionsOnTheOldDevice() throws Exception {
        RdmaListener listener = listen();
        try (StreamPair pair = new StreamPair(connect(listener), StreamPair.accept(listener))) {
            move();
            hint("GID_CHANGE", listener);
            assertListensOn(after, listener);
            pair.client.write(new byte[] {7}, 0, 1, PATIENCE);
            assertEquals(1, pair.server.read(new byte[1], 0, 1, PATIENCE));
        }
    }

    /** Somebody was quicker on the new device. */
    @Test
    void shouldListenOnceItsPortIsFreeThere() throws Exception {
        RdmaListener listener = listen();
        LoopbackId other =
                (LoopbackId) transport.services().cm.createId(transport.services().channel, RdmaCm.RDMA_PS_TCP);
        hooked.beforeBind = () -> {
            if (deviceOf(listener) == null && other.state() == LoopbackId.State.IDLE) {
                other.bindAddr(listener.localAddress());
            }
        };
        List<String> warnings = warningsIn(() -> {
            move();
            hint("GID_CHANGE", listener);
            RawPeer.await(() -> other.state() == LoopbackId.State.BOUND, () -> "the port was never free");
            passTheServiceThread();
            assertSame(null, deviceOf(listener));
            awaitTries(2);
            other.destroyId();
            assertListensOn(after, listener);
            passTheServiceThread();
        });
        assertEquals(3, warnings.size(), warnings::toString);
        String said = warnings.get(1);
        assertTrue(said.contains("cannot listen over RDMA yet, and goes on trying"), said);
        assertTrue(said.contains("Address already in use"), said);
        assertTrue(warnings.get(2).endsWith("is listening again"), warnings::toString);
    }

    /** Each is a bind to the listener's own port. */
    private void awaitTries(int tries) throws Exception {
        CompletableFuture<Void> enough = new CompletableFuture<>();
        int[] binds = {0};
        hooked.beforeBind = () -> {
            if (++binds[0] == tries) {
                enough.complete(null);
            }
        };
        enough.get(60, TimeUnit.SECONDS);
        hooked.beforeBind = () -> {};
    }

    @Test
    void shouldLookForListenersThatAreOpenOnly() throws Exception {
        int none = timers();
        RdmaListener wildcard = transport.listen(new InetSocketAddress("0.0.0.0", 0), 50, CONFIG);
        assertEquals(none, timers(), "all devices are its own");
        RdmaListener one = listen();
        RdmaListener two = listen();
        assertEquals(none + 1, timers(), "one is for all");
        one.close();
        assertEquals(none + 1, timers());
        two.close();
        wildcard.close();
        assertEquals(none, timers());
        listen();
        assertEquals(none + 1, timers());
    }

    @Test
    void shouldNotLookForAListenerAnyMoreThatWasClosed() throws Exception {
        RdmaListener closed = listen();
        RdmaListener open = listen();
        hint("time", open);
        awaitLooks(2);
        closed.close();
        awaitLooks(2); // the look that was under way is over
        move();
        assertListensOn(after, open);
        assertSame(null, deviceOf(closed));
        open.close();
        passTheServiceThread();
        assertFalse(verbs.ids().stream().anyMatch(id -> id.state() == LoopbackId.State.LISTENING));
    }

    @Test
    void shouldWaitForALookThatIsUnderWayWhenTheTransportEnds() throws Exception {
        listen();
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        hooked.beforeBind = () -> {
            looking.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        };
        transport.services().listening.period(TimeUnit.MILLISECONDS.toNanos(1));
        looking.await();
        Future<?> closed = background(() -> {
            transport.close();
            return null;
        });
        RawPeer.await(() -> verbs.liveObjects().ids() == 1, () -> "it does not close: " + verbs.ids());
        goOn.countDown();
        get(closed);
        assertEquals(LiveObjects.NONE, verbs.liveObjects());
    }

    private int timers() throws Exception {
        passTheServiceThread();
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() -> count.complete(ServiceThreads.timersLaterThan(transport.services().service, 0)));
        return count.get(60, TimeUnit.SECONDS);
    }
}
