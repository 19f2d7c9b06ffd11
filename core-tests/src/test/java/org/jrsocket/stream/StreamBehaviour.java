/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.VerbsProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every stream does, whatever carries it. Subclasses say which verbs. */
@Timeout(120)
abstract class StreamBehaviour {

    private static final StreamConfig SMALL =
            StreamConfig.DEFAULT.withBuffers(16 * 1024, 16 * 1024).withQueues(16, 16);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    RdmaTransport transport;

    abstract VerbsProvider provider() throws IOException;

    RdmaTransport open(VerbsProvider provider) throws IOException {
        return RdmaTransport.over(provider);
    }

    abstract InetAddress address();

    /** Bytes for the tests that move a lot. */
    abstract int bulk();

    /** How often something is tried that may go wrong by chance. */
    int manyTimes() {
        return 5000;
    }

    @BeforeEach
    void open() throws IOException {
        transport = open(provider());
    }

    @AfterEach
    void everythingIsGivenBack() throws Exception {
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS), "a thread is still inside a stream");
        transport.close();
        assertEquals(0, transport.liveStreams());
    }

    StreamPair pair() throws IOException {
        return StreamPair.connect(transport, address(), StreamConfig.DEFAULT);
    }

    <T> Future<T> background(Callable<T> task) {
        return threads.submit(task);
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    /** Returns when as many threads have been inside that method of a stream for a moment, where they wait by then. */
    static void awaitInside(String method, int threads) throws InterruptedException {
        for (int i = 0, seen = 0; seen < 3; i++) {
            Thread.sleep(10);
            seen = inside(method) >= threads ? seen + 1 : 0;
            assertTrue(i < 3000, () -> "nobody came to wait in " + method);
        }
    }

    private static long inside(String method) {
        String type = RdmaStream.class.getName();
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals(type)
                                && frame.getMethodName().equals(method)))
                .count();
    }

    static void readFully(RdmaStream stream, byte[] target) throws IOException {
        int at = 0;
        while (at < target.length) {
            int n = stream.read(target, at, target.length - at, StreamPair.PATIENCE);
            if (n < 0) {
                throw new IOException("end of stream after " + at + " bytes");
            }
            at += n;
        }
    }

    static byte[] random(int size, long seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void shouldEchoMessagesOfManySizes() throws Exception {
        try (StreamPair p = pair()) {
            for (int size :
                    new int[] {1, 63, 64, 65, 127, 128, 129, 1000, 4096, 65535, 65536, 65537, 200_000, 300_000}) {
                byte[] out = random(size, size);
                Future<byte[]> echoed = background(() -> {
                    byte[] in = new byte[size];
                    readFully(p.client, in);
                    return in;
                });
                Future<Void> echo = background(() -> {
                    byte[] in = new byte[size];
                    readFully(p.server, in);
                    p.server.write(in, 0, size, 0);
                    return null;
                });
                p.client.write(out, 0, size, 0);
                get(echo);
                assertArrayEquals(out, get(echoed), "size " + size);
            }
        }
    }

    @Test
    void shouldCarryBothDirectionsAtOnceInRandomSizes() throws Exception {
        bothDirections(StreamConfig.DEFAULT, bulk());
    }

    @Test
    void shouldCarryBothDirectionsThroughTinyRingsAndQueues() throws Exception {
        bothDirections(SMALL, bulk() / 16);
    }

    @Test
    void shouldCarryBothDirectionsWithoutSpinning() throws Exception {
        bothDirections(StreamConfig.DEFAULT.withSpinNanos(0), bulk() / 4);
    }

    @Test
    void shouldCarryBothDirectionsWithoutInlineData() throws Exception {
        bothDirections(StreamConfig.DEFAULT.withInline(0), bulk() / 4);
    }

    private void bothDirections(StreamConfig config, int total) throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), config)) {
            List<Future<Long>> sums = new ArrayList<>();
            sums.add(background(() -> writeRandom(p.client, total, 1)));
            sums.add(background(() -> readRandom(p.server, total, 2)));
            sums.add(background(() -> writeRandom(p.server, total, 3)));
            sums.add(background(() -> readRandom(p.client, total, 4)));
            assertEquals(get(sums.get(0)), get(sums.get(1)), "client to server");
            assertEquals(get(sums.get(2)), get(sums.get(3)), "server to client");
            assertEquals(total, p.client.bytesWritten());
            assertEquals(total, p.client.bytesRead());
        }
    }

    private static long writeRandom(RdmaStream stream, int total, long seed) throws IOException {
        Random random = new Random(seed);
        CRC32 sum = new CRC32();
        byte[] buffer = random(128 * 1024, seed);
        int left = total;
        while (left > 0) {
            int bound = random.nextInt(4) == 0 ? buffer.length : 300;
            int n = Math.min(left, 1 + random.nextInt(bound));
            int offset = random.nextInt(buffer.length - n + 1);
            stream.write(buffer, offset, n, 0);
            sum.update(buffer, offset, n);
            left -= n;
        }
        return sum.getValue();
    }

    private static long readRandom(RdmaStream stream, int total, long seed) throws IOException {
        Random random = new Random(seed);
        CRC32 sum = new CRC32();
        byte[] buffer = new byte[100_000];
        int left = total;
        while (left > 0) {
            int n = stream.read(buffer, 0, Math.min(left, 1 + random.nextInt(buffer.length)), StreamPair.PATIENCE);
            if (n < 0) {
                throw new IOException("end of stream with " + left + " bytes to go");
            }
            sum.update(buffer, 0, n);
            left -= n;
        }
        return sum.getValue();
    }

    @Test
    void shouldDeliverALastSmallWriteAlthoughTheWriterNeverComesBack() throws Exception {
        try (StreamPair p = pair()) {
            byte[] message = random(64, 7);
            for (int i = 0; i < 200; i++) {
                p.client.write(message, 0, 64, 0); // more than the send queue takes at once: the rest is coalesced
            }
            byte[] in = new byte[200 * 64];
            readFully(p.server, in);
            assertArrayEquals(message, java.util.Arrays.copyOfRange(in, 199 * 64, 200 * 64));
        }
    }

    @Test
    void shouldLoseNoWakeUpWhenBothEndsSleepAtOnce() throws Exception {
        StreamConfig sleepy = StreamConfig.DEFAULT.withSpinNanos(0);
        try (StreamPair p = StreamPair.connect(transport, address(), sleepy)) {
            int rounds = manyTimes();
            Future<Void> echo = background(() -> {
                byte[] b = new byte[1];
                for (int i = 0; i < rounds; i++) {
                    readFully(p.server, b);
                    p.server.write(b, 0, 1, 0);
                }
                return null;
            });
            byte[] b = new byte[1];
            for (int i = 0; i < rounds; i++) {
                b[0] = (byte) i;
                p.client.write(b, 0, 1, 0);
                readFully(p.client, b);
                assertEquals((byte) i, b[0]);
            }
            get(echo);
        }
    }

    @Test
    void shouldBlockAWriterWhosePeerDoesNotReadAndGoOnWhenItDoes() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), SMALL)) {
            byte[] data = random(200_000, 5);
            Future<Void> writer = background(() -> {
                p.client.write(data, 0, data.length, 0);
                return null;
            });
            awaitInside("write", 1);
            assertFalse(writer.isDone(), "32 KiB of rings cannot hold 200,000 bytes");
            byte[] in = new byte[data.length];
            readFully(p.server, in);
            get(writer);
            assertArrayEquals(data, in);
        }
    }

    @Test
    void shouldDeliverWhatWasWrittenToAPeerThatReadsMuchLater() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), SMALL)) {
            ByteBuffer data = ByteBuffer.wrap(random(30_000, 6));
            // ring 16 KiB here, ring 16 KiB there: the last part waits for a grant, and nobody is inside the client any
            // more
            p.client.write(data);
            int written = data.position();
            Thread.sleep(100);
            byte[] in = new byte[written];
            readFully(p.server, in);
            assertArrayEquals(java.util.Arrays.copyOf(data.array(), written), in);
        }
    }

    @Test
    void shouldTimeOutAReadAndStayUsable() throws Exception {
        try (StreamPair p = pair()) {
            SocketTimeoutException e =
                    assertThrows(SocketTimeoutException.class, () -> p.client.read(new byte[1], 0, 1, 20_000_000));
            assertEquals("Read timed out", e.getMessage());
            p.server.write(new byte[] {42}, 0, 1, 0);
            assertEquals(1, p.client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        }
    }

    @Test
    void shouldDeliverEverythingBeforeTheEnd() throws Exception {
        byte[] data = random(250_000, 8);
        try (StreamPair p = pair()) {
            Future<Void> writer = background(() -> {
                p.client.write(data, 0, data.length, 0);
                p.client.close();
                return null;
            });
            byte[] in = new byte[data.length];
            readFully(p.server, in);
            assertArrayEquals(data, in);
            assertEquals(-1, p.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            assertEquals(-1, p.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            get(writer);
        }
    }

    @Test
    void shouldKeepTheOtherDirectionAfterHalfClose() throws Exception {
        try (StreamPair p = pair()) {
            p.client.write(new byte[] {1}, 0, 1, 0);
            p.client.shutdownOutput();
            byte[] b = new byte[10];
            assertEquals(1, p.server.read(b, 0, 10, StreamPair.PATIENCE));
            assertEquals(-1, p.server.read(b, 0, 10, StreamPair.PATIENCE));
            byte[] data = random(500_000, 9);
            Future<Void> writer = background(() -> {
                p.server.write(data, 0, data.length, 0);
                p.server.shutdownOutput();
                return null;
            });
            byte[] in = new byte[data.length];
            readFully(p.client, in);
            assertArrayEquals(data, in);
            assertEquals(-1, p.client.read(b, 0, 10, StreamPair.PATIENCE));
            get(writer);
        }
    }

    @Test
    void shouldRefuseToWriteAfterShutdown() throws Exception {
        try (StreamPair p = pair()) {
            p.client.shutdownOutput();
            assertThrows(SocketException.class, () -> p.client.write(new byte[1], 0, 1, 0));
        }
    }

    @Test
    void shouldEndReadsAfterShutdownInputAndDropWhatComesLater() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), SMALL)) {
            Future<Integer> reader = background(() -> p.client.read(new byte[1], 0, 1, 0));
            awaitInside("read", 1);
            p.client.shutdownInput();
            assertEquals(-1, get(reader));
            assertEquals(-1, p.client.read(new byte[1], 0, 1, 0));
            int late = 256 * 1024; // of which the ring holds a part
            Future<Void> dropped = background(() -> {
                p.server.write(new byte[late], 0, late, StreamPair.PATIENCE);
                return null;
            });
            RawPeer.await(
                    () -> {
                        p.client.poll(); // as whoever still writes does
                        return dropped.isDone();
                    },
                    () -> "the peer waits for a reader");
            get(dropped);
            assertEquals(0, p.client.available());
            assertEquals(-1, p.client.read(new byte[1], 0, 1, 0));
        }
    }

    @Test
    void shouldWakeABlockedReaderWhenClosed() throws Exception {
        try (StreamPair p = pair()) {
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0)));
            awaitInside("read", 1);
            p.client.close();
            assertEquals("Socket closed", get(reader).getMessage());
            assertEquals(
                    "Socket closed",
                    assertThrows(SocketException.class, () -> p.client.read(new byte[1], 0, 1, 0))
                            .getMessage());
        }
    }

    @Test
    void shouldWakeABlockedWriterWhenClosed() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), SMALL)) {
            Future<SocketException> writer = background(
                    () -> assertThrows(SocketException.class, () -> p.client.write(new byte[1 << 20], 0, 1 << 20, 0)));
            awaitInside("write", 1);
            p.client.close();
            assertEquals("Socket closed", get(writer).getMessage());
        }
    }

    @Test
    void shouldShowAResetWhenThePeerAborts() throws Exception {
        try (StreamPair p = pair()) {
            Future<SocketException> reader =
                    background(() -> assertThrows(SocketException.class, () -> p.server.read(new byte[1], 0, 1, 0)));
            awaitInside("read", 1);
            p.client.abort();
            assertEquals("Connection reset", get(reader).getMessage());
        }
    }

    @Test
    void shouldResetWhenClosedWithUnreadData() throws Exception {
        try (StreamPair p = pair()) {
            p.server.write(new byte[10], 0, 10, 0);
            assertTrue(p.client.awaitReadable(StreamPair.PATIENCE));
            p.client.close();
            assertEquals(
                    "Connection reset",
                    assertThrows(SocketException.class, () -> p.server.read(new byte[1], 0, 1, StreamPair.PATIENCE))
                            .getMessage());
        }
    }

    @Test
    void shouldFailWritesAfterThePeerClosed() throws Exception {
        try (StreamPair p = pair()) {
            p.server.close();
            assertEquals(-1, p.client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            SocketException e = assertThrows(SocketException.class, () -> {
                for (int i = 0; i < 100; i++) {
                    p.client.write(new byte[1000], 0, 1000, 0);
                }
            });
            assertTrue(
                    e.getMessage().equals("Broken pipe") || e.getMessage().equals("Connection reset"), e.getMessage());
        }
    }

    @Test
    void shouldTellHowMuchCanBeReadAndPeekAtIt() throws Exception {
        try (StreamPair p = pair()) {
            p.server.write(new byte[] {1, 2, 3}, 0, 3, 0);
            assertTrue(p.client.awaitReadable(StreamPair.PATIENCE));
            assertEquals(3, p.client.available());
            ByteBuffer seen = ByteBuffer.allocate(10);
            assertEquals(3, p.client.peek(seen));
            assertEquals(3, p.client.available());
            byte[] b = new byte[10];
            assertEquals(3, p.client.read(b, 0, 10, 0));
            assertEquals(0, p.client.available());
        }
    }

    @Test
    void shouldReadAndWriteBuffersWithoutWaiting() throws Exception {
        try (StreamPair p = StreamPair.connect(transport, address(), SMALL)) {
            ByteBuffer nothing = ByteBuffer.allocateDirect(10);
            assertEquals(0, p.client.read(nothing));
            ByteBuffer out = ByteBuffer.allocateDirect(100_000);
            byte[] data = random(100_000, 11);
            out.put(data).flip();
            ByteBuffer in = ByteBuffer.allocateDirect(100_000);
            long deadline = System.nanoTime() + StreamPair.PATIENCE;
            while (in.hasRemaining() && System.nanoTime() - deadline < 0) {
                p.client.write(out);
                p.server.read(in);
            }
            byte[] got = new byte[100_000];
            in.flip().get(got);
            assertArrayEquals(data, got);
            p.client.close();
            assertTrue(p.server.awaitReadable(StreamPair.PATIENCE));
            assertEquals(-1, p.server.read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void shouldBeRefusedWhereNobodyListens() throws Exception {
        InetSocketAddress free;
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address(), 0), 1, StreamConfig.DEFAULT)) {
            free = listener.localAddress();
        }
        PendingConnect connect = transport.connect(null, free, StreamConfig.DEFAULT);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> connect.await(StreamPair.PATIENCE));
        assertEquals(RdmaConnectException.Reason.REFUSED, e.reason());
        String device = e.getMessage().replaceFirst(".* over ", "");
        String there = free.toString().substring(free.toString().indexOf('/') + 1);
        assertTrue(
                e.getMessage()
                        .matches("Connection refused(, no RDMA listener there)?: RDMA to " + Pattern.quote(there)
                                + " over " + device),
                e.getMessage());
    }

    @Test
    void shouldConnectAndWriteBeforeAnybodyAccepts() throws Exception {
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address(), 0), 5, StreamConfig.DEFAULT)) {
            try (RdmaStream client = transport
                    .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(StreamPair.PATIENCE)) {
                client.write(new byte[] {9}, 0, 1, 0);
                try (RdmaStream server = StreamPair.accept(listener)) {
                    byte[] b = new byte[1];
                    readFully(server, b);
                    assertEquals(9, b[0]);
                    assertEquals(client.localAddress(), server.remoteAddress());
                    assertEquals(client.remoteAddress(), server.localAddress());
                }
            }
        }
    }

    @Test
    void shouldHoldConnectionsBeyondTheBacklogUntilSomebodyAccepts() throws Exception {
        try (CmListener listener =
                (CmListener) transport.listen(new InetSocketAddress(address(), 0), 1, StreamConfig.DEFAULT)) {
            PendingConnect first = transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
            first.await(StreamPair.PATIENCE);
            HalfOpenTest.awaitHalfOpen(listener, 0); // it is ready now, and not only connected
            PendingConnect second = transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
            HalfOpenTest.awaitHeld(listener, 1);
            assertFalse(second.isDone());
            StreamPair.accept(listener).close();
            second.await(StreamPair.PATIENCE).close();
            StreamPair.accept(listener).close();
        }
    }

    @Test
    void shouldResetConnectionsThatNobodyAcceptedWhenTheListenerCloses() throws Exception {
        RdmaStream client;
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address(), 0), 5, StreamConfig.DEFAULT)) {
            client = transport
                    .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(StreamPair.PATIENCE);
        }
        assertThrows(SocketException.class, () -> client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        client.close();
    }

    @Test
    void shouldRefuseAPortThatIsTaken() throws Exception {
        try (RdmaListener listener = transport.listen(new InetSocketAddress(address(), 0), 5, StreamConfig.DEFAULT)) {
            assertThrows(IOException.class, () -> transport
                    .listen(listener.localAddress(), 5, StreamConfig.DEFAULT)
                    .close());
        }
    }

    @Test
    void shouldGiveBackMemoryAndObjectsOfClosedConnections() throws Exception {
        pair().close();
        waitForNoStreams();
        transport.freeIdle();
        long before = NativeMemory.allocatedBytes();
        for (int i = 0; i < 50; i++) {
            try (StreamPair p = pair()) {
                p.client.write(new byte[] {1}, 0, 1, 0);
                assertEquals(1, p.server.read(new byte[1], 0, 1, StreamPair.PATIENCE));
            }
        }
        waitForNoStreams();
        transport.freeIdle();
        // Not more: what other tests of this JVM left to the collector may be given back meanwhile.
        RawPeer.await(
                () -> NativeMemory.allocatedBytes() <= before,
                () -> NativeMemory.allocatedBytes() + " bytes, " + before + " before");
    }

    /** Neither reads any more, so neither can wait for the other to. */
    @Test
    void shouldCloseTwoEndsWithFullRings() throws Exception {
        StreamPair p = pair();
        for (RdmaStream end : List.of(p.client, p.server)) {
            ByteBuffer bytes = ByteBuffer.allocate(4 << 20);
            while (bytes.hasRemaining()
                    && (end.write(bytes) > 0 || end.awaitWritable(TimeUnit.MILLISECONDS.toNanos(200)))) {
                // until nothing goes
            }
            assertTrue(bytes.hasRemaining());
        }
        p.close();
        waitForNoStreams(); // who wait for each other end only after minutes
    }

    void waitForNoStreams() throws InterruptedException {
        long deadline = System.nanoTime() + StreamPair.PATIENCE;
        while (transport.liveStreams() > 0) {
            assertTrue(System.nanoTime() - deadline < 0, transport.liveStreams() + " streams are not freed");
            Thread.sleep(1);
        }
    }

    @Test
    void shouldServeManyConnectionsAtOnce() throws Exception {
        List<StreamPair> pairs = new ArrayList<>();
        List<Future<Void>> work = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            pairs.add(pair());
        }
        for (StreamPair p : pairs) {
            work.add(background(() -> {
                byte[] b = new byte[1000];
                for (int i = 0; i < 50; i++) {
                    readFully(p.server, b);
                    p.server.write(b, 0, b.length, 0);
                }
                return null;
            }));
        }
        byte[] b = random(1000, 3);
        for (int i = 0; i < 50; i++) {
            for (StreamPair p : pairs) {
                p.client.write(b, 0, b.length, 0);
            }
            for (StreamPair p : pairs) {
                byte[] in = new byte[1000];
                readFully(p.client, in);
                assertArrayEquals(b, in);
            }
        }
        for (Future<Void> f : work) {
            get(f);
        }
        pairs.forEach(StreamPair::close);
    }
}
