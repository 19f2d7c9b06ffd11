/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a context has its transport do: the settings that are the transport's, and telling of paths that are lost. */
@Timeout(120)
class TransportSettingsTest {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
    private static final StreamConfig SMALL = StreamConfig.DEFAULT.withBuffers(16 * 1024, 16 * 1024);

    /** When the transport is made. */
    enum Opened {
        BEFORE_THE_CONTEXT(verbs -> {
            try {
                return TransportHolder.of(RdmaTransport.over(verbs));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }),
        WHEN_IT_IS_NEEDED(verbs -> TransportHolder.opening(() -> verbs));

        final Function<VerbsProvider, TransportHolder> holder;

        Opened(Function<VerbsProvider, TransportHolder> holder) {
            this.holder = holder;
        }
    }

    private record Pair(RdmaStream client, RdmaStream server) {}

    private final LoopbackProvider verbs = new LoopbackProvider();
    private final List<Pair> pairs = new ArrayList<>();
    private RdmaTransport transport;

    @AfterEach
    void everythingIsGivenBack() {
        for (Pair pair : pairs) {
            pair.client.abort();
            pair.server.abort();
        }
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    private TransportContext open(Opened opened, String settings) throws Exception {
        TransportHolder holder = opened.holder.apply(verbs);
        TransportContext context =
                new TransportContext(Settings.read(settings, new Properties(), Map.of()), Rules.NONE, holder);
        transport = holder.transport();
        return context;
    }

    private Pair connect() throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (RdmaListener listener = transport.listen(any, 5, SMALL)) {
            RdmaStream client =
                    transport.connect(null, listener.localAddress(), SMALL).await(PATIENCE);
            RdmaStream[] server = new RdmaStream[1];
            await(() -> (server[0] = listener.poll()) != null, "nothing to accept");
            Pair pair = new Pair(client, server[0]);
            pairs.add(pair);
            return pair;
        }
    }

    private static void await(BooleanSupplier condition, String otherwise) {
        long deadline = System.nanoTime() + PATIENCE;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, otherwise);
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheBoundOfRegisteredMemory(Opened opened) throws Exception {
        open(opened, "memory.registered=2m");
        RdmaStream client = connect().client;
        assertThrows(IOException.class, () -> client.register(ByteBuffer.allocateDirect(2 << 20)));
        client.register(ByteBuffer.allocateDirect(1 << 20)).close();
    }

    /** The oldest go first, after ten seconds. */
    @Tag("slow")
    @ParameterizedTest
    @EnumSource
    void shouldResetClosedConnectionsBeyondTheBound(Opened opened) throws Exception {
        open(opened, "close.max=1");
        List<byte[]> sent = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sent.add(fill(connect().client));
        }
        for (Pair pair : pairs) {
            pair.client.close();
        }
        await(() -> transport.totals().closing() == 1, "as many as before");
        for (Pair pair : pairs.subList(0, 2)) {
            assertEquals(
                    "Connection reset",
                    assertThrows(SocketException.class, () -> readAll(pair.server))
                            .getMessage());
        }
        assertArrayEquals(sent.get(2), readAll(pairs.get(2).server));
    }

    /** Writes until the peer has no room. */
    private static byte[] fill(RdmaStream stream) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
        for (int i = 0; i < bytes.capacity(); i++) {
            bytes.put(i, (byte) (i * 31 + (i >> 8)));
        }
        while (stream.write(bytes) > 0 || stream.awaitWritable(TimeUnit.MILLISECONDS.toNanos(100))) {
            assertTrue(bytes.hasRemaining(), "it takes everything");
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static byte[] readAll(RdmaStream stream) throws IOException {
        byte[] bytes = new byte[1 << 20];
        int at = 0;
        for (int n = 0; n >= 0; n = stream.read(bytes, at, bytes.length - at, PATIENCE)) {
            at += n;
        }
        return Arrays.copyOf(bytes, at);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRememberThePeerToWhichAPathWasLost(Opened opened) throws Exception {
        TransportContext context = open(opened, "");
        Pair pair = connect();
        pair.client.write(new byte[1], 0, 1, PATIENCE);
        assertEquals(1, pair.server.read(new byte[1], 0, 1, PATIENCE));
        assertEquals(List.of(), context.remembered());
        verbs.faults().breakAfter(0);
        pair.client.write(new byte[1], 0, 1, PATIENCE);
        assertThrows(SocketException.class, () -> pair.client.read(new byte[1], 0, 1, PATIENCE));
        await(() -> !context.remembered().isEmpty(), "nothing is remembered");
        PeerState state = context.remembered().get(0);
        assertEquals(PeerState.Kind.PATH, state.kind());
        assertEquals(pair.client.remoteAddress().getAddress(), state.address());
    }
}
