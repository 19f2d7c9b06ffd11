/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrsocket.interop.Site;

/** A JVM with a {@link CommandedEnd}, and its commands as methods. Those that wait have a future as result. */
final class JavaEnd implements AutoCloseable {

    /** What the end is made of. */
    enum Api {
        STREAM("stream"),
        STREAM_NONBLOCKING("stream-nonblocking"),
        STREAM_ASYNC("stream-async"),
        /** Plain {@code java.net}, which the agent carries over RDMA. */
        AGENT("net");

        private final String network;

        Api(String network) {
            this.network = network;
        }
    }

    private final Map<String, CompletableFuture<String>> asked = new ConcurrentHashMap<>();
    private final Program program;
    private int tags; // guarded by this

    /** @param options of the JVM, in addition */
    JavaEnd(Api api, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                Site.labOptions(),
                "-Xmx256m",
                "-Dorg.jrsocket.log=debug"));
        command.addAll(List.of(options));
        Path classes = classes();
        if (api == Api.AGENT) {
            Site.archiveOption().ifPresent(command::add);
            command.addAll(List.of("-javaagent:" + jar() + "=connect.timeout=60s", "-cp", classes.toString()));
        } else {
            command.addAll(List.of("-cp", classes + ":" + jar()));
        }
        command.addAll(List.of(CommandedEnd.class.getName(), api.network));
        program = Program.of(command).keepInput().listener(this::answered).start();
    }

    private static Path classes() {
        try {
            return Path.of(CommandedEnd.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path jar() {
        return classes().resolve("../../../rsocket-nio/target/rsocket.jar").normalize();
    }

    Program program() {
        return program;
    }

    /**
     * Sends a command; the future ends with its value, or with an {@link IOException} that says what the end's
     * exception was.
     */
    CompletableFuture<String> ask(Object... words) {
        String line = Stream.of(words).map(Object::toString).collect(Collectors.joining(" "));
        CompletableFuture<String> answer = new CompletableFuture<>();
        synchronized (this) {
            String tag = Integer.toString(++tags);
            asked.put(tag, answer);
            try {
                OutputStream commands = program.input();
                commands.write((tag + ' ' + line + '\n').getBytes(StandardCharsets.UTF_8));
                commands.flush();
            } catch (IOException e) {
                throw new UncheckedIOException("the Java end is gone\n" + program, e);
            }
        }
        return answer;
    }

    private void answered(String line) {
        if (line == null) {
            asked.values().forEach(answer -> answer.completeExceptionally(new IOException("the Java end has ended")));
            return;
        }
        List<String> words = Arrays.asList(line.split(" ", 3));
        CompletableFuture<String> answer = asked.remove(words.get(0));
        if (words.get(1).equals("ok")) {
            answer.complete(words.get(2));
        } else {
            answer.completeExceptionally(new IOException(words.get(2)));
        }
    }

    /** The value, or the failure as an error with both processes' output. */
    String get(CompletableFuture<String> answer) {
        return get(answer, Lab.RUN.toSeconds());
    }

    private String get(CompletableFuture<String> answer, long seconds) {
        try {
            return answer.get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause().getMessage() + '\n' + program, e);
        } catch (TimeoutException e) {
            printThreads();
            throw new AssertionError("no answer\n" + program, e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the end's exception said, within a minute. */
    String failure(CompletableFuture<String> answer) {
        try {
            String value = answer.get(Lab.SOON.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("did not fail, but answered " + value + '\n' + program);
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        } catch (TimeoutException e) {
            printThreads();
            throw new AssertionError("neither failed nor ended within " + Lab.SOON + '\n' + program, e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A JVM prints them on its standard output. */
    private void printThreads() {
        try {
            program.signal("QUIT");
            TimeUnit.SECONDS.sleep(2);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void bufferSize(int bytes) {
        get(ask("buffers", bytes));
    }

    /** A listening port. */
    int listen(boolean six) {
        return Integer.parseInt(get(ask("listen", Lab.address(six))));
    }

    void unlisten(int port) {
        get(ask("unlisten", port));
    }

    CompletableFuture<String> accept(int port) {
        return ask("accept", port);
    }

    Connection accepted(CompletableFuture<String> accept) {
        return new Connection(get(accept));
    }

    Connection connect(boolean six, int port) {
        return new Connection(get(ask("connect", Lab.address(six), port)));
    }

    /** Waits until every connection is closed for good: nothing may hang on in the background. */
    void assertAllClosed() throws InterruptedException {
        long deadline = System.nanoTime() + Lab.SOON.toNanos();
        while (live() > 0 && System.nanoTime() - deadline < 0) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertEquals(0, live(), "connections that do not go away");
    }

    /** How many connections there are, closing ones included. */
    int live() {
        return Integer.parseInt(get(ask("live")));
    }

    @Override
    public void close() {
        program.close();
    }

    /** A connection of the end. */
    final class Connection {

        private final String number;

        private Connection(String number) {
            this.number = number;
        }

        /** Sends so many bytes of what the seed determines; the hash of them. */
        CompletableFuture<String> send(long count, long seed) {
            return ask("send", number, count, seed);
        }

        CompletableFuture<String> receive(long count) {
            return ask("receive", number, count);
        }

        /** The hash of all that comes before the end. */
        CompletableFuture<String> receiveAll() {
            return receive(Long.MAX_VALUE);
        }

        /** One read: a count of bytes, or -1. */
        CompletableFuture<String> read() {
            return ask("read", number);
        }

        void finish() {
            get(ask("finish", number));
        }

        void close() {
            get(ask("close", number));
        }

        void abort() {
            get(ask("abort", number));
        }
    }
}
