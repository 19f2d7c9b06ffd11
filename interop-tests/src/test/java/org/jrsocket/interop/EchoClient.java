/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Plain {@code java.net}: sends random bytes in writes of random sizes and reads them back at the same time, comparing
 * hashes.
 *
 * <p>{@code EchoClient ADDRESS PORT BYTES SEED}. Prints {@code sent=}, {@code received=} and {@code ms=}; ends with 1
 * if they differ.
 */
final class EchoClient {

    private static final int BLOCK = 256 * 1024;

    private final Socket socket;
    private final long bytes;
    private final long seed;
    private final StreamHash sent = new StreamHash();
    private volatile IOException failure;

    private EchoClient(Socket socket, long bytes, long seed) {
        this.socket = socket;
        this.bytes = bytes;
        this.seed = seed;
    }

    public static void main(String[] args) throws Exception {
        try (Socket socket = new Socket(args[0], Integer.parseInt(args[1]))) {
            System.exit(new EchoClient(socket, Long.parseLong(args[2]), Long.parseLong(args[3])).run() ? 0 : 1);
        }
    }

    private boolean run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        Thread writer = new Thread(this::write, "client writer");
        writer.start();
        StreamHash received = read();
        writer.join();
        if (failure != null) {
            throw failure;
        }
        System.out.println("sent=" + sent);
        System.out.println("received=" + received);
        System.out.println("ms=" + (System.nanoTime() - start) / 1_000_000);
        if (sent.toString().equals(received.toString())) {
            return true;
        }
        System.err.println("EchoClient: what came back differs from what was sent, first in MiB "
                + sent.firstDifference(received));
        return false;
    }

    private StreamHash read() throws IOException {
        InputStream in = socket.getInputStream();
        StreamHash received = new StreamHash();
        RandomSizes sizes = new RandomSizes(seed + 2);
        byte[] buffer = new byte[RandomSizes.MAX];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer, 0, sizes.next(buffer.length))) {
            received.update(buffer, 0, n);
        }
        return received;
    }

    private void write() {
        try {
            OutputStream out = socket.getOutputStream();
            SplittableRandom random = new SplittableRandom(seed);
            RandomSizes sizes = new RandomSizes(seed + 3);
            ByteBuffer block = ByteBuffer.allocate(BLOCK);
            for (long left = bytes; left > 0; ) {
                for (int i = 0; i < BLOCK; i += Long.BYTES) {
                    block.putLong(i, random.nextLong());
                }
                int length = (int) Math.min(BLOCK, left);
                sent.update(block.array(), 0, length);
                for (int done = 0; done < length; ) {
                    int size = sizes.next(length - done);
                    out.write(block.array(), done, size);
                    done += size;
                }
                left -= length;
            }
            socket.shutdownOutput();
        } catch (IOException e) {
            failure = e;
            closeQuietly();
        }
    }

    /** Ends the reader, which would wait for an echo of what was never sent. */
    private void closeQuietly() {
        try {
            socket.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }
}
