/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.slf4j.simple.SimpleLogger;
import picocli.CommandLine;

/**
 * Attaching to a JVM that runs: what it has already goes on working, and each thing that cannot be had is a line on
 * stderr. See {@link AttachProgram}.
 */
@Tag("slow")
class AttachTest {

    @TempDir
    private Path folder;

    @Test
    void shouldServeAProgramThatHasNoSocketsYet() throws Exception {
        assertEquals(List.of(), attach("idle"));
    }

    /** {@code JAVA_TOOL_OPTIONS} may name the agent for every JVM. */
    @Test
    void shouldLeaveSocketsToTcpWhereOneOfOurCommandsRuns() throws Exception {
        assertEquals(List.of(), attach("command"));
    }

    /** And the bean says why. */
    @Test
    void shouldLeaveAProgramAloneWhereThereIsNoRdma() throws Exception {
        assertEquals(List.of("jrsocket: TCP only: no device yet"), attach("none"));
    }

    @Test
    void shouldSwitchAProgramToRdmaThatIsToUseTcpAtFirst() throws Exception {
        assertEquals(List.of(), attach("tcp"));
    }

    @Test
    void shouldServeAProgramThatExpectsADeviceWhenItComes() throws Exception {
        assertEquals(List.of("jrsocket: TCP only until there is RDMA: no device yet"), attach("late"));
    }

    /** And the bean does. */
    @ParameterizedTest
    @ValueSource(strings = {"netty", "netty-before"})
    void shouldSayThatAProgramBypassesTheJdk(String scenario) throws Exception {
        assertEquals(
                List.of("jrsocket: org.example.shaded.netty uses epoll, which bypasses the JDK, so its connections are "
                        + "TCP; -Dorg.example.shaded.netty.transport.noNative=true has it use NIO, unless the program "
                        + "insists on epoll"),
                attach(scenario));
    }

    @Test
    void shouldSayWhichDevicesThereAreNot() throws Exception {
        assertEquals(
                List.of("jrsocket: devices: this host has no RDMA device mistyped1, only lo0; "
                        + "rules: this host has no RDMA device mistyped2, only lo0"),
                attach("devices"));
    }

    @Test
    void shouldStayAsItIsWhenAttachedAgain() throws Exception {
        assertEquals(
                List.of("jrsocket: the agent was started already, by another -javaagent or attached; "
                        + "it stays as it is"),
                attach("twice"));
    }

    @Test
    void shouldNotEndAProgramForAnArgumentThatCannotBeUsed() throws Exception {
        List<String> lines = attach("typo");
        assertEquals(2, lines.size(), lines::toString);
        assertTrue(
                lines.get(0).startsWith("jrsocket: the agent was not attached: agent argument polcy=tcp: "),
                lines::toString);
        assertTrue(
                lines.get(1).startsWith("jrsocket: the agent was not attached: ")
                        && lines.get(1).contains("/nowhere/sdp.conf"),
                lines::toString);
    }

    @Test
    void shouldLeaveServerSocketsAbleToAccept() throws Exception {
        assertEquals(
                List.of("jrsocket: TCP only for java.net sockets: the agent was attached after the JVM's first server "
                        + "socket, which might no longer accept connections; start the JVM with -javaagent"),
                attach("servers"));
    }

    @Test
    void shouldServeJavaNetWhereNioIsInUseAlready() throws Exception {
        assertEquals(
                List.of("jrsocket: TCP only for NIO channels: another selector provider is in use already: "
                        + "sun.nio.ch.EPollSelectorProvider"),
                attach("selector"));
    }

    /** Whatever is logged otherwise. */
    @Test
    void shouldSayThatAProgramUsesTcpWhereItMustUseRdma() throws Exception {
        assertEquals(
                List.of("jrsocket: TCP only for NIO channels, and connections that must use RDMA do not fail: another "
                        + "selector provider is in use already: sun.nio.ch.EPollSelectorProvider"),
                attach("insists"));
    }

    @Test
    void shouldServeNioWhereTheApplicationHasASocketFactory() throws Exception {
        assertEquals(
                List.of("jrsocket: TCP only for java.net sockets: a socket factory is installed already"),
                attach("factory"));
    }

    @Test
    void shouldLeaveAProgramTheSelectorsThatItBrings() throws Exception {
        service(SelectorProvider.class, AttachProgram.OwnSelectors.class);
        assertEquals(
                List.of("jrsocket: TCP only for NIO channels: the program brings a selector provider of its own: "
                        + AttachProgram.OwnSelectors.class.getName()),
                attach("own-selectors"));
    }

    @Test
    void shouldLeaveAProgramTheAsynchronousChannelsThatItBrings() throws Exception {
        service(AsynchronousChannelProvider.class, AttachProgram.OwnAsynchronous.class);
        assertEquals(
                List.of("jrsocket: TCP only for asynchronous channels: the program brings a provider of its own: "
                        + AttachProgram.OwnAsynchronous.class.getName()),
                attach("own-asynchronous"));
    }

    /** The program's class path has a provider of that service. */
    private void service(Class<?> service, Class<?> provider) throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(service.getName()), provider.getName() + '\n');
    }

    /** Runs the scenario, which prints nothing on its standard output; returns what the standard error has. */
    private List<String> attach(String scenario) throws Exception {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        // The flag is for JDK 21 and later, which warn of it else.
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+EnableDynamicAgentLoading",
                        "-Djdk.attach.allowAttachSelf=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-Dorg.jrsocket.connect.timeout=30s", // on a busy machine, too, the first one is over RDMA
                        "-cp",
                        classPath() + File.pathSeparator + folder,
                        AttachProgram.class.getName(),
                        scenario,
                        agent().toString())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            assertTrue(process.waitFor(90, TimeUnit.SECONDS), () -> scenario + " does not end");
            assertEquals(0, process.exitValue(), Files.readString(err));
            assertEquals("", Files.readString(out));
            return Files.readAllLines(err);
        } finally {
            process.destroyForcibly();
        }
    }

    private Path agent() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Agent-Class", AttachProgram.class.getName());
        Path jar = folder.resolve("agent.jar");
        try (OutputStream file = Files.newOutputStream(jar)) {
            new JarOutputStream(file, manifest).close();
        }
        return jar;
    }

    /** Not this JVM's: a test runner may have wrapped that. */
    static String classPath() throws URISyntaxException {
        List<String> places = new ArrayList<>();
        for (Class<?> one : Stream.of(
                        AttachProgram.class,
                        RSelectorProvider.class,
                        LoopbackProvider.class,
                        TransportHolder.class,
                        Agent.class,
                        RdmaCm.class,
                        CommandLine.class,
                        LoggerFactory.class,
                        SimpleLogger.class)
                .toList()) {
            places.add(Path.of(one.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        return places.stream().distinct().collect(Collectors.joining(File.pathSeparator));
    }
}
