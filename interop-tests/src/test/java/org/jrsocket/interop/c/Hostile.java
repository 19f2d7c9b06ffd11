/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.Site;

/**
 * A peer in C, on verbs alone, that does what it is told: src/test/c/hostile.c lists what that can be. Closing kills
 * it.
 */
final class Hostile implements AutoCloseable {

    private static final Path FILE =
            Site.classes(Hostile.class).resolve("../hostile").normalize();
    private static final long ANSWER_SECONDS = 120; // twice as long as the program waits for anything

    final Program program;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private Hostile(String mode, int port, String... more) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(FILE.toString(), mode, Lab.address(false), Integer.toString(port)));
        command.addAll(List.of(more));
        program = Program.of(command)
                .keepInput()
                .listener(line -> answers.add(line == null ? "(it has ended)" : line))
                .start();
    }

    /** A client that says {@code lie} of itself: {@link #answer} tells whether it is connected. */
    static Hostile client(int port, String lie) throws IOException {
        return new Hostile("connect", port, lie);
    }

    /** A client that was answered, and does not say that it knows. */
    static Hostile mute(int port) throws Exception {
        Hostile mute = new Hostile("mute", port);
        mute.expect("answered");
        return mute;
    }

    /** So many clients that ask, and leave it at that. */
    static Hostile half(int port, int count) throws Exception {
        Hostile half = new Hostile("half", port, Integer.toString(count));
        half.expect("asked " + count);
        return half;
    }

    /** A server for one client. */
    static Hostile server(int port, String lie) throws Exception {
        Hostile server = new Hostile("listen", port, lie);
        server.expect("listening");
        return server;
    }

    /** Its next line. */
    String answer() throws InterruptedException {
        String line = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
        assertTrue(line != null, () -> "no answer\n" + program);
        return line;
    }

    void expect(String answer) throws InterruptedException {
        assertEquals(answer, answer(), program::toString);
    }

    /** Sends a command, and does not wait for the answer. */
    void say(String command) throws IOException {
        OutputStream input = program.input();
        input.write((command + '\n').getBytes(StandardCharsets.UTF_8));
        input.flush();
    }

    /** Sends a command; the answer. */
    String tell(String command) throws Exception {
        say(command);
        return answer();
    }

    @Override
    public void close() {
        program.close();
    }
}
