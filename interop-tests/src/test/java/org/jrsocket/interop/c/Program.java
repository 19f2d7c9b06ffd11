/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jrsocket.interop.Tool;

/** A process that a test started. It is killed when it is closed, when it is late, and when the test's JVM ends. */
final class Program implements AutoCloseable {

    private static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> LIVE.forEach(Process::destroyForcibly)));
    }

    /** What takes so long is worth a look at what everybody does meanwhile: afterwards nobody can tell. */
    private static final Duration STRANGE = Duration.ofSeconds(20);

    private final String name;
    private final Process process;
    private final Output out;
    private final Output err;

    private Program(String name, Process process, Consumer<String> listener) {
        this.name = name;
        this.process = process;
        out = new Output(process.getInputStream(), listener);
        err = new Output(process.getErrorStream(), line -> {});
    }

    static Builder of(String... command) {
        return new Builder(List.of(command));
    }

    static Builder of(List<String> command) {
        return new Builder(command);
    }

    /** An ordinary program, whose sockets are rsockets. */
    static Builder preloaded(String... command) {
        return of(command).environment("LD_PRELOAD", Lab.preload().toString());
    }

    OutputStream input() {
        return process.getOutputStream();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL; returns when the process is gone. */
    void kill() throws InterruptedException {
        if (!process.destroyForcibly().waitFor(Lab.SOON.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " survives SIGKILL");
        }
        LIVE.remove(process);
    }

    /** Sends a signal, by its name without SIG. */
    void signal(String signal) {
        Tool.run("kill", "-" + signal, Long.toString(process.pid()));
    }

    /**
     * Waits for the process to end, and for all its output.
     *
     * @throws AssertionError if it does not end in time, with its output; it is killed
     */
    Result await(Duration limit) throws InterruptedException {
        long early = Math.min(limit.toMillis(), STRANGE.toMillis());
        if (!process.waitFor(early, TimeUnit.MILLISECONDS)) {
            System.out.println(name + " runs after " + early / 1000 + " s\n" + Lab.rdmaState() + doings());
        }
        if (!process.waitFor(limit.toMillis() - early, TimeUnit.MILLISECONDS)) {
            kill();
            throw new AssertionError(name + " did not end within " + limit + '\n' + this);
        }
        out.join();
        err.join();
        LIVE.remove(process);
        return new Result(name, process.exitValue(), out.lines(), err.lines());
    }

    /** What the threads of all programs that run wait for. */
    private static String doings() {
        StringBuilder all = new StringBuilder();
        for (Process each : LIVE) {
            String pid = Long.toString(each.pid());
            String program = each.info().command().orElse("a program");
            all.append(program).append(' ').append(pid).append('\n');
            String look = program.endsWith("/java")
                    ? Path.of(System.getProperty("java.home"), "bin", "jcmd") + " " + pid + " Thread.print"
                    : "head /proc/" + pid + "/task/*/wchan /proc/" + pid + "/task/*/syscall";
            all.append(Tool.run("sh", "-c", look + " || true")); // it may have ended by now
        }
        return all.toString();
    }

    /** The lines of its standard output so far. */
    List<String> lines() {
        return out.lines();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        LIVE.remove(process);
    }

    @Override
    public String toString() {
        return name + (process.isAlive() ? " runs" : " ended with " + process.exitValue()) + "\nstandard output:\n"
                + out + "\nstandard error:\n" + err;
    }

    /** How a process ended, and what it printed. */
    record Result(String name, int status, List<String> out, List<String> err) {

        Result expectSuccess() {
            if (status != 0) {
                throw new AssertionError(toString());
            }
            return this;
        }

        boolean printed(String text) {
            return out.stream().anyMatch(line -> line.contains(text))
                    || err.stream().anyMatch(line -> line.contains(text));
        }

        @Override
        public String toString() {
            return name + " ended with " + status + "\nstandard output:\n" + String.join("\n", out)
                    + "\nstandard error:\n" + String.join("\n", err);
        }
    }

    static final class Builder {

        private final ProcessBuilder builder;
        private Consumer<String> listener = line -> {};
        private boolean keepInput;

        private Builder(List<String> command) {
            builder = new ProcessBuilder(command);
            // they announce themselves on stderr
            builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        }

        Builder environment(String name, String value) {
            builder.environment().put(name, value);
            return this;
        }

        Builder environment(Map<String, String> values) {
            builder.environment().putAll(values);
            return this;
        }

        /** Without this or {@link #keepInput} the program finds its standard input at its end. */
        Builder input(Path file) {
            builder.redirectInput(file.toFile());
            return this;
        }

        Builder keepInput() {
            keepInput = true;
            return this;
        }

        Builder output(Path file) {
            builder.redirectOutput(file.toFile());
            return this;
        }

        /** Gets each line of the standard output. */
        Builder listener(Consumer<String> each) {
            listener = each;
            return this;
        }

        Program start() throws IOException {
            if (!keepInput && builder.redirectInput().equals(ProcessBuilder.Redirect.PIPE)) {
                builder.redirectInput(new File("/dev/null"));
            }
            Process process = builder.start();
            LIVE.add(process);
            return new Program(String.join(" ", builder.command()), process, listener);
        }
    }

    /** A stream of the process, read by a thread of its own so that the process never waits for the test. */
    private static final class Output {

        private final List<String> lines = new ArrayList<>(); // guarded by itself
        private final Thread reader;

        Output(InputStream stream, Consumer<String> listener) {
            reader = new Thread(() -> read(stream, listener), "output of a process");
            reader.setDaemon(true);
            reader.start();
        }

        private void read(InputStream stream, Consumer<String> listener) {
            try (BufferedReader text = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = text.readLine(); line != null; line = text.readLine()) {
                    synchronized (lines) {
                        lines.add(line);
                    }
                    listener.accept(line);
                }
            } catch (IOException | UncheckedIOException e) {
                // Killed: the stream is closed under the reader.
            } finally {
                listener.accept(null);
            }
        }

        void join() throws InterruptedException {
            reader.join(10_000); // a grandchild may keep the stream open
        }

        List<String> lines() {
            synchronized (lines) {
                return List.copyOf(lines);
            }
        }

        @Override
        public String toString() {
            return String.join("\n", lines());
        }
    }
}
