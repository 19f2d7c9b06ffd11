/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.slf4j.LoggerFactory;

/** Loading, each time in a JVM of its own because it happens once per JVM. */
@Timeout(120)
public class NativeLibraryTest {

    private static final NativeLibrary LINKED = new NativeLibrary(
            "libjrsocket",
            "install librdmacm1 and ibverbs-providers (Debian, Ubuntu) or librdmacm and libibverbs (RHEL, Fedora)");

    @TempDir
    Path folder;

    /** Where the classes are from; the class path of this JVM may be a launcher's. */
    public static String classPath() {
        return Stream.of(
                        NativeLibrary.class,
                        NativeLibraryTest.class,
                        RdmaProvider.class,
                        LoggerFactory.class,
                        ClassReader.class)
                .map(type -> Path.of(URI.create(type.getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toString()))
                        .toString())
                .collect(Collectors.joining(":"));
    }

    /** Runs this JVM's java; its output, standard error included. */
    public static String java(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("JAVA_TOOL") || name.startsWith("JDK_JAVA"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return output;
    }

    /** Tries twice, and says whether the outcome is the same. */
    static final class Main {
        public static void main(String[] args) {
            String first = attempt();
            System.out.println(first);
            System.out.println(first.equals(attempt()) ? "the same again" : "another outcome: " + attempt());
        }

        private static String attempt() {
            try {
                NativeMemory.allocate(1).free();
                return "loaded";
            } catch (UnsatisfiedLinkError e) {
                return "failed: "
                        + (((NativeLibraryException) e.getCause()).isOfPlatform() ? "PLATFORM: " : "LIBRARY: ")
                        + e.getMessage();
            }
        }
    }

    private String load(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.add(Main.class.getName());
        String output = java(arguments.toArray(String[]::new));
        assertTrue(output.contains("the same again"), output);
        return output;
    }

    private Path library() throws IOException {
        Path copy = folder.resolve("libjrsocket-os.so");
        try (var in =
                NativeLibrary.class.getResourceAsStream(NativeLibrary.OS.resource(System.getProperty("os.arch")))) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        return copy;
    }

    @Test
    void shouldLoadFromTheClassPathAndLeaveNothingBehind() throws Exception {
        String output = load("-Djava.io.tmpdir=" + folder);
        assertTrue(output.contains("loaded"), output);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(
                    List.of(),
                    left.filter(p -> p.toString().contains("libjrsocket")).toList());
        }
    }

    @Test
    void shouldLoadThroughTheFolderOfTheProperty() throws Exception {
        String output = load("-Djava.io.tmpdir=/nonexistent", "-D" + NativeLibrary.DIR_PROPERTY + "=" + folder);
        assertTrue(output.contains("loaded"), output);
    }

    @Test
    void shouldNameThePropertyWhenTheFolderIsUnusable() throws Exception {
        String output = load("-D" + NativeLibrary.DIR_PROPERTY + "=/nonexistent");
        assertTrue(
                output.contains("failed: LIBRARY: cannot copy the native library to /nonexistent (no such folder): "),
                output);
        assertTrue(output.contains("-D" + NativeLibrary.DIR_PROPERTY), output);
    }

    /** The folder may be full or missing for a while, and somebody may look again. */
    static final class Later {
        public static void main(String[] args) throws IOException {
            System.out.println(Main.attempt());
            Files.createDirectory(Path.of(args[0]));
            System.out.println(Main.attempt());
        }
    }

    @Test
    void shouldLoadOnceWhatWasMissingHasCome() throws Exception {
        String later = folder.resolve("later").toString();
        String output = java("-D" + NativeLibrary.DIR_PROPERTY + "=" + later, Later.class.getName(), later);
        assertTrue(output.startsWith("failed: LIBRARY: cannot copy the native library to "), output);
        assertTrue(output.endsWith("\nloaded\n"), output);
    }

    @Test
    void shouldLoadTheLibraryOfTheProperty() throws Exception {
        String output =
                load("-D" + NativeLibrary.LIBRARY_PROPERTY + "=" + library().getParent());
        assertTrue(output.contains("loaded"), output);
    }

    @Test
    void shouldSayWhyALibraryDoesNotLoad() throws Exception {
        Path junk = Files.writeString(folder.resolve("libjrsocket-os.so"), "not a library");
        String output = load("-D" + NativeLibrary.LIBRARY_PROPERTY + "=" + junk.getParent());
        assertTrue(output.contains("failed: LIBRARY: cannot load the native library: "), output);
    }

    @Test
    void shouldSayThatTheArchitectureIsMissing() throws Exception {
        String output = load("-Dos.arch=vax");
        assertTrue(
                output.contains("failed: PLATFORM: no native library for vax in the jar"
                        + " (/META-INF/native/linux-vax/libjrsocket-os.so)"),
                output);
        assertTrue(load("-Dos.name=Plan9").contains("failed: PLATFORM: RDMA verbs need Linux, this is Plan9"));
    }

    @Test
    void shouldFindTheResourceOfEachArchitecture() {
        assertEquals("/META-INF/native/linux-x86_64/libjrsocket-os.so", NativeLibrary.OS.resource("amd64"));
        assertEquals("/META-INF/native/linux-aarch64/libjrsocket-os.so", NativeLibrary.OS.resource("aarch64"));
    }

    @Test
    void shouldNameThePackagesWhenRdmaCoreIsMissing() {
        Path copy = Path.of("/tmp/libjrsocket123.so");
        String message = LINKED.explain(
                copy, copy + ": librdmacm.so.1: cannot open shared object file: No such file or directory");
        assertEquals(
                "librdmacm.so.1: cannot open shared object file: No such file or directory: install librdmacm1 and "
                        + "ibverbs-providers (Debian, Ubuntu) or librdmacm and libibverbs (RHEL, Fedora)",
                message);
    }

    /** What musl's loader says of a library that is linked with glibc. */
    @Test
    void shouldSayThatItNeedsGlibc() {
        Path copy = Path.of("/tmp/libjrsocket-os123.so");
        assertEquals(
                "the native library needs glibc, which this system (musl, such as Alpine) does not have: use an image"
                        + " with glibc",
                NativeLibrary.OS.explain(
                        copy, copy + ": Error relocating " + copy + ": __snprintf_chk: symbol not found"));
    }

    @Test
    void shouldNameThePropertyWhenTheFolderIsNoexec() {
        String before = System.getProperty(NativeLibrary.LIBRARY_PROPERTY); // set under a checker of memory
        try {
            System.clearProperty(NativeLibrary.LIBRARY_PROPERTY);
            assertNoexec(NativeLibrary.DIR_PROPERTY);
            System.setProperty(NativeLibrary.LIBRARY_PROPERTY, "/tmp/libjrsocket123.so");
            assertNoexec(NativeLibrary.LIBRARY_PROPERTY);
        } finally {
            if (before == null) {
                System.clearProperty(NativeLibrary.LIBRARY_PROPERTY);
            } else {
                System.setProperty(NativeLibrary.LIBRARY_PROPERTY, before);
            }
        }
    }

    private static void assertNoexec(String property) {
        Path copy = Path.of("/tmp/libjrsocket123.so");
        assertEquals(
                "failed to map segment from shared object: /tmp may be mounted noexec: choose another folder with -D"
                        + property + "; if it is not, a limit on memory or a security module (SELinux) forbids it",
                LINKED.explain(copy, copy + ": " + copy + ": failed to map segment from shared object"));
    }

    @Test
    void shouldNameNoPackagesWhereTheLibraryIsThere() {
        Path copy = Path.of("/tmp/libjrsocket123.so");
        String plain = "librdmacm.so.1: cannot open shared object file: Too many open files";
        assertEquals("cannot load the native library: " + plain, LINKED.explain(copy, copy + ": " + plain));
    }

    /** What an agent is to us: it opens the way and loads. */
    public static final class Agent {

        private Agent() {}

        public static void premain(String arguments, Instrumentation instrumentation) {
            NativeLibrary.enableNativeAccess(instrumentation);
            NativeLibrary.OS.load();
            System.out.println("loaded by " + NativeLibrary.class.getClassLoader());
        }
    }

    /** A jar of the verbs classes and the library, which the manifest may put on the boot class path. */
    private Path agent(boolean boot) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Premain-Class", Agent.class.getName());
        if (boot) {
            attributes.putValue("Boot-Class-Path", "agent.jar");
        }
        Path jar = folder.resolve("agent.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            for (Class<?> type :
                    List.of(NativeLibrary.class, OsNative.class, NativeLibraryException.class, Agent.class)) {
                add(out, '/' + type.getName().replace('.', '/') + ".class");
            }
            add(out, NativeLibrary.OS.resource(System.getProperty("os.arch")));
        }
        return jar;
    }

    private static void add(JarOutputStream out, String name) throws IOException {
        out.putNextEntry(new JarEntry(name.substring(1)));
        try (var in = NativeLibraryTest.class.getResourceAsStream(name)) {
            in.transferTo(out);
        }
        out.closeEntry();
    }

    private String runAgent(boolean boot, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of(
                "-javaagent:" + agent(boot), "-cp", folder.resolve("agent.jar").toString(), "-version"));
        return java(arguments.toArray(String[]::new));
    }

    @Test
    void shouldLoadSilentlyForAnAgentOnTheSystemClassPath() throws Exception {
        String output = runAgent(false);
        assertTrue(output.contains("loaded by jdk.internal.loader.ClassLoaders$AppClassLoader"), output);
        assertFalse(output.contains("WARNING"), output);
    }

    @Test
    void shouldLoadSilentlyForAnAgentOnTheBootClassPath() throws Exception {
        String output = runAgent(true);
        assertTrue(output.contains("loaded by null"), output);
        assertFalse(output.contains("WARNING"), output);
    }

    @Test
    void shouldLoadWhereNativeAccessIsDenied() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "JDK 24 brought --illegal-native-access");
        assertTrue(runAgent(true, "--illegal-native-access=deny").contains("loaded by null"));
        String refused = load("--illegal-native-access=deny");
        assertTrue(
                refused.contains("failed: LIBRARY: the native library may not be loaded")
                        && refused.contains("--enable-native-access"),
                refused);
    }
}
