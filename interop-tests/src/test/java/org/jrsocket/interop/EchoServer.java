/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Plain {@code java.net}: sends back what one client sends, reading and writing at the same time with random sizes of
 * its own.
 *
 * <p>{@code EchoServer ADDRESS SEED}. Prints {@code listening=PORT}, and at the end {@code echoed=} with the hash.
 */
final class EchoServer {

    private static final byte[] END = {};

    private final Socket socket;
    private final long seed;
    private final BlockingQueue<byte[]> chunks = new ArrayBlockingQueue<>(64);
    private volatile IOException failure;

    private EchoServer(Socket socket, long seed) {
        this.socket = socket;
        this.seed = seed;
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(InetAddress.getByName(args[0]), 0));
            System.out.println("listening=" + server.getLocalPort());
            try (Socket socket = server.accept()) {
                System.out.println("echoed=" + new EchoServer(socket, Long.parseLong(args[1])).run());
            }
        }
    }

    private StreamHash run() throws IOException, InterruptedException {
        Thread writer = new Thread(this::write, "echo writer");
        writer.start();
        StreamHash hash = new StreamHash();
        try {
            InputStream in = socket.getInputStream();
            RandomSizes sizes = new RandomSizes(seed);
            byte[] buffer = new byte[RandomSizes.MAX];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer, 0, sizes.next(buffer.length))) {
                hash.update(buffer, 0, n);
                chunks.put(Arrays.copyOf(buffer, n));
            }
        } finally {
            chunks.put(END);
        }
        writer.join();
        if (failure != null) {
            throw failure;
        }
        return hash;
    }

    private void write() {
        try {
            OutputStream out = socket.getOutputStream();
            RandomSizes sizes = new RandomSizes(seed + 1);
            for (byte[] chunk = chunks.take(); chunk != END; chunk = chunks.take()) {
                for (int done = 0; done < chunk.length && failure == null; ) {
                    int size = sizes.next(chunk.length - done);
                    out.write(chunk, done, size);
                    done += size;
                }
            }
            socket.shutdownOutput();
        } catch (IOException e) {
            failure = e;
            drain();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Lets the reader, which may wait for room, find its own end. */
    private void drain() {
        try {
            while (chunks.take() != END) {
                // The connection failed: nobody gets this.
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
