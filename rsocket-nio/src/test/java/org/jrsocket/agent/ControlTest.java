/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.remote.JMXAuthenticator;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** {@code ctl}: each operation of the bean, over JMX, on another process; see {@link ControlledProgram}. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ControlTest {

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Path rules;
    private Process program;
    private BufferedReader answers;

    /** With the command line's library: the bean asks it for the version. */
    private static String classPath() throws URISyntaxException {
        return AttachTest.classPath()
                + File.pathSeparator
                + Path.of(CommandLine.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI());
    }

    private void start(String argument) throws Exception {
        start("-XX:-ReduceSignalUsage", argument);
    }

    private void start(String option, String argument) throws Exception {
        program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        option,
                        "-cp",
                        classPath(),
                        ControlledProgram.class.getName(),
                        argument)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        answers = new BufferedReader(new InputStreamReader(program.getInputStream(), UTF_8));
        assertEquals("ready", answers.readLine());
    }

    private void start() throws Exception {
        rules = Files.writeString(folder.resolve("rules"), "connect 10.0.0.0/8 * tcp\n");
        start(rules.toString());
    }

    @AfterEach
    void end() throws InterruptedException {
        if (program != null) {
            program.destroyForcibly().waitFor();
        }
    }

    private String tell(String line) throws IOException {
        program.getOutputStream().write((line + '\n').getBytes(UTF_8));
        program.getOutputStream().flush();
        return answers.readLine();
    }

    /** Runs {@code ctl PID WORDS}. Returns what it printed, without the last line's end. */
    private String ctl(int status, String... words) {
        String[] args = new String[words.length + 2];
        args[0] = "ctl";
        args[1] = Long.toString(program.pid());
        System.arraycopy(words, 0, args, 2, words.length);
        return main(status, args);
    }

    private String main(int status, String... args) {
        out.reset();
        err.reset();
        int ended = Main.run(args, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
        assertEquals(status, ended, () -> err.toString(UTF_8));
        return (status == 0 ? out : err).toString(UTF_8).strip();
    }

    @Test
    void shouldSwitchTheTransportOfNewConnections() throws Exception {
        start();
        assertEquals("RDMA", tell("connect 127.0.0.1"));
        assertEquals("policy override: none", ctl(0, "policy"));
        assertEquals("policy override: tcp", ctl(0, "policy", "tcp"));
        assertEquals("", err.toString(UTF_8));
        assertEquals("TCP: the policy says so", tell("connect 127.0.0.1"));
        assertEquals("read 100", tell("write"));
        assertEquals("policy override: none", ctl(0, "policy", "none"));
        assertEquals("RDMA", tell("connect 127.0.0.1"));
        assertEquals("jrsocket: \"fast\" is not one of none, auto, rdma, tcp", ctl(1, "policy", "fast"));
    }

    /** As a JVM has it with {@code com.sun.management.jmxremote.authenticate}. */
    @Test
    void shouldNameItselfWhereThereIsAccessControl() throws Exception {
        MBeanServer beans = MBeanServerFactory.newMBeanServer();
        JMXAuthenticator only = credentials -> {
            if (!(credentials instanceof String[] pair
                    && pair[0].equals("operator")
                    && pair[1].equals("secret word"))) {
                throw new SecurityException("Authentication\n failed!"); // whatever it says, it is one line
            }
            return new Subject();
        };
        JMXConnectorServer server = JMXConnectorServerFactory.newJMXConnectorServer(
                new JMXServiceURL("service:jmx:rmi://"), Map.of(JMXConnectorServer.AUTHENTICATOR, only), beans);
        server.start();
        try {
            String address = server.getAddress().toString();
            Path secret = Files.writeString(folder.resolve("secret"), "secret word\nwhatever\n");
            Path wrong = Files.writeString(folder.resolve("wrong"), "");
            assertEquals(
                    "jrsocket: " + address + ": Authentication failed! (name a user with --user and --password-file)",
                    main(1, "ctl", address));
            assertEquals(
                    "jrsocket: " + address + ": Authentication failed!",
                    main(1, "ctl", "--user", "operator", "--password-file", wrong.toString(), address));
            assertEquals(
                    "jrsocket: " + address + " has no bean org.jrsocket:type=Transport: it runs without the agent, "
                            + "or without the agent on its boot class path",
                    main(1, "ctl", "--user", "operator", "--password-file", secret.toString(), address));
            assertEquals(
                    "jrsocket: " + folder.resolve("none") + ": no such file",
                    main(
                            1,
                            "ctl",
                            "--user",
                            "operator",
                            "--password-file",
                            folder.resolve("none").toString(),
                            address));
            main(2, "ctl", "--user", "operator", address);
            main(2, "ctl", "--password-file", secret.toString(), address);
            main(2, "ctl", address, "drain", "--wait", "-1");
            String[] credentials = {"operator", "secret word"};
            try (RemoteTransport remote = RemoteTransport.connect(address, credentials)) {
                assertThrows(IOException.class, () -> remote.get("Version"));
                assertFalse(remote.hasEnded(1), "nobody knows");
            }
        } finally {
            server.stop();
        }
    }

    @Test
    void shouldDrain() throws Exception {
        start();
        tell("connect 127.0.0.1");
        tell("connect 127.0.0.1");
        assertEquals("RDMA connections left: 4", ctl(0, "drain"));
        assertEquals("TCP: the policy says so", tell("connect 127.0.0.1"));
        assertEquals("", ctl(1, "drain", "--wait", "1"));
        assertEquals("RDMA connections left: 4", out.toString(UTF_8).strip());
        tell("close");
        tell("close");
        assertEquals("RDMA connections left: 0", ctl(0, "drain", "--wait", "60"));
        ctl(0, "policy", "none");
        assertEquals("RDMA", tell("connect 127.0.0.1"));
    }

    @Test
    void shouldWaitForConnectionsThatAreBeingClosed() throws Exception {
        start();
        tell("connect 127.0.0.1");
        tell("leave");
        ctl(1, "drain", "--wait", "1");
        assertEquals("RDMA connections left: 2", out.toString(UTF_8).strip());
    }

    /** Whoever believes that stops a process that has connections. */
    @Test
    void shouldTellAProgramThatDoesNotAnswerFromOneThatHasEnded() throws Exception {
        start("none");
        try (RemoteTransport remote = RemoteTransport.connect(Long.toString(program.pid()), null)) {
            assertThrows(IOException.class, () -> remote.get("Unknown"));
            assertFalse(remote.hasEnded(1));
            program.destroy();
            assertTrue(remote.hasEnded(TimeUnit.MINUTES.toNanos(1)));
        }
    }

    private FutureTask<String> drainLater(int status) {
        FutureTask<String> drain = new FutureTask<>(() -> ctl(status, "drain", "--wait", "60"));
        new Thread(drain, "drain").start();
        return drain;
    }

    private void awaitOverride(String policy) throws IOException {
        try (RemoteTransport remote = RemoteTransport.connect(Long.toString(program.pid()), null)) {
            while (!remote.get("PolicyOverride").equals("tcp")) {
                Thread.onSpinWait();
            }
            remote.set("PolicyOverride", policy);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "auto"})
    void shouldNotSetThePolicyAgainWhileItWaits(String policy) throws Exception {
        start();
        tell("connect 127.0.0.1");
        FutureTask<String> drain = drainLater(1);
        awaitOverride(policy);
        assertEquals(
                "jrsocket: drain was interrupted: the policy override was changed", drain.get(60, TimeUnit.SECONDS));
        assertEquals("policy override: " + policy, ctl(0, "policy"));
    }

    @Test
    void shouldHaveDrainedAProgramThatEnds() throws Exception {
        start();
        tell("connect 127.0.0.1");
        FutureTask<String> drain = drainLater(0);
        awaitOverride("tcp");
        program.destroy();
        assertEquals("RDMA connections left: 0", drain.get(60, TimeUnit.SECONDS));
    }

    @Test
    void shouldReadTheRulesAgain() throws Exception {
        start();
        assertEquals("RDMA", tell("connect 127.0.0.1"));
        Files.writeString(rules, "connect * * tcp\n");
        assertEquals("1 rule of " + rules, ctl(0, "reload"));
        assertEquals("TCP: the policy says so", tell("connect 127.0.0.1"));
        Files.writeString(rules, "connect * * fast\n");
        assertTrue(ctl(1, "reload").startsWith("jrsocket: " + rules + " line 1: not one of auto, rdma, tcp"));
    }

    @Test
    void shouldShowAndForgetWhatIsRemembered() throws Exception {
        start();
        assertEquals("RDMA", tell("connect 127.0.0.1"));
        assertTrue(tell("connect 127.0.0.2").startsWith("TCP: no RDMA device serves this address"));
        String[] lines = ctl(0, "remembered").split("\n");
        assertEquals(3, lines.length, out::toString);
        assertTrue(lines[0].matches("address +port +from +kind +avoidedMillis +usualMicros"), lines[0]);
        assertTrue(lines[1].matches("127\\.0\\.0\\.1 +0 +ANSWERS +0 +[0-9]+"), lines[1]);
        assertTrue(lines[2].matches("127\\.0\\.0\\.2 +7471 +REFUSED +[0-9]+ +0"), lines[2]);
        assertEquals("peers forgotten: 2", ctl(0, "forget"));
        assertEquals(1, ctl(0, "remembered").split("\n").length);
    }

    @Test
    void shouldListConnectionsAndTellTheNumbers() throws Exception {
        start();
        tell("connect 127.0.0.1");
        tell("write");
        String[] lines = ctl(0, "connections").split("\n");
        assertEquals(3, lines.length, out::toString);
        assertTrue(lines[0].endsWith("  open  waitsFor  bytesUnsent  bytesUnread  silentSeconds"), lines[0]);
        String row = "RDMA +lo0 +127\\.0\\.0\\.1 +%s +127\\.0\\.0\\.1 +%s +[0-9]+ +%s +%s +0 +[0-9]+ +true"
                + " +NOTHING +0 +0 +0";
        assertTrue(lines[1].matches(row.formatted("[0-9]+", "7471", "0", "100")), lines[1]);
        assertTrue(lines[2].matches(row.formatted("7471", "[0-9]+", "100", "0")), lines[2]);
        String status = ctl(0);
        assertTrue(status.contains("RDMA connections: 2 open, 0 closing, 1 made, 1 accepted, 0 refused"), () -> status);
        assertTrue(status.contains("TCP instead: none; 0 accepted"), () -> status);
        assertTrue(status.contains("bytes over RDMA: 100 read, 100 written; registered: "), () -> status);
        tell("connect 10.0.0.1");
        assertTrue(ctl(0, "status").contains("TCP instead: POLICY=1; "), out::toString);
    }

    @Test
    void shouldSayWhyThereIsNoRdma() throws Exception {
        start("none");
        assertEquals("TCP: RDMA is not available (no device here)", tell("connect 127.0.0.1"));
        assertTrue(ctl(0, "status").contains("verbs: none: no device here"), out::toString);
        String sockets = "java.net sockets: the JDK's (no device here); NIO channels: the JDK's (no device here); "
                + "asynchronous channels: the JDK's (no device here)";
        assertTrue(out.toString(UTF_8).contains("sockets: " + sockets), out::toString);
        assertEquals("policy override: none", ctl(0, "policy"));
        assertEquals("", err.toString(UTF_8));
        assertEquals("policy override: auto", ctl(0, "policy", "auto"));
        assertEquals(
                "jrsocket: the override has no effect in that JVM: " + sockets,
                err.toString(UTF_8).strip());
        assertEquals("RDMA connections left: 0", ctl(0, "drain"));
        assertEquals("jrsocket: rules: no rules file is set", ctl(1, "reload"));
    }

    @Test
    void shouldControlAJvmThatLeavesSignalsAlone() throws Exception {
        start("-Xrs", "none");
        assertEquals("policy override: none", ctl(0, "policy"));
    }

    @Test
    void shouldSayWhatIsWrongWithTheProcess() throws Exception {
        long own = ProcessHandle.current().pid();
        assertEquals("jrsocket: here: neither a process ID nor a service:jmx: address", main(1, "ctl", "here"));
        assertEquals(
                "jrsocket: 1234567890123456789: neither a process ID nor a service:jmx: address",
                main(1, "ctl", "1234567890123456789"));
        // SIGQUIT, which asks a JVM to let others attach, at its default: it would end the process
        program = new ProcessBuilder("env", "--default-signal=QUIT", "sleep", "100").start();
        assertTrue(
                ctl(1).startsWith("jrsocket: process " + program.pid()
                        + ": not a JVM of this user that can be attached to ("),
                () -> own + ": " + err);
        main(1, "ctl", "00" + program.pid());
        assertTrue(program.isAlive());
        assertTrue(main(2, "ctl", "1", "forget", "all").startsWith("Only policy takes an argument"), err::toString);
        assertTrue(
                main(1, "ctl", "service:nothing").startsWith("jrsocket: service:nothing: not a JMX address"),
                err::toString);
    }
}
