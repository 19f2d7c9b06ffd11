/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** A C program under librspreload.so and the Java end's connection with it. Closing kills the program. */
final class Peer implements AutoCloseable {

    final Program program;
    final JavaEnd.Connection connection;

    private Peer(Program program, JavaEnd.Connection connection) {
        this.program = program;
        this.connection = connection;
    }

    /**
     * A socat between its standard streams and the connection that it makes. It passes ends on, and stays a minute
     * after one.
     */
    static Peer socat(JavaEnd java, boolean six, UnaryOperator<Program.Builder> streams) throws Exception {
        Lab.assumeProgram("socat");
        String host = six ? '[' + Lab.address(true) + ']' : Lab.address(false);
        String family = six ? "TCP6" : "TCP4";
        return connecting(
                java, six, streams, port -> new String[] {"socat", "-t", "60", "-", family + ':' + host + ':' + port});
    }

    /**
     * A netcat, which never passes on the end of its standard input, but leaves so many seconds after it; -1 leaves
     * when the connection ends.
     */
    static Peer netcat(JavaEnd java, boolean cListens, String seconds, UnaryOperator<Program.Builder> streams)
            throws Exception {
        Lab.assumeProgram("nc.traditional");
        List<String> command = List.of("nc.traditional", "-n", "-q", seconds);
        if (cListens) {
            int port = Lab.port();
            return listening(
                    java,
                    false,
                    port,
                    streams,
                    plus(command, "-l", "-s", Lab.address(false), "-p", Integer.toString(port)));
        }
        return connecting(java, false, streams, port -> plus(command, Lab.address(false), Integer.toString(port)));
    }

    private interface Command {
        String[] to(int port);
    }

    private static String[] plus(List<String> command, String... more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private static Peer connecting(JavaEnd java, boolean six, UnaryOperator<Program.Builder> streams, Command command)
            throws Exception {
        int port = java.listen(six);
        CompletableFuture<String> accept = java.accept(port);
        Program program = streams.apply(Program.preloaded(command.to(port))).start();
        try {
            JavaEnd.Connection connection = java.accepted(accept);
            java.unlisten(port);
            return new Peer(program, connection);
        } catch (Throwable e) {
            program.close();
            e.addSuppressed(new AssertionError(program.toString()));
            throw e;
        }
    }

    private static Peer listening(
            JavaEnd java, boolean six, int port, UnaryOperator<Program.Builder> streams, String[] command)
            throws Exception {
        Program program = streams.apply(Program.preloaded(command)).start();
        try {
            Lab.awaitListener(port, program);
            return new Peer(program, java.connect(six, port));
        } catch (Throwable e) {
            program.close();
            throw e;
        }
    }

    @Override
    public void close() {
        program.close();
    }
}
