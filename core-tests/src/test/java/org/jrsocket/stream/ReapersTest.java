/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device on which nothing can be freed, because its firmware does not answer, is no trouble for others. */
class ReapersTest extends RawPeerTests {

    private final CountDownLatch answer = new CountDownLatch(1);
    private final AtomicInteger held = new AtomicInteger();
    private HookedVerbs hooked;
    private InetAddress there;
    private Device other;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @BeforeEach
    void addDevice() throws IOException {
        there = InetAddress.getByName("127.0.0.9");
        other = verbs.addDevice(new LoopbackConfig().name("other"), there);
    }

    /** Also for a test that fails. */
    @AfterEach
    void answerAtLast() {
        answer.countDown();
    }

    private void holdDestroyingOnOther() {
        hooked.beforeDestroyQp = device -> {
            if (device == other) {
                hold();
            }
        };
    }

    private void hold() {
        held.incrementAndGet();
        Threads.await(answer, PATIENCE); // no interrupt ends a call of the kernel
    }

    /** More than there are threads for one device. */
    private List<RdmaStream> closeManyOnOther() throws IOException {
        List<RdmaStream> closed = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            StreamPair pair = StreamPair.connect(transport, there, CONFIG);
            assertEquals("other", pair.client.deviceName());
            pair.close();
            closed.add(pair.client);
            closed.add(pair.server);
        }
        RawPeer.await(() -> held.get() == 4, () -> held + " threads wait for the device");
        return closed;
    }

    @Test
    void shouldFreeConnectionsWhileAnotherDeviceDoesNotAnswer() throws Exception {
        holdDestroyingOnOther();
        List<RdmaStream> left = closeManyOnOther();
        StreamPair pair = StreamPair.connect(transport, HERE, CONFIG);
        pair.close();
        RawPeer.await(() -> pair.client.isFreed() && pair.server.isFreed(), () -> "not freed");
        assertTrue(left.stream().noneMatch(RdmaStream::isFreed));
        answer.countDown();
        RawPeer.await(() -> left.stream().allMatch(RdmaStream::isFreed), () -> "never freed");
    }

    @Test
    void shouldRefuseClientsWhileADeviceDoesNotAnswer() throws Exception {
        RdmaListener listener = later(
                transport.listen(new InetSocketAddress(HERE, 0), 50, CONFIG, (source, local, device) -> "nobody"));
        holdDestroyingOnOther();
        closeManyOnOther();
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        assertEquals(
                Reason.DENIED,
                assertThrows(RdmaConnectException.class, () -> pending.await(PATIENCE))
                        .reason());
    }

    @Test
    void shouldFreeAttemptsToConnectWhileAnotherDeviceDoesNotAnswer() throws Exception {
        holdDestroyingOnOther();
        closeManyOnOther();
        assertThrows(RdmaConnectException.class, () -> transport
                .connect(null, new InetSocketAddress(HERE, 9), CONFIG)
                .await(PATIENCE));
        RawPeer.await(() -> verbs.liveObjects().qps() == 8, () -> "left: " + verbs.liveObjects());
    }

    /** The first connection that needs room must not wait for the device. */
    @Test
    void shouldMakeRoomForAConnectionWhileAnotherDeviceDoesNotAnswer() throws Exception {
        StreamPair.connect(transport, there, CONFIG).close();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        hooked.afterDestroyCq = this::hold;
        transport.limitMemory(transport.registeredMemory());
        RdmaListener listener = listen(CONFIG);
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        assertThrows(IOException.class, () -> pending.await(PATIENCE), "nothing is given back yet");
        assertTrue(held.get() > 0);
        answer.countDown();
        RawPeer.await(() -> transport.registeredMemory() == 0, () -> transport.registeredMemory() + " bytes left");
        transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
    }

    @Test
    void shouldEndTheTransportAlthoughADeviceDoesNotAnswer() throws Exception {
        StreamPair.connect(transport, there, CONFIG).close();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        hooked.afterDestroyCq = this::hold;
        Thread closing = new Thread(transport::close);
        closing.start();
        RawPeer.await(() -> held.get() > 0, () -> "what is kept for later connections is not freed");
        closing.join();
        assertEquals(1, answer.getCount());
    }

    @Test
    void shouldNameItsThreadsAfterTheirDevice() throws Exception {
        holdDestroyingOnOther();
        closeManyOnOther();
        List<String> names = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("jrsocket-reaper"))
                .toList();
        assertEquals(4, names.stream().filter("jrsocket-reaper other"::equals).count(), names.toString());
    }
}
