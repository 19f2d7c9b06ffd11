/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;
import org.jrsocket.wire.WireException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random peers against live streams with a reader and a writer inside, and random connection data against both sides of
 * the handshake: more than a million messages and blobs. A peer does mostly what is right, now and then something
 * wrong; each connection must end by data, end of stream, reset or close within bounds, with the exceptions of sockets
 * only, and leave nothing behind. Peers that keep the rules get their data through unharmed.
 *
 * <p>Properties: {@code jrsocket.fuzz.scale} (default 1) and {@code jrsocket.fuzz.seed} (default: the same each time);
 * a failure names the seed of its connection.
 */
@Tag("once")
@Tag("slow")
@Timeout(300)
class StreamFuzzTest extends RawPeerTests {

    private static final double SCALE = Double.parseDouble(System.getProperty("jrsocket.fuzz.scale", "1"));
    private static final long SEED = Long.getLong("jrsocket.fuzz.seed", 20261120L);
    private static final int MESSAGES = (int) (300_000 * SCALE);
    private static final int BLOBS = (int) (150_000 * SCALE);
    private static final int HANDSHAKES = (int) (1_000 * SCALE);
    private static final int HALF = 4096;
    /** One wrong message in so many; 0 is none. */
    private static final int[] WRONG = {0, 3000, 1000, 200, 20};

    private static final int PER_CONNECTION = 6000;
    /**
     * One connection in so many has threads inside, which is much slower; the others are read and written without
     * waiting, by the peer's thread.
     */
    private static final int THREADED = 16;

    @Override
    LoopbackConfig config() {
        return new LoopbackConfig().retryTimeoutMillis(1).cmTimeoutMillis(20);
    }

    @Test
    void shouldSurviveRandomPeers() throws Exception {
        RdmaListener listener = listen(StreamConfig.DEFAULT
                .withSpinNanos(0)
                .withBuffers(4096, 2 * HALF)
                .withQueues(16, 32));
        long sent = 0;
        for (long n = 0; sent < MESSAGES; n++) {
            long seed = SEED + n;
            try (Connection c = new Connection(listener, seed)) {
                sent += c.run();
            } catch (Exception | Error e) {
                throw new AssertionError("seed " + seed + " (run with -Djrsocket.fuzz.seed=" + seed + ")", e);
            }
            assertTrue(verbs.violations().isEmpty(), () -> "seed " + seed + ": " + verbs.violations());
        }
        RawPeer.await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams left");
    }

    /** One connection's life. */
    private final class Connection implements AutoCloseable {
        private final Random random;
        private final int wrong;
        private final RawPeer peer;
        private final RdmaStream stream;
        private long out;
        private long granted = HALF;
        private int nextHalf = HALF;
        private volatile boolean shutdown;
        private int posted;
        private final boolean threaded;
        private final ByteBuffer in = ByteBuffer.allocate(5000);
        private final ByteBuffer toWrite = ByteBuffer.allocate(3000);
        private long taken;
        private volatile boolean over;

        Connection(RdmaListener listener, long seed) throws IOException {
            random = new Random(seed);
            wrong = WRONG[random.nextInt(WRONG.length)];
            threaded = random.nextInt(THREADED) == 0;
            RawPeer.Spec spec = RawPeer.Spec.DEFAULT
                    .half(HALF)
                    .credits(16 + random.nextInt(100))
                    .receives(200);
            peer = active(listener.localAddress(), random.nextBoolean() ? spec.ours() : spec);
            peer.stopRecording();
            peer.request(peer.connData());
            peer.established();
            stream = StreamPair.accept(listener);
        }

        int run() throws Exception {
            Future<?> reader = threaded ? background(this::read) : null;
            Future<?> writer = threaded ? background(this::write) : null;
            int most = 1 + random.nextInt(PER_CONNECTION);
            boolean alive = true;
            while (alive && !over && posted < most && peer.qp().currentState() == IbvQP.IBV_QPS_RTS) {
                alive = wrong != 0 && random.nextInt(wrong) == 0 ? doWrong() : doRight();
                if (!threaded && random.nextInt(12) == 0) {
                    visit();
                }
                if (peer.inFlight() > 500 || random.nextInt(50) == 0) {
                    peer.pump();
                }
                while (threaded
                        && alive
                        && peer.inFlight() > 1000
                        && peer.qp().currentState() == IbvQP.IBV_QPS_RTS
                        && !over) {
                    peer.pump(); // the stream is behind, or gone
                    if (reader.isDone() && writer.isDone() && !over) {
                        throw new AssertionError("reader and writer ended, and neither says that the connection did");
                    }
                    TimeUnit.MICROSECONDS.sleep(50);
                }
            }
            switch (random.nextInt(4)) {
                case 0 -> peer.ctrl(Imm.CTRL_DISCONNECT);
                case 1 -> stream.close();
                case 2 -> stream.abort();
                default -> peer.close();
            }
            if (random.nextBoolean()) {
                peer.close();
            }
            if (threaded) {
                stream.close();
                reader.get(60, TimeUnit.SECONDS);
                writer.get(60, TimeUnit.SECONDS);
            } else {
                RawPeer.await(
                        () -> {
                            visit();
                            return over || shutdown;
                        },
                        () -> "the stream did not notice its end");
            }
            stream.abort();
            RawPeer.await(
                    () -> {
                        peer.pump();
                        return stream.awaitDrained(1);
                    },
                    () -> "not drained");
            return posted;
        }

        /** Reads and writes what can be without waiting. */
        private void visit() {
            try {
                int n = stream.read(in.clear());
                for (int i = 0; wrong == 0 && i < n; i++) {
                    if (in.get(i) != content(taken + i)) {
                        throw new AssertionError("byte " + (taken + i) + " is " + in.get(i));
                    }
                }
                taken += Math.max(n, 0);
                if (!shutdown || random.nextBoolean()) {
                    stream.write(toWrite.clear().limit(random.nextInt(toWrite.capacity())));
                }
                over |= n < 0 && !shutdown;
            } catch (SocketException e) {
                over = true;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private Object read() throws IOException {
            byte[] buffer = new byte[5000];
            Random sizes = new Random(1);
            long sum = 0;
            try {
                for (; ; ) {
                    int n = stream.read(buffer, 0, 1 + sizes.nextInt(buffer.length), PATIENCE);
                    if (n < 0) {
                        if (!shutdown) {
                            over = true; // and never back to false: the writer may have found out first
                        }
                        return null;
                    }
                    for (int i = 0; wrong == 0 && i < n; i++) {
                        if (buffer[i] != content(sum + i)) {
                            throw new AssertionError("byte " + (sum + i) + " is " + buffer[i]);
                        }
                    }
                    sum += n;
                }
            } catch (SocketException e) {
                over = true;
                return null; // anything else fails the test
            }
        }

        private Object write() throws IOException {
            byte[] buffer = new byte[3000];
            Random sizes = new Random(2);
            try {
                for (; ; ) {
                    stream.write(buffer, 0, 1 + sizes.nextInt(buffer.length), PATIENCE);
                }
            } catch (SocketException e) {
                over = true;
                return null;
            }
        }

        private static byte content(long position) {
            return (byte) (position * 7 + (position >> 11));
        }

        private boolean post(int opcode, int imm, long address, int key, byte... bytes) throws IOException {
            posted++;
            return peer.post(opcode, imm, address, key, bytes);
        }

        /** What a correct peer may do now. */
        private boolean doRight() throws IOException {
            switch (random.nextInt(12)) {
                case 0 -> {
                    posted++;
                    int seen = peer.dataMessages();
                    peer.consumed(seen);
                    peer.credit(seen + peer.spec.credits());
                }
                case 1 -> {
                    if (peer.dataBytes() + HALF >= granted && peer.dataBytes() <= granted) {
                        posted++;
                        peer.consumed(peer.dataMessages());
                        peer.grantRing(nextHalf, HALF);
                        nextHalf = HALF - nextHalf;
                        granted += HALF;
                    }
                }
                case 2 -> post(SendBatch.RDMA_WRITE, 0, 0, 0);
                case 3 -> {
                    if (random.nextInt(20) == 0) {
                        post(SendBatch.RDMA_WRITE_WITH_IMM, Imm.ctrl(5 + 2 * random.nextInt(500)), 0, 0);
                    }
                }
                case 4 -> {
                    if (random.nextInt(800) == 0) {
                        shutdown = true;
                        return post(SendBatch.RDMA_WRITE_WITH_IMM, Imm.ctrl(Imm.CTRL_SHUTDOWN), 0, 0);
                    }
                }
                default -> {
                    if (shutdown || peer.window() == 0 || peer.room() == 0) {
                        peer.pump();
                        return true;
                    }
                    int n = random.nextInt(30) == 0
                            ? 0
                            : 1 + random.nextInt(Math.min(peer.room(), random.nextInt(10) == 0 ? HALF : 60));
                    byte[] bytes = new byte[n];
                    for (int i = 0; i < n; i++) {
                        bytes[i] = content(out + i);
                    }
                    out += n;
                    boolean ok = post(SendBatch.RDMA_WRITE_WITH_IMM, n, peer.position(), peer.positionKey(), bytes);
                    peer.moved(n);
                    return ok;
                }
            }
            return true;
        }

        /** Anything. Not everything here is a violation; much is. */
        private boolean doWrong() throws IOException {
            ConnData s = peer.stream;
            int size = random.nextInt(4) == 0 ? random.nextInt(300) : 0;
            byte[] noise = new byte[size];
            random.nextBytes(noise);
            int opcode = random.nextInt(4);
            return switch (random.nextInt(9)) {
                case 0 -> post(opcode, random.nextInt(), s.dataAddr() + random.nextInt(2 * HALF), s.dataKey(), noise);
                case 1 ->
                    post(
                            opcode,
                            random.nextInt(8) << 29 | random.nextInt(5000),
                            s.dataAddr() + random.nextInt(2 * HALF),
                            s.dataKey(),
                            noise);
                case 2 -> post(SendBatch.RDMA_WRITE_WITH_IMM, Imm.sgl(random.nextInt()), 0, 0);
                case 3 -> {
                    ByteBuffer grant = ByteBuffer.allocate(Grant.SIZE).order(ByteOrder.nativeOrder());
                    boolean far = random.nextBoolean();
                    Grant.put(
                            grant,
                            0,
                            Grant.BIG_ENDIAN_HOST,
                            far ? random.nextLong() : peer.ringAddress() + random.nextInt(HALF),
                            random.nextBoolean() ? random.nextInt() : peer.ringMr.getRkey(),
                            far ? random.nextInt() : random.nextInt(HALF));
                    yield post(
                            SendBatch.RDMA_WRITE_WITH_IMM,
                            Imm.sgl(peer.dataMessages() + peer.spec.credits()),
                            s.targetAddr() + 16L * random.nextInt(2),
                            s.targetKey(),
                            grant.array());
                }
                case 4 -> post(SendBatch.RDMA_WRITE, 0, s.dataAddr() + random.nextInt(2 * HALF), s.dataKey(), noise);
                case 5 ->
                    post(
                            SendBatch.RDMA_WRITE,
                            0,
                            s.targetAddr() + random.nextInt(17),
                            s.targetKey(),
                            new byte[random.nextInt(16)]);
                case 6 -> post(opcode, random.nextInt(100), random.nextLong(), random.nextInt(), noise);
                case 7 ->
                    post(SendBatch.RDMA_WRITE_WITH_IMM, Imm.ctrl(random.nextInt(5)), s.dataAddr(), s.dataKey(), noise);
                default ->
                    post(
                            SendBatch.RDMA_WRITE_WITH_IMM,
                            random.nextInt(HALF),
                            peer.position(),
                            peer.positionKey(),
                            noise);
            };
        }

        @Override
        public void close() throws IOException {
            stream.abort();
            peer.close();
            peers.remove(peer);
        }
    }

    private static byte[] mutate(byte[] good, Random random) {
        byte[] data = good.clone();
        switch (random.nextInt(6)) {
            case 0 -> random.nextBytes(data);
            case 1 -> data = Arrays.copyOf(data, random.nextInt(56));
            default -> {
                for (int i = random.nextInt(4); i >= 0; i--) {
                    int at = random.nextInt(data.length);
                    data[at] = switch (random.nextInt(4)) {
                        case 0 -> 0;
                        case 1 -> -1;
                        case 2 -> (byte) (data[at] ^ 1 << random.nextInt(8));
                        default -> (byte) random.nextInt();
                    };
                }
            }
        }
        return data;
    }

    /** No blob makes the parser do anything but answer or refuse; what it answers is within its own bounds. */
    @Test
    void shouldSurviveRandomConnectionData() {
        Random random = new Random(SEED);
        byte[] good = ConnData.local(384, 0x7f1000001000L, 1, 2, 0x7f1000100000L, 2, 65536)
                .withFeatures(1)
                .encode();
        int accepted = 0;
        for (int i = 0; i < BLOBS; i++) {
            try {
                ConnData data = ConnData.parse(mutate(good, random));
                accepted++;
                assertTrue(data.credits() >= 1
                        && data.targetLength() >= 2
                        && data.targetLength() <= 1024
                        && data.dataLength() >= 0);
            } catch (WireException e) {
                // refused
            }
        }
        assertTrue(accepted > BLOBS / 20 && accepted < BLOBS, accepted + " of " + BLOBS);
    }

    /** The same against a listening stream, and against a connecting one. */
    @Test
    void shouldSurviveHandshakesWithRandomConnectionData() throws Exception {
        RdmaListener listener = listen(CONFIG.withBuffers(8192, 8192).withQueues(16, 16));
        RawPeer.RawListener raw = rawListen();
        RawPeer.Spec spec = RawPeer.Spec.DEFAULT.half(100).credits(16);
        for (int i = 0; i < HANDSHAKES; i++) {
            long seed = SEED + i;
            Random random = new Random(seed);
            try {
                if (random.nextBoolean()) {
                    request(listener, spec, random);
                } else {
                    answer(raw, spec, random);
                }
            } catch (Exception | Error e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        RawPeer.await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams left");
    }

    private void request(RdmaListener listener, RawPeer.Spec spec, Random random) throws Exception {
        try (RawPeer peer = RawPeer.active(verbs, listener.localAddress(), spec)) {
            peer.request(mutate(peer.connData(), random));
            EventType answer = peer.nextEvent(10_000);
            if (answer == EventType.RDMA_CM_EVENT_ESTABLISHED) {
                use(StreamPair.accept(listener));
            } else {
                assertTrue(answer == EventType.RDMA_CM_EVENT_REJECTED, "came " + answer);
            }
        }
    }

    private void answer(RawPeer.RawListener raw, RawPeer.Spec spec, Random random) throws Exception {
        PendingConnect pending = transport.connect(
                null,
                new InetSocketAddress(HERE, raw.address().getPort()),
                CONFIG.withBuffers(8192, 8192).withQueues(16, 16));
        try (RawPeer peer = raw.take(spec)) {
            peer.answer(mutate(peer.connData(), random));
            try {
                use(pending.await(PATIENCE));
            } catch (RdmaConnectException e) {
                assertTrue(e.reason() == RdmaConnectException.Reason.PROTOCOL, e.toString());
            }
            while (peer.nextEvent(0) != null) {
                // the next connection's events come on the same channel
            }
        }
    }

    /** A peer that was let in may have told us any address. */
    private static void use(RdmaStream stream) throws IOException {
        try {
            stream.write(new byte[200], 0, 200, PATIENCE);
            stream.available();
        } catch (SocketException e) {
            // the peer's device refused what the peer had told us
        }
        stream.abort();
        assertTrue(stream.awaitDrained(PATIENCE));
    }
}
