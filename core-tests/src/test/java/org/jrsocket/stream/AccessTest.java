/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Listeners that take connections from some addresses only. A client of this host is seen with its target's address.
 */
class AccessTest extends RawPeerTests {

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private volatile String welcome = "127.0.0.2";

    private CmListener listen() throws IOException {
        for (int i = 2; i < 5; i++) {
            verbs.serve(address(i), verbs.device());
        }
        Access access = (source, local, device) -> {
            assertEquals(verbs.device().name(), device);
            asked.add(source.getHostAddress() + " " + local.getPort());
            return source.getHostAddress().equals(welcome) ? null : "not welcome";
        };
        InetSocketAddress all = new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 0);
        return (CmListener) later(transport.listen(all, 50, CONFIG, access));
    }

    private static InetAddress address(int last) throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
    }

    private static InetSocketAddress at(CmListener listener, int last) throws IOException {
        return new InetSocketAddress(address(last), listener.localAddress().getPort());
    }

    private Reason refused(CmListener listener, int source) {
        return assertThrows(RdmaConnectException.class, () -> transport
                        .connect(null, at(listener, source), CONFIG)
                        .await(PATIENCE))
                .reason();
    }

    @Test
    void shouldTakeConnectionsOnlyFromThoseWhoAreAdmitted() throws Exception {
        CmListener listener = listen();
        assertEquals(Reason.DENIED, refused(listener, 3));
        RdmaStream client = transport.connect(null, at(listener, 2), CONFIG).await(PATIENCE);
        RdmaStream accepted = StreamPair.accept(listener);
        int port = listener.localAddress().getPort();
        assertEquals(List.of("127.0.0.3 " + port, "127.0.0.2 " + port), asked);
        welcome = "127.0.0.3"; // for requests from now on
        assertEquals(Reason.DENIED, refused(listener, 2));
        client.write(bytes(10), 0, 10, PATIENCE);
        assertEquals(10, read(accepted, 10).length);
        client.close();
        accepted.close();
        assertNull(listener.poll());
    }

    /** Not even what the request says is read before. */
    @Test
    void shouldMakeNothingForThoseWhoAreNot() throws Exception {
        CmListener listener = listen();
        long before = transport.registeredMemory();
        for (int i = 0; i < 200; i++) {
            RawPeer peer = active(
                    at(listener, 3),
                    RawPeer.Spec.DEFAULT.half(4096).receives(16).credits(16));
            peer.request(i % 2 == 0 ? peer.connData() : new byte[3]);
            peer.raw.await(EventType.RDMA_CM_EVENT_REJECTED);
            peer.close();
        }
        assertEquals(0, listener.halfOpen());
        assertEquals(0, listener.held());
        assertEquals(200, asked.size());
        assertEquals(before, transport.registeredMemory());
        RdmaStream client = transport.connect(null, at(listener, 2), CONFIG).await(PATIENCE);
        StreamPair.accept(listener).close();
        client.close();
    }

    /** A client that is not answered takes the host for silent, and its request would stay for ever. */
    @ParameterizedTest
    @ValueSource(classes = {OutOfMemoryError.class, StackOverflowError.class})
    void shouldRefuseAtOnceWhenTheRulesCannotBeAsked(Class<? extends Error> trouble) throws Exception {
        RdmaListener listener =
                later(transport.listen(new InetSocketAddress(HERE, 0), 50, CONFIG, (source, local, device) -> {
                    throw trouble == OutOfMemoryError.class
                            ? new OutOfMemoryError("says a test")
                            : new StackOverflowError("so too");
                }));
        RdmaConnectException e = assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE));
        assertEquals(trouble == OutOfMemoryError.class ? Reason.BUSY : Reason.REFUSED, e.reason());
        RawPeer.await(() -> verbs.liveObjects().ids() == 1, () -> "not freed: " + verbs.liveObjects());
    }

    /** Whoever may not connect may not find out whether he could, either. */
    @Test
    void shouldRefuseProbesToo() throws Exception {
        CmListener listener = listen();
        List<Answer> answers = new CopyOnWriteArrayList<>();
        for (int source = 3; source > 1; source--) {
            transport.probe(at(listener, source), CONFIG, new PendingConnect.Observer() {
                @Override
                public void asked() {
                    // as expected
                }

                @Override
                public void answered(Answer answer) {
                    answers.add(answer);
                }
            });
            int count = 4 - source;
            RawPeer.await(() -> answers.size() == count, () -> "no answer");
        }
        assertEquals(List.of(Answer.REFUSED, Answer.OURS), answers);
        assertTrue(transport.liveStreams() == 0);
    }
}
