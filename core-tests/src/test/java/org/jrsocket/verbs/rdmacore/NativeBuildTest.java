/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script that compiles the native library, with a PATH of what a machine happens to have. */
@Tag("once")
@Tag("slow")
@Timeout(60)
public class NativeBuildTest {

    private static final Path SCRIPT =
            Path.of("../rsocket-core/src/main/native/build").toAbsolutePath();

    @TempDir
    Path folder;

    private Path bin;
    private Path out;

    @BeforeEach
    void prepare() throws IOException {
        assertTrue(Files.exists(SCRIPT), () -> SCRIPT + ": it has moved, or the tests run elsewhere");
        bin = Files.createDirectory(folder.resolve("bin"));
        out = folder.resolve("out");
        for (String tool :
                List.of("sh", "uname", "dirname", "readlink", "find", "mkdir", "mktemp", "rm", "mv", "chmod", "cat")) {
            tool(tool, "exec " + found(tool) + " \"$@\"");
        }
    }

    private static Path found(String tool) {
        for (String dir : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(dir, tool))) {
                return Path.of(dir, tool);
            }
        }
        throw new AssertionError(tool + " is not on the PATH");
    }

    private void tool(String name, String script) throws IOException {
        Path file = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Standard error; the status must be as expected. */
    private String build(int status, Map<String, String> environment, String... machines) throws Exception {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString(), out.toString()));
        command.addAll(List.of(machines));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", bin.toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(status, process.exitValue(), output);
        return output;
    }

    private void assertMissing(String what, String debian, String fedora, Map<String, String> environment)
            throws Exception {
        String output = build(1, environment);
        assertEquals(1, output.lines().count(), output);
        assertTrue(
                output.contains(
                        what + " is missing: apt-get install " + debian + " (Debian, Ubuntu) or dnf install " + fedora),
                output);
    }

    private Path jdk() {
        Path home = Path.of(System.getProperty("java.home"));
        assumeTrue(Files.exists(home.resolve("include/jni.h")), "this JDK has no jni.h");
        return home;
    }

    @Test
    void shouldNameThePackageOfTheCompiler() throws Exception {
        assertMissing("a C compiler (cc)", "gcc", "gcc", Map.of());
        assertMissing("a C compiler (my-cc)", "gcc", "gcc", Map.of("CC", "my-cc -pipe"));
    }

    @Test
    void shouldNameThePackageOfTheJdk() throws Exception {
        tool("cc", "exit 0");
        assertMissing("a JDK (javac)", "openjdk-17-jdk-headless", "java-17-openjdk-devel", Map.of());
        tool("javac", "exit 0");
        assertMissing(
                "jni.h (in " + folder + "/include)", "openjdk-17-jdk-headless", "java-17-openjdk-devel", Map.of());
    }

    @Test
    void shouldNameThePackagesOfTheHeaders() throws Exception {
        Map<String, String> environment = Map.of("JAVA_HOME", jdk().toString());
        tool("cc", "! grep -q stdio.h");
        tool("grep", "exec " + found("grep") + " \"$@\"");
        assertMissing("the C library's headers (stdio.h)", "libc6-dev", "glibc-devel", environment);
        tool("cc", "! grep -q verbs.h");
        assertMissing("infiniband/verbs.h", "libibverbs-dev", "rdma-core-devel", environment);
        tool("cc", "! grep -q rdma_cma.h");
        assertMissing("rdma/rdma_cma.h", "librdmacm-dev", "rdma-core-devel", environment);
    }

    /** Nothing on loopback verbs needs rdma-core; who asks for it gets the library that does not either. */
    @Test
    void shouldBuildWithoutRdmaCoreWhenAskedTo() throws Exception {
        tool("cc", "case \"$*\" in *-E*) ! grep -q verbs.h ;; *) exec " + found("cc") + " \"$@\" ;; esac");
        String output = build(
                0,
                Map.of(
                        "JAVA_HOME",
                        jdk().toString(),
                        "PATH",
                        bin + ":" + System.getenv("PATH"),
                        "JRSOCKET_WITHOUT_RDMA_CORE",
                        "1"));
        assertTrue(output.contains("no rdma-core here: libjrsocket.so is not built"), output);
        Path folder = out.resolve("META-INF/native/linux-" + uname());
        assertTrue(Files.exists(folder.resolve("libjrsocket-os.so")));
        assertFalse(Files.exists(folder.resolve("libjrsocket.so")));
    }

    @Test
    void shouldBuildOnceAndAgainWhenASourceIsNewer() throws Exception {
        Path library = out.resolve("META-INF/native/linux-" + uname() + "/libjrsocket.so");
        Map<String, String> environment = Map.of("JAVA_HOME", jdk().toString(), "PATH", System.getenv("PATH"));
        assertEquals("", build(0, environment));
        Object first = Files.readAttributes(library, "unix:ino").get("ino");
        assertEquals("", build(0, environment));
        assertEquals(first, Files.readAttributes(library, "unix:ino").get("ino"));
        Files.setLastModifiedTime(library, FileTime.fromMillis(0));
        assertEquals("", build(0, environment));
        assertNotEquals(first, Files.readAttributes(library, "unix:ino").get("ino"));
        try (var files = Files.list(library.getParent())) {
            assertEquals(2, files.count(), "the two libraries, and no temporary files");
        }
    }

    /** A jar is built on one system and used on others; docs/compatibility.md says which. */
    @Test
    void shouldNeedNoNewerLibrariesThanArePromised() throws Exception {
        Map<String, String> environment = Map.of("JAVA_HOME", jdk().toString(), "PATH", System.getenv("PATH"));
        assertEquals("", build(0, environment));
        for (String name : List.of("libjrsocket-os.so", "libjrsocket.so")) {
            Path library = out.resolve("META-INF/native/linux-" + uname()).resolve(name);
            String content = Files.readString(library, ISO_8859_1);
            assertFalse(content.contains("GLIBC_ABI_DT_RELR"), name + " needs glibc 2.36");
            int libc = newest("GLIBC_2\\.([0-9]+)", content);
            assertTrue(libc > 0 && libc <= 17, name + " needs glibc 2." + libc);
            if (name.equals("libjrsocket.so")) { // of rdma-core 31
                assertEquals(3, newest("RDMACM_1\\.([0-9]+)", content));
                assertEquals(10, newest("IBVERBS_1\\.([0-9]+)", content));
            }
        }
    }

    private static int newest(String version, String content) {
        return Pattern.compile(version)
                .matcher(content)
                .results()
                .mapToInt(found -> Integer.parseInt(found.group(1)))
                .max()
                .orElse(0);
    }

    /** With compilers that are this machine's under other names, as a build for others has them. */
    @Test
    void shouldBuildForOtherMachinesAndRemoveWhatNobodyAskedFor() throws Exception {
        Map<String, String> environment =
                Map.of("JAVA_HOME", jdk().toString(), "PATH", bin + ":" + System.getenv("PATH"), "CFLAGS", "-DHERE=1");
        String other = "sparc64";
        tool(other + "-linux-gnu-gcc", "case \"$*\" in *HERE*) exit 1 ;; esac; exec " + found("cc") + " \"$@\"");
        Path folder = out.resolve("META-INF/native");
        assertEquals("", build(0, environment, uname() + ' ' + other)); // one word, as Maven passes them
        assertEquals(Set.of(other, uname()), machines(folder));
        assertTrue(Files.exists(folder.resolve("linux-" + other + "/libjrsocket.so")));
        assertEquals("", build(0, environment, ""));
        assertEquals(Set.of(uname()), machines(folder));
    }

    private static Set<String> machines(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString().replace("linux-", ""))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void shouldSayWhatIsMissingForAnotherMachine() throws Exception {
        Map<String, String> environment =
                Map.of("JAVA_HOME", jdk().toString(), "PATH", bin + ":" + System.getenv("PATH"));
        String output = build(1, environment, "sparc64");
        assertTrue(output.contains("a C compiler (sparc64-linux-gnu-gcc) is missing"), output);
        assertTrue(output.contains("apt-get install gcc-sparc64-linux-gnu"), output);

        // As Debian's, which finds the headers of this machine's rdma-core, but not the libraries.
        tool("sparc64-linux-gnu-gcc", "case \"$*\" in *-libverbs*) exit 1 ;; esac; exec " + found("cc") + " \"$@\"");
        output = build(1, environment, "sparc64");
        assertTrue(output.contains("rdma-core for sparc64 is missing"), output);
        assertTrue(output.contains("CC_sparc64"), output);

        output = build(2, environment, "a;id");
        assertTrue(output.contains("'a;id' is not what uname -m says"), output);
    }

    @Test
    void shouldPassOnTheFlagsOfTheEnvironment() throws Exception {
        Path log = folder.resolve("arguments");
        tool("cc", "echo \"$*\" >>" + log + "; case \"$*\" in *-E*) ;; *) exec " + found("cc") + " \"$@\" ;; esac");
        String path = bin + ":" + System.getenv("PATH");
        String home = jdk().toString();
        build(0, Map.of("JAVA_HOME", home, "PATH", path));
        assertFalse(Files.readString(log).contains("-Werror"), "warnings of any compiler would be errors");

        Files.delete(log);
        out = folder.resolve("again");
        Map<String, String> flags = Map.of(
                "JAVA_HOME",
                home,
                "PATH",
                path,
                "JRSOCKET_WERROR",
                "1",
                "CPPFLAGS",
                "-DP=1",
                "CFLAGS",
                "-DC=1",
                "LDFLAGS",
                "-Wl,-z,noexecstack");
        build(0, flags);
        for (String line : Files.readAllLines(log)) {
            assertTrue(line.contains("-DP=1"), line);
            assertTrue(
                    line.contains(" -E ")
                            || line.matches(".* -Werror .*-D_FORTIFY_SOURCE=2 .*-DC=1 .*-Wl,-z,noexecstack.*"),
                    line);
        }
    }

    /** What is in its folder when the build ends, however it ends, is packed into jars. */
    @Test
    void shouldLeaveNothingBehindWhenItIsInterrupted() throws Exception {
        tool("cc", "case \"$*\" in *-E*) ;; *) kill -TERM $PPID ;; esac");
        build(143, Map.of("JAVA_HOME", jdk().toString()));
        try (var files = Files.walk(folder)) {
            assertEquals(
                    List.of(),
                    files.filter(Files::isRegularFile)
                            .filter(file -> !file.startsWith(bin))
                            .toList());
        }
    }

    private static String uname() {
        return System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
    }
}
