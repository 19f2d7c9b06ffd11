/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.scale;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.PollSet;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;

/**
 * The passive process of {@link ManyStreams}: {@code EchoMany ADDRESS PORT}. Sends back whatever comes, by two threads,
 * each of which looks for messages of all its streams at once, and ends with its standard input. A line of input has it
 * print what it uses.
 */
public final class EchoMany implements Runnable {

    private static final int WORKERS = 2;
    /** Streams of one worker. */
    private static final int CAPACITY = 1 << 15;
    /** Between looks at each stream by itself: some ends bring no message. */
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final ConcurrentLinkedQueue<RdmaStream> fresh = new ConcurrentLinkedQueue<>();
    private final Set<Echo> echoes = new LinkedHashSet<>();
    private final List<Echo> unfinished = new ArrayList<>();
    private PollSet set;
    private long swept = System.nanoTime();

    /** A stream, and what it has not taken back yet. */
    private static final class Echo {
        private final RdmaStream stream;
        private final ByteBuffer buffer = ByteBuffer.allocate(4096);

        Echo(RdmaStream stream) {
            this.stream = stream;
        }

        /** Moves what can be moved; throws when the stream is at its end. Returns whether all has gone back. */
        boolean step() throws IOException {
            for (; ; ) {
                int n = stream.read(buffer);
                if (n < 0) {
                    throw new IOException("end");
                }
                buffer.flip();
                int m = buffer.hasRemaining() ? stream.write(buffer) : 0;
                buffer.compact();
                if (n + m == 0) {
                    return buffer.position() == 0;
                }
            }
        }
    }

    public static void main(String[] args) throws IOException {
        RdmaTransport transport = TransportHolder.rdmaCore().transport();
        RdmaListener listener =
                transport.listen(new InetSocketAddress(args[0], Integer.parseInt(args[1])), 4096, StreamConfig.DEFAULT);
        EchoMany[] workers = new EchoMany[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new EchoMany();
            Thread thread = new Thread(workers[i], "echo-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        listener.onReady(() -> {
            int next = 0;
            for (RdmaStream stream = listener.poll(); stream != null; stream = listener.poll()) {
                workers[next++ % WORKERS].fresh.add(stream);
            }
        });
        Usage start = Usage.now();
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            if (c == '\n') {
                if (transport.liveStreams() == 0) {
                    transport.freeIdle(); // what the last ones left for others to come
                }
                Usage now = Usage.now();
                int live = Math.max(1, transport.liveStreams());
                System.out.println(
                        "server: " + transport.liveStreams() + " streams, " + now + "; " + now.per(start, live));
            }
        }
        System.exit(0);
    }

    @Override
    public void run() {
        for (; ; ) {
            for (RdmaStream stream = fresh.poll(); stream != null; stream = fresh.poll()) {
                add(new Echo(stream));
            }
            int found = set == null ? 0 : set.look(0);
            for (int i = 0; i < found; i++) {
                step((Echo) set.found(i));
            }
            if (found == 0) {
                List<Echo> again = List.copyOf(unfinished);
                unfinished.clear();
                again.forEach(this::step);
                if (System.nanoTime() - swept > SWEEP_NANOS) {
                    List.copyOf(echoes).forEach(this::step);
                    swept = System.nanoTime();
                }
                LockSupport.parkNanos(2_000_000);
            }
        }
    }

    private void add(Echo echo) {
        if (set == null) {
            set = new PollSet(echo.stream, CAPACITY);
        }
        if (!set.add(echo.stream, echo)) {
            throw new IllegalStateException("more than " + CAPACITY + " streams");
        }
        echoes.add(echo);
        step(echo); // what came before
    }

    private void step(Echo echo) {
        try {
            if (!echo.step() && !unfinished.contains(echo)) {
                unfinished.add(echo);
            }
        } catch (IOException e) {
            set.remove(echo.stream);
            echo.stream.close();
            echoes.remove(echo);
            unfinished.remove(echo);
        }
    }
}
