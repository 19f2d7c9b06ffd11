/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many threads at one stream, at random moments: close, abort and half closes from a third thread while a reader and a
 * writer are inside at both ends. Each round must end soon, with the exceptions of sockets only, and nothing may be
 * left. Property {@code jrsocket.test.rounds} scales it (default 1).
 */
class StreamRacesTest extends RawPeerTests {

    private static final double SCALE = Double.parseDouble(System.getProperty("jrsocket.test.rounds", "1"));
    private static final StreamConfig SMALL = CONFIG.withBuffers(8192, 8192).withQueues(16, 16);

    /** What the third thread does. */
    enum Act {
        CLOSE(RdmaStream::close),
        ABORT(RdmaStream::abort),
        SHUTDOWN_INPUT(s -> s.shutdownInput()),
        SHUTDOWN_OUTPUT(s -> s.shutdownOutput()),
        CLOSE_TWICE(s -> {
            s.close();
            s.abort();
        }),
        HALF_BY_HALF(s -> {
            s.shutdownOutput();
            s.shutdownInput();
            s.close();
        });

        interface Step {
            void on(RdmaStream stream) throws IOException;
        }

        final Step step;

        Act(Step step) {
            this.step = step;
        }
    }

    private static int rounds(int count) {
        return (int) Math.max(1, count * SCALE);
    }

    @ParameterizedTest
    @EnumSource(Act.class)
    void shouldSurviveWhileReadersAndWritersAreInside(Act act) throws Exception {
        Random random = new Random(act.ordinal());
        try (RdmaListener listener = transport.listen(new InetSocketAddress(HERE, 0), 50, SMALL)) {
            for (int round = 0; round < rounds(200); round++) {
                RdmaStream client =
                        transport.connect(null, listener.localAddress(), SMALL).await(PATIENCE);
                RdmaStream server = StreamPair.accept(listener);
                RdmaStream victim = round % 2 == 0 ? client : server;
                List<Future<Long>> inside = List.of(
                        background(() -> reads(client)),
                        background(() -> writes(client)),
                        background(() -> reads(server)),
                        background(() -> writes(server)));
                pause(random.nextInt(300_000));
                act.step.on(victim);
                pause(random.nextInt(100_000));
                client.close();
                server.close();
                for (Future<Long> future : inside) {
                    get(future);
                }
                assertTrue(client.awaitDrained(PATIENCE));
                assertTrue(server.awaitDrained(PATIENCE));
            }
        }
        RawPeer.await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams left");
    }

    private static void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    private static long reads(RdmaStream stream) {
        byte[] buffer = new byte[3000];
        long sum = 0;
        try {
            for (int n = stream.read(buffer, 0, buffer.length, PATIENCE);
                    n >= 0;
                    n = stream.read(buffer, 0, buffer.length, PATIENCE)) {
                for (int i = 0; i < n; i++) {
                    if (buffer[i] != (byte) (sum + i)) {
                        throw new AssertionError("byte " + (sum + i) + " is " + buffer[i]);
                    }
                }
                sum += n;
            }
        } catch (SocketException e) {
            expected(e);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return sum;
    }

    private static long writes(RdmaStream stream) {
        byte[] buffer = new byte[5000];
        long sum = 0;
        Random random = new Random(7);
        try {
            for (; ; ) {
                int n = 1 + random.nextInt(buffer.length);
                for (int i = 0; i < n; i++) {
                    buffer[i] = (byte) (sum + i);
                }
                stream.write(buffer, 0, n, PATIENCE);
                sum += n;
            }
        } catch (SocketException e) {
            expected(e);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return sum;
    }

    private static void expected(SocketException e) {
        if (!e.getMessage().matches("Connection reset|Broken pipe|Socket closed")) {
            throw new AssertionError(e);
        }
    }

    /**
     * A writer may be between its check and its copy when another thread aborts: what it copies then must not go out,
     * because what was dropped before it leaves a gap. A C peer, which cannot be told of the reset, would take it for
     * the stream's end.
     */
    @Test
    void shouldSendNothingAfterTheGapThatAnAbortLeaves() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        l.stream().write(bytes(150), 0, 150, PATIENCE); // 50 of them wait for a grant
        writeWhile(l, core -> core.out.close(true, true), 30);
        l.peer().grantRing(0, 100);
        l.peer().awaitImm(Imm.ctrl(Imm.CTRL_DISCONNECT));
        awaitDrained(l);
        assertEquals(100, l.peer().dataBytes());
    }

    /**
     * Does what another thread may do between a writer's check and the end of its copy. Returns how much the writer
     * took.
     */
    private static int writeWhile(Link l, Consumer<StreamCore> meanwhile, int count) throws Exception {
        StreamDriver core = l.stream().core();
        StreamWriter writer = new StreamWriter(core);
        core.enter();
        try {
            writer.enter();
            writer.checkWritable();
            core.growth.writeRoom(false);
            core.connection.sendMemory().reserve();
            meanwhile.accept(core);
            core.flush();
            int taken = writer.put(bytes(count), 0, count);
            core.leftover.flushWritten(count);
            writer.leave();
            return taken;
        } finally {
            core.exit();
        }
    }

    private static void awaitDrained(Link l) {
        StreamCore core = l.stream().core();
        RawPeer.await(
                () -> {
                    l.stream().poll();
                    core.enter();
                    try {
                        return core.out.isDrained();
                    } finally {
                        core.exit();
                    }
                },
                () -> "not drained");
    }

    /** And nothing follows SHUTDOWN, or the DISCONNECT of an ordinary close; and it does not keep the close waiting. */
    @Test
    void shouldSendNothingAfterTheEndOfTheStream() throws Exception {
        for (boolean shutdown : new boolean[] {true, false}) {
            Link l = link(Role.PASSIVE);
            l.stream().write(bytes(10), 0, 10, PATIENCE);
            int taken = writeWhile(
                    l,
                    core -> {
                        if (shutdown) {
                            core.out.shutdown();
                        } else {
                            core.out.close(false, false);
                        }
                    },
                    30);
            assertEquals(0, taken); // nobody must be told that it was written
            awaitDrained(l);
            assertEquals(10, l.peer().dataBytes());
            assertFalse(l.stream().core().out.waitsForPeer());
        }
    }

    /**
     * A long write copies piece by piece, and without the lock: what it says that it wrote when it is closed meanwhile
     * is what the peer gets.
     */
    @Test
    void shouldDeliverAllThatAWriteThatIsClosedMeanwhileSaysThatItWrote() throws Exception {
        Random random = new Random(5);
        for (int round = 0; round < rounds(100); round++) {
            try (StreamPair p = StreamPair.connect(transport, HERE, CONFIG)) {
                Future<Long> got = background(() -> drained(p.server));
                Future<Long> told = background(() -> writesBuffers(p.client));
                pause(random.nextInt(2_000_000));
                p.client.close();
                assertEquals(get(told), get(got));
            }
        }
    }

    private static long drained(RdmaStream stream) throws IOException {
        byte[] buffer = new byte[64 * 1024];
        long sum = 0;
        for (int n = 0; n >= 0; n = stream.read(buffer, 0, buffer.length, PATIENCE)) {
            sum += n;
        }
        return sum;
    }

    private static long writesBuffers(RdmaStream stream) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        long sum = 0;
        try {
            while (stream.awaitWritable(PATIENCE)) {
                sum += stream.write(buffer.clear());
            }
        } catch (SocketException e) {
            expected(e);
        }
        return sum;
    }

    /**
     * Whatever a writer leaves behind is sent, by the service thread or a reader, also while it comes and
     * goes.
     */
    @Test
    void shouldSendWhatWritersLeaveBehindWhoeverIsThere() throws Exception {
        Random random = new Random(99);
        StreamConfig config = CONFIG.withBuffers(64 * 1024, 64 * 1024);
        for (int round = 0; round < rounds(60); round++) {
            try (StreamPair p = StreamPair.connect(transport, HERE, config)) {
                boolean reading = random.nextBoolean();
                Future<Integer> reader = reading ? background(() -> p.client.read(new byte[1], 0, 1, 0)) : null;
                int sum = 0;
                for (int i = random.nextInt(40); i >= 0; i--) {
                    int n = 1 + random.nextInt(2000);
                    p.client.write(new byte[n], 0, n, PATIENCE);
                    sum += n;
                    if (random.nextInt(4) == 0) {
                        LockSupport.parkNanos(random.nextInt(300_000));
                    }
                }
                assertEquals(sum, read(p.server, sum).length);
                p.server.write(new byte[1], 0, 1, PATIENCE);
                int got = reading ? get(reader) : p.client.read(new byte[1], 0, 1, PATIENCE);
                assertEquals(1, got);
            }
        }
    }

    /**
     * A reader that is slow to come: the service thread waits for it, and sends when the grants come, on many streams
     * at once.
     */
    @Test
    void shouldSendWhatIsLeftToPeersThatReadLate() throws Exception {
        StreamConfig sender = CONFIG.withBuffers(256 * 1024, 8192);
        StreamConfig receiver = CONFIG.withBuffers(8192, 8192);
        int streams = 20;
        StreamPair[] pairs = new StreamPair[streams];
        for (int i = 0; i < streams; i++) {
            pairs[i] = StreamPair.connect(transport, HERE, sender, receiver);
            pairs[i].client.write(bytes(200_000), 0, 200_000, PATIENCE);
        }
        Thread.sleep(50);
        for (int i = 0; i < streams; i += 2) {
            pairs[i].client.close();
        }
        for (StreamPair p : pairs) {
            byte[] got = read(p.server, 200_000);
            for (int k = 0; k < got.length; k += 997) {
                assertEquals((byte) (k * 31 + (k >> 8)), got[k]);
            }
        }
        for (StreamPair p : pairs) {
            p.close();
        }
    }

    /** Linger: a drain that is cut short by an abort ends at once. */
    @Test
    void shouldEndAnAwaitedDrainByAnAbort() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        l.stream().write(bytes(500), 0, 500, PATIENCE);
        l.stream().close();
        Future<Boolean> lingering = background(() -> l.stream().awaitDrained(PATIENCE));
        assertFalse(l.stream().awaitDrained(20_000_000));
        l.stream().abort();
        assertTrue(get(lingering));
        assertTrue(l.peer().has(Imm.ctrl(Imm.CTRL_DISCONNECT)));
        assertEquals(100, l.peer().dataBytes());
    }

    /** A peer whose device never acknowledges does not hold an abort for longer than its few seconds. */
    @Test
    void shouldEndAnAbortAlthoughThePeerAcknowledgesNothing() throws Exception {
        Link l = link(Role.PASSIVE);
        verbs.faults().holdAcks(true);
        l.stream().write(bytes(500), 0, 500, PATIENCE);
        long start = System.nanoTime();
        l.stream().abort();
        assertTrue(l.stream().awaitDrained(PATIENCE));
        long took = System.nanoTime() - start;
        assertTrue(took >= TimeUnit.SECONDS.toNanos(2), took + " ns: it must give the peer a chance");
        verbs.faults().holdAcks(false);
    }

    /** Two readers are a mistake of the caller's, and told so; the one inside goes on. */
    @Test
    void shouldRefuseASecondReader() throws Exception {
        Link l = link(Role.PASSIVE);
        Future<Integer> reader = background(() -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        AtomicInteger refused = new AtomicInteger();
        RawPeer.await(
                () -> {
                    try {
                        l.stream().peek(ByteBuffer.allocate(1));
                    } catch (IllegalStateException e) {
                        refused.incrementAndGet();
                    } catch (IOException e) {
                        fail(e);
                    }
                    return refused.get() > 0;
                },
                () -> "never refused");
        l.peer().data((byte) 1);
        assertEquals(1, get(reader));
    }

    /** So are two writers. */
    @Test
    void shouldRefuseASecondWriter() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        byte[] sent = bytes(100_000);
        l.stream().write(sent, 0, 100, PATIENCE);
        Future<?> writer = background(() -> {
            while (l.stream().write(ByteBuffer.wrap(sent)) > 0) {
                // until there is no room
            }
            l.stream().awaitWritable(PATIENCE);
            return null;
        });
        StreamBehaviour.awaitInside("awaitWritable", 1);
        assertThrows(IllegalStateException.class, () -> l.stream().write(ByteBuffer.wrap(sent)));
        assertFalse(writer.isDone());
        l.stream().abort();
        get(writer);
    }

    /** The streams of one transport end together with it, whatever they are doing. */
    @Test
    void shouldEndAllStreamsWithTheirTransport() throws Exception {
        Callable<?>[] work = new Callable<?>[40];
        Future<?>[] running = new Future<?>[work.length];
        for (int i = 0; i < work.length; i += 4) {
            StreamPair p = StreamPair.connect(transport, HERE, SMALL);
            work[i] = () -> reads(p.client);
            work[i + 1] = () -> writes(p.client);
            work[i + 2] = () -> reads(p.server);
            work[i + 3] = () -> writes(p.server);
        }
        for (int i = 0; i < work.length; i++) {
            running[i] = background(work[i]);
        }
        Thread.sleep(20);
        transport.close();
        for (Future<?> future : running) {
            try {
                get(future);
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
        }
    }
}
