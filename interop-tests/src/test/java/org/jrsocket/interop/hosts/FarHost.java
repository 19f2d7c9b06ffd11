/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The program of host a: runs commands for {@link FarEnd}, one connection long. A line is {@code run WORDS...}, which
 * answers with the output in one line and the status before it; {@code start WORDS...}, which answers with the first
 * line of output, and the program stays; or {@code stop}, which kills what was started. It ends with what it started
 * when the connection ends.
 */
final class FarHost {

    static final int PORT = 7000;

    private static final Deque<Process> STARTED = new ArrayDeque<>();

    private FarHost() {}

    /** @param args the address to listen on */
    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(args[0], PORT));
            // nobody comes if the other host's JVM does not start
            server.setSoTimeout((int) TimeUnit.MINUTES.toMillis(5));
            try (Socket socket = server.accept();
                    PrintStream out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8)) {
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    out.println(answer(List.of(line.split(" "))));
                }
            }
        } finally {
            stop();
        }
    }

    private static String answer(List<String> words) throws IOException, InterruptedException {
        List<String> command = words.subList(1, words.size());
        return switch (words.get(0)) {
            case "run" -> {
                Process process =
                        new ProcessBuilder(command).redirectErrorStream(true).start();
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                yield process.waitFor() + " " + output.strip().replaceAll("\\R", "; ");
            }
            case "start" -> {
                Process started = new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                STARTED.push(started);
                yield String.valueOf(started.inputReader().readLine());
            }
            default -> {
                stop();
                yield "stopped";
            }
        };
    }

    private static void stop() throws InterruptedException {
        while (!STARTED.isEmpty()) {
            STARTED.pop().destroyForcibly().waitFor(1, TimeUnit.MINUTES);
        }
    }
}
