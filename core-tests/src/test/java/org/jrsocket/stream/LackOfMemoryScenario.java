/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jrsocket.Allocations;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * A transport, a server and three conversations, of which the second is watched by {@link Allocations}: it may fail,
 * but not hang, and the third has to go well. Then everything is freed. Returns what went wrong.
 */
public final class LackOfMemoryScenario implements Supplier<List<String>> {

    private static final long PATIENCE = StreamPair.PATIENCE;
    private static final int PIECE = 16 * 1024;
    private static final int PIECES = 6;

    private final List<String> wrong = new ArrayList<>();
    private volatile boolean over;

    @Override
    public List<String> get() {
        try {
            LoopbackProvider verbs = new LoopbackProvider();
            RdmaTransport transport = RdmaTransport.over(verbs);
            try (RdmaListener listener = transport.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10, StreamConfig.DEFAULT)) {
                converse(transport, listener);
            }
            awaitNothingLeft(transport);
            transport.close();
            verbs.assertClean();
            verbs.close();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private void converse(RdmaTransport transport, RdmaListener listener) throws IOException, InterruptedException {
        Thread server = new Thread(() -> serve(listener), "server");
        server.start();
        talk(transport, listener);
        Allocations.watch(true);
        try {
            talk(transport, listener);
        } catch (SocketTimeoutException e) {
            wrong.add("the client hears nothing: " + e);
        } catch (IOException | RuntimeException | Error e) {
            // the client has heard of it
        } finally {
            Allocations.watch(false);
        }
        talk(transport, listener);
        over = true;
        server.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE));
        if (server.isAlive()) {
            wrong.add("the server hears nothing");
        }
    }

    private static void talk(RdmaTransport transport, RdmaListener listener) throws IOException {
        RdmaStream client = connect(transport, listener);
        try {
            byte[] sent = new byte[PIECE];
            byte[] got = new byte[PIECE];
            for (int i = 1; i <= PIECES; i++) {
                Arrays.fill(sent, (byte) i);
                client.write(sent, 0, PIECE, PATIENCE);
                for (int at = 0; at < PIECE; ) {
                    int n = client.read(got, at, PIECE - at, PATIENCE);
                    if (n < 0) {
                        throw new IOException("the end after " + at + " bytes");
                    }
                    at += n;
                }
                if (!Arrays.equals(sent, got)) {
                    throw new AssertionError("wrong bytes");
                }
            }
            client.shutdownOutput();
            if (client.read(got, 0, 1, PATIENCE) >= 0) {
                throw new AssertionError("more than was sent");
            }
        } finally {
            client.close();
        }
    }

    private static RdmaStream connect(RdmaTransport transport, RdmaListener listener) throws IOException {
        PendingConnect pending = transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
        try {
            return pending.await(PATIENCE);
        } catch (RuntimeException | Error e) {
            pending.cancel();
            throw e;
        }
    }

    private void serve(RdmaListener listener) {
        while (!over) {
            try (RdmaStream stream = listener.poll()) {
                if (stream == null) {
                    LockSupport.parkNanos(50_000);
                } else {
                    echo(stream);
                }
            } catch (IOException | RuntimeException | Error e) {
                // the client hears of it
            }
        }
    }

    private static void echo(RdmaStream stream) throws IOException {
        byte[] bytes = new byte[PIECE];
        int n = stream.read(bytes, 0, PIECE, PATIENCE);
        while (n >= 0) {
            stream.write(bytes, 0, n, PATIENCE);
            n = stream.read(bytes, 0, PIECE, PATIENCE);
        }
    }

    /** Frees what is kept for connections to come, until nothing is left. */
    private void awaitNothingLeft(RdmaTransport transport) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE;
        while (transport.liveStreams() > 0 || transport.registeredMemory() > 0) {
            if (System.nanoTime() - end > 0) {
                wrong.add(transport.liveStreams() + " streams and " + transport.registeredMemory() + " bytes are left");
                return;
            }
            transport.freeIdle();
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }
}
