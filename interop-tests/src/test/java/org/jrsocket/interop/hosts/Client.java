/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * {@code Client ADDRESS PORT COUNT BYTES PAUSE}: one connection after the other, each of which has that many bytes come
 * back, with a pause in milliseconds between them. Prints {@code connect=MICROSECONDS} for each, of the call of connect
 * alone, and {@code done=COUNT}. With a pause it lives through failures.
 */
final class Client {

    private Client() {}

    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        int count = Integer.parseInt(args[2]);
        byte[] bytes = new byte[Integer.parseInt(args[3])];
        new SplittableRandom(count).nextBytes(bytes);
        long pause = Long.parseLong(args[4]);
        for (int i = 0; i < count; i++) {
            try {
                System.out.println("connect=" + connection(server, bytes));
            } catch (IOException e) {
                if (pause == 0) {
                    throw e;
                }
                System.out.println("failed=" + e); // while the server is restarted
            }
            Thread.sleep(pause);
        }
        System.out.println("done=" + count);
    }

    /** @return microseconds of the call of connect */
    static long connection(InetSocketAddress server, byte[] bytes) throws IOException {
        try (Socket socket = new Socket()) {
            long start = System.nanoTime();
            socket.connect(server);
            long micros = (System.nanoTime() - start) / 1000;
            byte[] back = new byte[bytes.length];
            DataInputStream in = new DataInputStream(socket.getInputStream());
            for (int done = 0; done < bytes.length; done += 65536) { // in parts: nobody here reads while it writes
                int part = Math.min(65536, bytes.length - done);
                socket.getOutputStream().write(bytes, done, part);
                in.readFully(back, done, part);
            }
            if (!Arrays.equals(bytes, back)) {
                throw new IOException("other bytes came back");
            }
            return micros;
        }
    }
}
