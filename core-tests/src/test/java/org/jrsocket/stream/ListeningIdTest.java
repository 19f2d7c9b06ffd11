/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.stream.RdmaListener.Patience;
import org.jrsocket.stream.RdmaListener.Patience.Next;
import org.jrsocket.threads.ServiceThreads;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackDevice;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A listener that waits for its port. */
class ListeningIdTest extends RawPeerTests {

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    private RdmaListener whenFree(InetSocketAddress port, Patience patience) throws IOException {
        return later(transport.listenWhenFree(port, 50, CONFIG, Access.ALL, patience));
    }

    private void assertListens(RdmaListener listener) throws Exception {
        RdmaStream[] client = new RdmaStream[1];
        RawPeer.await(
                () -> {
                    try {
                        client[0] = transport
                                .connect(null, listener.localAddress(), CONFIG)
                                .await(PATIENCE);
                    } catch (IOException nobodyYet) {
                        return false;
                    }
                    return true;
                },
                () -> "nobody listens");
        new StreamPair(client[0], StreamPair.accept(listener)).close();
    }

    /** That it does is worth a warning where a warning has said that it does not. */
    @ParameterizedTest
    @EnumSource(names = {"TRY", "TRY_RARELY"})
    void shouldListenOnceThePortIsFree(Next next) throws Exception {
        RdmaListener taken = listen(CONFIG);
        InetSocketAddress port = taken.localAddress();
        AtomicInteger asked = new AtomicInteger();
        AtomicBoolean free = new AtomicBoolean();
        RdmaListener waiting = whenFree(port, () -> {
            asked.incrementAndGet();
            return free.get() ? next : Next.NOT_NOW;
        });
        RawPeer.await(() -> asked.get() > 0, () -> "it does not ask");
        List<String> warnings = warningsIn(() -> {
            taken.close();
            free.set(true);
            assertListens(waiting);
        });
        assertEquals(next == Next.TRY ? 0 : 1, warnings.size(), warnings::toString);
    }

    @Test
    void shouldTryLessAndLessOftenWhereSomebodyHasThePortForLong() {
        List<Long> seconds = new ArrayList<>();
        for (long pause = ListeningId.longer(0); seconds.size() < 5; pause = ListeningId.longer(pause)) {
            seconds.add(TimeUnit.NANOSECONDS.toSeconds(pause));
        }
        assertEquals(List.of(5L, 10L, 20L, 40L, 40L), seconds);
    }

    /** It may be a minute until it would find out. */
    @ParameterizedTest
    @EnumSource(names = {"TRY", "TRY_RARELY", "NOT_NOW"})
    void shouldForgetAtOnceAListenerThatIsClosedWhileItWaits(Next next) throws Exception {
        RdmaListener taken = listen(CONFIG);
        int before = timers();
        AtomicInteger asked = new AtomicInteger();
        RdmaListener waiting = whenFree(taken.localAddress(), () -> {
            asked.incrementAndGet();
            return next;
        });
        RawPeer.await(() -> asked.get() > 0, () -> "it does not ask");
        assertEquals(before + 1, timers());
        waiting.close();
        assertEquals(before, timers());
    }

    private int timers() throws Exception {
        passTheServiceThread();
        CompletableFuture<Integer> count = new CompletableFuture<>();
        transport
                .service()
                .execute(() -> count.complete(ServiceThreads.timersLaterThan(transport.services().service, 0)));
        return count.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldGoOnWaitingForItsPortAfterLackOfMemory() throws Exception {
        RdmaListener taken = listen(CONFIG);
        InetSocketAddress port = taken.localAddress();
        AtomicBoolean once = new AtomicBoolean();
        RdmaListener waiting = whenFree(port, () -> {
            if (!once.getAndSet(true)) {
                throw new OutOfMemoryError("says a test");
            }
            return Next.TRY;
        });
        RawPeer.await(once::get, () -> "it does not ask");
        taken.close();
        assertListens(waiting);
    }

    private LoopbackDevice plug(InetAddress there) {
        return verbs.addDevice(new LoopbackConfig().name("pluggable"), there);
    }

    @Test
    void shouldListenAgainThoughAnAttemptToHasFailedBadly() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        LoopbackDevice device = plug(there);
        RdmaListener listener = later(transport.listen(new InetSocketAddress(there, 0), 50, CONFIG));
        AtomicBoolean once = new AtomicBoolean();
        hooked.beforeBind = () -> {
            if (!once.getAndSet(true)) {
                throw new InternalError("says a test");
            }
        };
        verbs.faults().removeDevice(device);
        RawPeer.await(once::get, () -> "it does not try to");
        plug(there);
        assertListens(listener);
    }

    /** Each attempt may meet the one or the other. */
    @Test
    void shouldSayEachReasonOnceForWhichItCannotListen() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        LoopbackDevice device = plug(there);
        later(transport.listen(new InetSocketAddress(there, 0), 50, CONFIG));
        AtomicInteger tries = new AtomicInteger();
        hooked.beforeBind = () -> {
            throw new IOException("reason " + tries.getAndIncrement() % 2);
        };
        List<String> warnings = warningsIn(() -> {
            verbs.faults().removeDevice(device);
            RawPeer.await(() -> tries.get() >= 5, () -> tries + " tries");
        });
        assertEquals(
                2,
                warnings.stream().filter(line -> line.contains("cannot listen")).count(),
                warnings::toString);
    }
}
