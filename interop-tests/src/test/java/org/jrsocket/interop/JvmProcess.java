/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A JVM that a test started, of the version that runs the test. It is killed when it is closed, when it is late, and
 * when the test's JVM ends.
 */
public final class JvmProcess implements AutoCloseable {

    private static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> LIVE.forEach(Process::destroyForcibly)));
    }

    private final String name;
    private final Process process;
    private final Output out;
    private final Output err;

    private JvmProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        out = new Output(process.getInputStream());
        err = new Output(process.getErrorStream());
    }

    /** A JVM that will run {@code main}, found where this JVM found it, with nothing else of ours on its class path. */
    public static Builder running(Class<?> main) {
        return new Builder(main.getSimpleName()).classPath(Site.classes(main)).command(main.getName());
    }

    /** A JVM with these arguments after its options: {@code -version}, {@code -jar some.jar}, the name of a class. */
    public static Builder withArguments(String... arguments) {
        return new Builder("java").command(arguments);
    }

    /**
     * Waits for the process to end, and for all its output.
     *
     * @throws AssertionError if it does not end in time, with its output and its threads; it is killed
     */
    public Result await(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw late("did not end within " + limit);
        }
        out.join();
        err.join();
        LIVE.remove(process);
        return new Result(process.exitValue(), out.lines(), err.lines());
    }

    /**
     * Waits for a line of its standard output that {@code pattern} matches, from the first line on.
     *
     * @throws AssertionError if none comes in time or the process ends before
     */
    public Matcher awaitLine(Pattern pattern, Duration limit) throws InterruptedException {
        return await(out, pattern, limit);
    }

    /** As {@link #awaitLine}, of its standard error. */
    public Matcher awaitError(Pattern pattern, Duration limit) throws InterruptedException {
        return await(err, pattern, limit);
    }

    private Matcher await(Output output, Pattern pattern, Duration limit) throws InterruptedException {
        Matcher found = output.find(pattern, System.nanoTime() + limit.toNanos());
        if (found == null) {
            throw late("did not print " + pattern
                    + (process.isAlive() ? " within " + limit : " before it ended with " + process.exitValue()));
        }
        return found;
    }

    /** Whether it ends in time. If not, it goes on. */
    public boolean endsWithin(Duration limit) throws InterruptedException {
        return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    public long pid() {
        return process.pid();
    }

    /** What it has written to its standard error so far. */
    public String errors() {
        return err.toString();
    }

    /** Sends a line to its standard input, which the builder was asked to leave open: {@link Builder#listening}. */
    public void tell(String line) throws IOException {
        process.getOutputStream().write((line + '\n').getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Ends its standard input. */
    public void tellNoMore() throws IOException {
        process.getOutputStream().close();
    }

    /** Kills the process. The result has what it printed until then. */
    public Result stop() throws InterruptedException {
        process.destroyForcibly();
        return await(Duration.ofMinutes(1));
    }

    /** Sends a signal, named without SIG. */
    public void signal(String name) {
        Tool.run("kill", "-" + name, Long.toString(process.pid()));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        LIVE.remove(process);
    }

    private AssertionError late(String what) throws InterruptedException {
        if (process.isAlive()) {
            printThreads();
        }
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        LIVE.remove(process);
        return new AssertionError(name + " " + what + "\nstandard output:\n" + out + "\nstandard error:\n" + err);
    }

    /** SIGQUIT makes a JVM print its threads on its standard output; it gets two seconds for that. */
    private void printThreads() throws InterruptedException {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                    .start()
                    .waitFor(2, TimeUnit.SECONDS);
            process.waitFor(2, TimeUnit.SECONDS);
        } catch (IOException e) {
            err.add("no thread dump: " + e);
        }
    }

    /** How a process ended, and what it printed. */
    public record Result(int status, List<String> out, List<String> err) {

        /** The value of a {@code name=value} line of the standard output. */
        public String value(String key) {
            return values(key).findFirst().orElseThrow(() -> new AssertionError("no line " + key + "= in " + this));
        }

        /** The values of all of them, in their order. */
        public Stream<String> values(String key) {
            return out.stream()
                    .filter(line -> line.startsWith(key + '='))
                    .map(line -> line.substring(key.length() + 1));
        }

        public Result expectSuccess() {
            if (status != 0) {
                throw new AssertionError(toString());
            }
            return this;
        }

        @Override
        public String toString() {
            return "ended with " + status + "\nstandard output:\n" + String.join("\n", out) + "\nstandard error:\n"
                    + String.join("\n", err);
        }
    }

    public static final class Builder {

        /** A JVM that ends after some seconds has little of a second compiler, and of threads that collect garbage. */
        private static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

        private final String name;
        private final List<String> options = new ArrayList<>();
        private final List<Path> classPath = new ArrayList<>();
        private final List<String> command = new ArrayList<>();
        private final List<String> prefix = new ArrayList<>();
        private boolean listening;

        private Builder(String name) {
            this.name = name;
        }

        /**
         * With the drop-in jar as agent: the one flag of the product. In the emulated machine the agent is told besides
         * to be patient: a JVM there that has just started does not answer within the time that a peer usually has.
         */
        public Builder agent() {
            agent("");
            return Site.isLab() ? property("org.jrsocket.connect.timeout", "60s") : this;
        }

        /** The same with arguments, {@code =key=value,...}, or with none if they are empty. */
        public Builder agent(String arguments) {
            Site.archiveOption().ifPresent(this::option);
            return option("-javaagent:" + Site.agentJar() + arguments);
        }

        public Builder agentIf(boolean wanted) {
            return wanted ? agent() : this;
        }

        /** A command that runs the JVM: {@code ip netns exec NAME}, {@code prlimit ...}. */
        public Builder under(String... words) {
            prefix.addAll(List.of(words));
            return this;
        }

        public Builder property(String key, Object value) {
            return option("-D" + key + '=' + value);
        }

        public Builder option(String option) {
            options.add(option);
            return this;
        }

        public Builder classPath(Path... entries) {
            classPath.addAll(List.of(entries));
            return this;
        }

        /** With a standard input, for {@link JvmProcess#tell}; else it is at its end from the start. */
        public Builder listening() {
            listening = true;
            return this;
        }

        public Builder arguments(Object... arguments) {
            return command(Stream.of(arguments).map(Object::toString).toArray(String[]::new));
        }

        private Builder command(String... words) {
            command.addAll(List.of(words));
            return this;
        }

        public JvmProcess start() throws IOException {
            List<String> line = new ArrayList<>(prefix);
            line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            line.addAll(Site.isLab() ? List.of(Site.labOptions()) : SHORT_LIVED);
            line.addAll(options);
            if (!classPath.isEmpty()) {
                line.add("-cp");
                line.add(classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
            }
            line.addAll(command);
            ProcessBuilder builder = new ProcessBuilder(line);
            // they announce themselves on stderr
            builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
            Process process = builder.start();
            LIVE.add(process);
            if (!listening) {
                process.getOutputStream().close();
            }
            return new JvmProcess(name, process);
        }
    }

    /** A stream of the process, read by a thread of its own so that the process never waits for the test. */
    private static final class Output {

        private final List<String> lines = new ArrayList<>(); // guarded by itself
        private boolean ended; // guarded by lines
        private final Thread reader;

        Output(InputStream stream) {
            reader = new Thread(() -> read(stream), "output of a process");
            reader.setDaemon(true);
            reader.start();
        }

        private void read(InputStream stream) {
            try (BufferedReader text = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = text.readLine(); line != null; line = text.readLine()) {
                    add(line);
                }
            } catch (IOException e) {
                // Killed: the stream is closed under the reader.
            } catch (UncheckedIOException e) {
                add("unreadable: " + e);
            } finally {
                synchronized (lines) {
                    ended = true;
                    lines.notifyAll();
                }
            }
        }

        void add(String line) {
            synchronized (lines) {
                lines.add(line);
                lines.notifyAll();
            }
        }

        Matcher find(Pattern pattern, long deadline) throws InterruptedException {
            int next = 0;
            synchronized (lines) {
                while (true) {
                    for (; next < lines.size(); next++) {
                        Matcher matcher = pattern.matcher(lines.get(next));
                        if (matcher.find()) {
                            return matcher;
                        }
                    }
                    long left = deadline - System.nanoTime();
                    if (ended || left <= 0) {
                        return null;
                    }
                    TimeUnit.NANOSECONDS.timedWait(lines, left);
                }
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
