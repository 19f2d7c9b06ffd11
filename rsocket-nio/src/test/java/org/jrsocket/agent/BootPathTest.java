/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.stream.RdmaTransport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the agent finds out of how it was started. */
class BootPathTest {

    @TempDir
    private Path given;

    private Path folder;

    @BeforeEach
    void open() throws IOException {
        folder = given.toRealPath();
    }

    private static List<File> files(String... names) {
        return Arrays.stream(names).map(File::new).toList();
    }

    @Test
    void shouldFindTheAgentsThatOptionsName() {
        assertEquals(files(), BootPath.agents(""));
        assertEquals(files(), BootPath.agents("java\0-jar\0app.jar\0", null, "-Xmx1g"));
        assertEquals(
                files("/a b/one.jar", "two.jar", "three.jar", "/four.jar"),
                BootPath.agents(
                        "java\0-javaagent:/a b/one.jar=policy=auto,log=debug\0-javaagent:two.jar\0-jar\0app.jar\0",
                        "-Xmx1g -javaagent:three.jar -Dx=y",
                        null,
                        "-javaagent:/four.jar"));
        assertEquals(files("one.jar"), BootPath.agents("java\0-javaagent:one.jar", "-Xmx1g"));
    }

    private File jar(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return file.toFile();
    }

    private File existing(String name) throws IOException {
        return Files.writeString(jar(name).toPath(), name).toFile();
    }

    private static String preferred(File used, File named) {
        return "the running agent is " + used + ", not " + named
                + ": a JVM prefers the file of that name in an agent's folder; keep one of them elsewhere";
    }

    @Test
    void shouldSayThatTheJarBesideIsTaken() throws Exception {
        File named = existing("jrsocket-2.jar");
        assertNull(BootPath.wrongJarWarning(List.of(named)));
        File beside = existing("rsocket.jar");
        assertEquals(preferred(beside, named), BootPath.wrongJarWarning(List.of(named)));
        File elsewhere = existing("elsewhere/other.jar");
        assertEquals(preferred(beside, named), BootPath.wrongJarWarning(List.of(elsewhere, named)));
        assertEquals(preferred(beside, named), BootPath.wrongJarWarning(List.of(named, elsewhere)));
        assertNull(BootPath.wrongJarWarning(List.of(elsewhere)));
        assertNull(BootPath.wrongJarWarning(List.of()));
    }

    /** The JVM would have said so. */
    @Test
    void shouldNotSayItOfAnAgentThatIsNotThere() throws Exception {
        existing("rsocket.jar");
        assertNull(BootPath.wrongJarWarning(List.of(jar("jrsocket-2.jar"))));
        Files.createDirectories(folder.resolve("own/rsocket.jar"));
        assertNull(BootPath.wrongJarWarning(List.of(existing("own/jrsocket-2.jar"))));
    }

    /** That may be the one that the agent's class is of, whatever else there is. */
    @Test
    void shouldNotSayItWhereTheJarOfThatNameIsAnAgentItself() throws Exception {
        File beside = existing("rsocket.jar");
        File named = existing("jrsocket-2.jar");
        assertNull(BootPath.wrongJarWarning(List.of(named, beside)));
        assertNull(BootPath.wrongJarWarning(List.of(beside, named)));
    }

    /** As the JVM does, it looks where the jar itself is. */
    @Test
    void shouldFollowLinks() throws Exception {
        File named = existing("lib/jrsocket-2.jar");
        File link = jar("jrsocket.jar");
        Files.createSymbolicLink(link.toPath(), named.toPath());
        existing("rsocket.jar");
        assertNull(BootPath.wrongJarWarning(List.of(link)));
        File beside = jar("lib/rsocket.jar");
        Files.createSymbolicLink(beside.toPath(), named.toPath());
        assertNull(BootPath.wrongJarWarning(List.of(link)), "it is the same jar");
        Files.delete(beside.toPath());
        existing("lib/rsocket.jar");
        assertEquals(preferred(beside, link), BootPath.wrongJarWarning(List.of(link)));
        File own = jar("own.jar");
        Files.createSymbolicLink(own.toPath(), beside.toPath());
        assertNull(BootPath.wrongJarWarning(List.of(link, own)));
    }

    /** A JVM in which a program has loaded these. */
    private static Instrumentation loaded(Class<?>... classes) {
        return (Instrumentation) Proxy.newProxyInstance(
                BootPathTest.class.getClassLoader(),
                new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) -> method.getName().equals("getAllLoadedClasses") ? classes : null);
    }

    /** Not for the classes that the JVM itself loads with the agent. */
    @Test
    void shouldKnowWhetherAProgramUsesOurClasses() {
        assertFalse(BootPath.isInUse(loaded(Agent.class, BootPath.class, Settings.class, String.class)));
        assertTrue(BootPath.isInUse(loaded(String.class, TransportContext.class)));
        assertTrue(BootPath.isInUse(loaded(RdmaTransport.class)));
    }
}
