/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.Site;

/** Host a, as the tests on host b see it: {@link FarHost}. */
public final class FarEnd {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    private static FarEnd ofAllTests; // guarded by the class

    private final String address = System.getenv("ROCE_LAB_PEER");
    private final Socket socket;
    private final PrintStream out;
    private final BufferedReader in;

    private FarEnd() throws IOException, InterruptedException {
        socket = connect();
        socket.setSoTimeout((int) LIMIT.toMillis());
        out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /** The one of all test classes: {@link FarHost} ends with its connection, and that with this JVM. */
    public static synchronized FarEnd ofAllTests() throws IOException, InterruptedException {
        if (ofAllTests == null) {
            ofAllTests = new FarEnd();
        }
        return ofAllTests;
    }

    private Socket connect() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (; ; ) {
            try {
                Socket one = new Socket();
                one.connect(new InetSocketAddress(address, FarHost.PORT));
                return one;
            } catch (ConnectException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
        }
    }

    public String address() {
        return address;
    }

    /** Starts a {@link Server} there, on that port or a free one, and returns its port. */
    int serve(boolean agent, int port) throws IOException {
        return serve(Server.class, agent, port);
    }

    /** The same of another program with the same arguments and first line. */
    int serve(Class<?> server, boolean agent, int port) throws IOException {
        return serve(server, agent ? "" : null, address, port);
    }

    /** @param agent its arguments, or null for none of it */
    int serve(Class<?> server, String agent, String at, int port) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String answer = ask("start " + java + ' ' + Site.labOptions()
                + (agent == null ? "" : agentOptions(agent)) + " -cp " + Site.classes(server) + ' '
                + server.getName() + ' ' + at + ' ' + port);
        assertTrue(answer.startsWith("listening="), answer);
        return Integer.parseInt(answer.substring("listening=".length()));
    }

    private static String agentOptions(String arguments) {
        return Site.archiveOption().map(option -> ' ' + option).orElse("") + " -javaagent:" + Site.agentJar()
                + arguments;
    }

    /** Starts a program there, without quotes, and returns the first line of its output. */
    public String start(String command) throws IOException {
        return ask("start " + command);
    }

    /** Kills the programs that were started there. */
    public void stop() throws IOException {
        ask("stop");
    }

    /** Runs a command there, without quotes, which has to succeed. */
    public String run(String command) throws IOException {
        String answer = ask("run " + command);
        assertTrue(answer.startsWith("0 "), command + ": " + answer);
        return answer.substring(2);
    }

    private String ask(String line) throws IOException {
        out.println(line);
        return String.valueOf(in.readLine());
    }
}
