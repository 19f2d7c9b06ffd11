/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests of a device that takes its time, or hangs. The clients have a transport, and so service thread and makers, of
 * their own.
 */
abstract class SlowDeviceTests extends RawPeerTests {

    static final long NEVER = TimeUnit.HOURS.toNanos(1);

    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    HookedVerbs hooked;
    RdmaTransport clients;

    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().cmTimeoutMillis(3_600_000);
    }

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    @BeforeEach
    void openClients() throws IOException {
        clients = later(RdmaTransport.over(verbs));
        transport.cmServices().limits(Admission.Limits.DEFAULT.heldNanos(NEVER));
    }

    @AfterEach
    void letGo() {
        goOn.countDown();
    }

    void hang() {
        reached.countDown();
        try {
            assertTrue(goOn.await(PATIENCE, TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** At the first connection that is made, here or by a client that has this transport. */
    void hangBeforeItIsMade() {
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                hang();
            }
        };
    }

    void awaitReached() throws InterruptedException {
        assertTrue(reached.await(PATIENCE, TimeUnit.NANOSECONDS), "nothing is being made");
    }

    PendingConnect connect(RdmaListener listener) {
        return clients.connect(null, listener.localAddress(), CONFIG);
    }

    void awaitService() throws Exception {
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        transport.service().execute(() -> ran.complete(true));
        assertTrue(ran.get(PATIENCE, TimeUnit.NANOSECONDS));
    }

    void assertNothingIsLeft() {
        RawPeer.await(
                () -> verbs.liveObjects().ids() == 0 && verbs.liveObjects().qps() == 0,
                () -> "left: " + verbs.liveObjects());
    }

    /** Over the transport whose device hangs, to listeners of the other one. */
    PendingConnect connectFromHere(RdmaListener listener) {
        return transport.connect(null, listener.localAddress(), CONFIG);
    }

    RdmaListener listenThere() throws IOException {
        return later(clients.listen(new InetSocketAddress(HERE, 0), 50, CONFIG));
    }
}
