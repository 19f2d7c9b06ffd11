/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server process and a client process that takes commands, see {@link Client}. They live as long as the whole
 * measurement, so they warm up once.
 */
public final class Pair implements AutoCloseable {

    private static final long START_SECONDS = 120;
    private static final int TICKS_PER_SECOND = 100;

    /** What a JVM says of a crash begins on its standard output, within so many lines. */
    private static final int TELLING_LINES = 12;

    private final Process server;
    private final Process client;
    private final Path serverErrors;
    private final Path clientErrors;
    private final BlockingQueue<String> serverLines;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    /**
     * @param program the command line before its last three arguments; what the processes write to their standard error
     * goes to {@code log}
     */
    public Pair(
            List<String> program,
            List<String> serverArguments,
            List<String> clientArguments,
            Map<String, String> environment,
            Path log)
            throws IOException {
        serverErrors = log.resolveSibling(log.getFileName() + ".server.err");
        clientErrors = log.resolveSibling(log.getFileName() + ".client.err");
        server = start(program, serverArguments, environment, serverErrors);
        serverLines = lines(server);
        try {
            awaitReady(server, serverLines, serverErrors, "server");
            client = start(program, clientArguments, environment, clientErrors);
            commands = client.outputWriter();
            pump(client, answers);
            awaitReady(client, answers, clientErrors, "client");
        } catch (IOException e) {
            server.destroyForcibly(); // it has the port that the next attempt needs
            throw e;
        }
    }

    private static Process start(
            List<String> program, List<String> arguments, Map<String, String> environment, Path errors)
            throws IOException {
        List<String> command = new ArrayList<>(program);
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static BlockingQueue<String> lines(Process process) {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        pump(process, lines);
        return lines;
    }

    private static void pump(Process process, BlockingQueue<String> lines) {
        Thread thread = new Thread(() -> {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    lines.add(line);
                }
            } catch (IOException e) {
                lines.add("failed " + e);
            }
            lines.add("failed: it ended");
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static String next(BlockingQueue<String> lines, long seconds) throws IOException {
        try {
            String line = lines.poll(seconds, TimeUnit.SECONDS);
            return line == null ? "failed: no answer in " + seconds + " s" : line;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static void awaitReady(Process process, BlockingQueue<String> lines, Path errors, String role)
            throws IOException {
        String line = next(lines, START_SECONDS);
        if (!line.equals("ready")) {
            String remains = remains(process, lines, errors, role);
            process.destroyForcibly();
            throw new IOException("the " + role + " did not start: " + line + remains);
        }
    }

    /** Starts {@code command}; {@link #answer} has what comes of it. */
    public void tell(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
    }

    public Map<String, Double> answer(long seconds) throws IOException {
        String line = next(answers, seconds);
        if (!line.startsWith("ok ")) {
            throw new IOException(line
                    + remains(client, answers, clientErrors, "client")
                    + remains(server, serverLines, serverErrors, "server"));
        }
        Map<String, Double> values = new HashMap<>();
        for (String word : line.substring(3).split(" ")) {
            int equals = word.indexOf('=');
            values.put(word.substring(0, equals), Double.parseDouble(word.substring(equals + 1)));
        }
        return values;
    }

    /** What is known of a process that was not to fail: how it ended, and what it said last. */
    private static String remains(Process process, BlockingQueue<String> lines, Path errors, String role)
            throws IOException {
        boolean ended;
        try {
            ended = process.waitFor(2, TimeUnit.SECONDS); // one that crashes writes its report first
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        List<String> said = new ArrayList<>();
        if (ended) { // its last lines may not have been read yet
            String line = next(lines, 2);
            while (!line.startsWith("failed: ") && said.size() < TELLING_LINES) {
                said.add(line);
                line = next(lines, 2);
            }
        } else {
            lines.drainTo(said, TELLING_LINES);
        }
        try (Stream<String> more = Files.lines(errors)) {
            more.limit(TELLING_LINES).forEach(said::add);
        }
        said.removeIf(line -> line.isBlank() || line.equals("#"));
        return "; the " + role + (ended ? " has ended with " + process.exitValue() : " lives")
                + (said.isEmpty() ? "" : " and said: " + String.join(" / ", said));
    }

    public Map<String, Double> ask(String command) throws IOException {
        tell(command);
        return answer(180);
    }

    boolean isAlive() {
        return client.isAlive() && server.isAlive();
    }

    /** Has both JVMs say what their threads do, on their standard output or error. */
    void dumpThreads() {
        signal("QUIT");
    }

    /**
     * Stops both processes until {@link #go}: an idle JVM still wakes dozens of times a second, and a dozen of them are
     * in the way of whoever is measured. Connections stay: the kernel, which acknowledges for rxe, is not stopped.
     */
    public void rest() {
        signal("STOP");
    }

    public void go() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(server.pid()), Long.toString(client.pid()))
                    .start()
                    .waitFor(10, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** CPU seconds that the compiler threads of both JVMs have used. */
    double compilerSeconds() throws IOException {
        long ticks = 0;
        for (Process process : List.of(server, client)) {
            try (Stream<Path> tasks = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
                for (Path task : (Iterable<Path>) tasks::iterator) {
                    ticks += compilerTicks(task.resolve("stat"));
                }
            }
        }
        return (double) ticks / TICKS_PER_SECOND;
    }

    /** CPU seconds that the server and the client have used, their dead threads included. */
    public double[] cpuSeconds() throws IOException {
        return new double[] {seconds(server), seconds(client)};
    }

    private static double seconds(Process process) throws IOException {
        return (double) ticks(Files.readString(Path.of("/proc/" + process.pid() + "/stat"))) / TICKS_PER_SECOND;
    }

    /** User and system time, from a stat file. */
    private static long ticks(String stat) {
        String[] field = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(field[11]) + Long.parseLong(field[12]);
    }

    private static long compilerTicks(Path file) {
        String stat;
        try {
            stat = Files.readString(file);
        } catch (IOException e) {
            return 0; // the thread ended meanwhile
        }
        return stat.substring(0, stat.lastIndexOf(')')).contains("CompilerThre") ? ticks(stat) : 0;
    }

    @Override
    public void close() {
        go();
        for (Process process : List.of(client, server)) {
            try {
                process.getOutputStream().close();
                if (!process.waitFor(5, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (IOException e) {
                process.destroyForcibly();
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }
}
