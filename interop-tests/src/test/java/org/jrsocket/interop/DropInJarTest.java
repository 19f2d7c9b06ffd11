/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code rsocket.jar} lies on the class path of strangers: it must not bring anything they could meet. */
class DropInJarTest {

    private static final int JAVA_17 = 61;

    private static JarFile jar;

    @BeforeAll
    static void open() throws IOException {
        jar = new JarFile(Site.agentJar().toFile());
    }

    @AfterAll
    static void close() throws IOException {
        jar.close();
    }

    @Test
    void shouldHoldNothingOutsideOrgJrsocket() {
        assertEquals(
                List.of(),
                names().filter(name -> !name.startsWith("org/jrsocket/")
                                && !name.matches("META-INF/(MANIFEST\\.MF|LICENSE|NOTICE|"
                                        + "native/linux-[a-z0-9_]+/libjrsocket[-a-z0-9_]*\\.so|"
                                        + "services/org\\.jrsocket\\..+)"))
                        .toList());
    }

    @Test
    void shouldBeReadableByJava17() throws IOException {
        for (String name : names().filter(name -> name.endsWith(".class")).toList()) {
            int version = version(name);
            assertTrue(
                    name.startsWith("org/jrsocket/shaded/") ? version <= JAVA_17 : version == JAVA_17,
                    name + " is of version " + version);
        }
    }

    @Test
    void shouldNotCarryTheTestkit() {
        assertEquals(
                List.of(),
                names().filter(name -> name.matches("org/jrsocket/(verbs/loopback|sim|testkit)/.*")
                                || name.matches(".*(Test|Loopback)[^/]*"))
                        .toList());
    }

    @Test
    void shouldCarryTheNativeLibraryOfThisMachine() {
        String arch = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        assertNotNull(jar.getEntry("META-INF/native/linux-" + arch + "/libjrsocket.so"));
        assertNotNull(jar.getEntry("META-INF/native/linux-" + arch + "/libjrsocket-os.so"));
    }

    @Test
    void shouldNameItsEntryPoints() throws IOException {
        Attributes manifest = jar.getManifest().getMainAttributes();
        assertEquals("org.jrsocket.agent.Agent", manifest.getValue("Premain-Class"));
        assertEquals("org.jrsocket.agent.Agent", manifest.getValue("Agent-Class"));
        assertEquals("org.jrsocket.agent.Main", manifest.getValue("Main-Class"));
        assertEquals("rsocket.jar", manifest.getValue("Boot-Class-Path"));
        assertEquals("ALL-UNNAMED", manifest.getValue("Enable-Native-Access"));
        assertNotNull(manifest.getValue("Implementation-Version"));
        assertNotNull(jar.getEntry("org/jrsocket/agent/Agent.class"));
        assertNotNull(jar.getEntry("org/jrsocket/agent/Main.class"));
    }

    @Test
    void shouldReferToNoClassThatItLacks() {
        StringWriter out = new StringWriter();
        int status = ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(new PrintWriter(out), new PrintWriter(out), "--missing-deps", jar.getName());
        assertEquals(0, status, out::toString);
        List<String> missing = out.toString()
                .lines()
                .filter(line -> line.startsWith("   "))
                .map(line -> line.strip().replaceAll("\\s+", " "))
                .distinct()
                .toList();
        // Of DiSNI's own provider only the class that the verifier asks for is there; ours is in its place before it
        // would be linked.
        String left = "org.jrsocket.shaded.disni.verbs.impl.RdmaProviderNat -> ";
        assertTrue(missing.stream().anyMatch(line -> line.startsWith(left)), out::toString); // it did look
        assertEquals(
                List.of(),
                missing.stream().filter(line -> !line.startsWith(left)).toList());
    }

    private static Stream<String> names() {
        return jar.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName);
    }

    private static int version(String name) throws IOException {
        try (DataInputStream in = new DataInputStream(jar.getInputStream(jar.getEntry(name)))) {
            in.readInt();
            in.readUnsignedShort();
            return in.readUnsignedShort();
        }
    }
}
