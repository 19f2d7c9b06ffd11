/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.jrsocket.wire.ConnData;
import org.junit.jupiter.api.Test;

/** Questions whether a peer would have a connection: what it answers, and that nothing comes of them. */
class ProbeTest extends RawPeerTests {

    private HookedVerbs hooked;
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> asked = new LinkedBlockingQueue<>();
    private final PendingConnect.Observer observer = new PendingConnect.Observer() {
        @Override
        public void asked() {
            asked.add(true);
        }

        @Override
        public void answered(Answer answer) {
            answers.add(answer);
        }
    };

    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().cmTimeoutMillis(3_600_000);
    }

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    private Answer probe(InetSocketAddress address) throws InterruptedException {
        transport.probe(address, CONFIG, observer);
        return answer();
    }

    private Answer answer() throws InterruptedException {
        Answer answer = answers.poll(60, TimeUnit.SECONDS);
        assertNotNull(answer, "no answer");
        return answer;
    }

    @Test
    void shouldBeAnsweredByAListenerWhoseApplicationHearsNothing() throws Exception {
        CmListener listener = (CmListener) listen(CONFIG);
        for (int i = 0; i < 100; i++) {
            assertEquals(Answer.OURS, probe(listener.localAddress()));
        }
        assertEquals(0, listener.halfOpen());
        assertNull(listener.poll());
        RdmaStream client =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        RdmaStream accepted = StreamPair.accept(listener);
        assertNull(listener.poll());
        client.close();
        accepted.close();
    }

    /** It is not about room. */
    @Test
    void shouldBeAnsweredByAListenerWithoutRoom() throws Exception {
        CmListener listener = (CmListener) later(transport.listen(new InetSocketAddress(HERE, 0), 1, CONFIG));
        RdmaStream client =
                transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE);
        assertEquals(Answer.OURS, probe(listener.localAddress()));
        client.close();
        StreamPair.accept(listener).close();
    }

    @Test
    void shouldBeRefusedWhereNobodyListens() throws Exception {
        CmListener listener = (CmListener) listen(CONFIG);
        listener.close();
        assertEquals(Answer.REFUSED, probe(listener.localAddress()));
    }

    /** The process stood still, for example, and finds the answer and the end of the time for it together. */
    @Test
    void shouldHearAnAnswerThatCameInTimeThoughTheServiceThreadIsLate() throws Exception {
        RawPeer.RawListener listener = rawListen();
        transport.probe(listener.address(), CONFIG, observer);
        CountDownLatch release = new CountDownLatch(1);
        try (RawPeer peer = listener.take(RawPeer.Spec.DEFAULT)) {
            peers.add(peer);
            assertNotNull(asked.poll(60, TimeUnit.SECONDS));
            passTheServiceThread(); // from here on it only listens
            keepTheServiceThreadBusy(release);
        } // which refuses
        long late = System.nanoTime() + PendingConnect.LATE_NANOS;
        RawPeer.await(() -> System.nanoTime() - late > 0, () -> "time stands still");
        release.countDown();
        assertEquals(Answer.REFUSED, answer());
    }

    /** It takes the request for one like any other, and its answer comes to nothing. */
    @Test
    void shouldTellAPeerThatDoesNotKnowTheMark() throws Exception {
        RawPeer.RawListener listener = rawListen();
        transport.probe(listener.address(), CONFIG, observer);
        try (RawPeer peer = listener.take(RawPeer.Spec.DEFAULT)) {
            peers.add(peer);
            assertTrue(ConnData.parse(peer.streamBytes).hasFeature(ConnData.FEATURE_PROBE));
            assertNotNull(asked.poll(60, TimeUnit.SECONDS));
            RawPeer.await(() -> verbs.qps().size() == 1, () -> "left: " + verbs.qps()); // the peer's own
            try {
                peer.answer(peer.connData());
            } catch (IOException e) {
                // loopback verbs say at once that the client has no queue pair
            }
        }
        assertEquals(Answer.REFUSED, answer()); // as its accept has failed; devices let it succeed
        assertEquals(0, transport.liveStreams());
    }

    @Test
    void shouldHearNothingFromAHostWithoutRdma() throws Exception {
        InetAddress silent = InetAddress.getByName("127.0.0.3");
        verbs.place(silent, Reachability.SILENT);
        transport.probe(new InetSocketAddress(silent, 7471), CONFIG, observer);
        assertNotNull(asked.poll(60, TimeUnit.SECONDS));
        passTheServiceThread(); // in which it asks
        verbs.expireTimeouts();
        passTheServiceThread();
        RawPeer.await(() -> verbs.ids().isEmpty(), () -> "it waits for an answer still");
        assertTrue(answers.isEmpty(), answers.toString());
        assertEquals(0, transport.liveStreams());
    }

    /** Else its id would be kept for good. */
    @Test
    void shouldEndWhereMemoryIsLackingForALastLookAtWhatHasArrived() throws Exception {
        RawPeer.RawListener listener = rawListen();
        transport.probe(listener.address(), CONFIG, observer);
        RawPeer peer = listener.take(RawPeer.Spec.DEFAULT);
        peers.add(peer);
        assertNotNull(asked.poll(60, TimeUnit.SECONDS));
        int others = verbs.ids().size() - 1;
        hooked.beforeEvent = () -> {
            throw new OutOfMemoryError("says a test");
        };
        RawPeer.await(() -> verbs.ids().size() == others, () -> "left: " + verbs.ids());
        hooked.beforeEvent = () -> {};
    }
}
