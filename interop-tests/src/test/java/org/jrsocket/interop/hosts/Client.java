/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * {@code Client ADDRESS COUNT BYTES PAUSE}: one connection after the other to the port that is the first line of its
 * input, each of which has that many bytes come back, with a pause in milliseconds between them. Prints {@code
 * connect=MICROSECONDS} for each, of the call of connect alone, and {@code done=COUNT}. With a pause it lives through
 * failures.
 */
final class Client {

    private Client() {}

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        byte[] bytes = new byte[Integer.parseInt(args[2])];
        new SplittableRandom(count).nextBytes(bytes);
        long pause = Long.parseLong(args[3]);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(input.readLine()));
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
