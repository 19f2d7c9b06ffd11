/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A native library that does not load costs one line on stderr; the program runs over TCP and sees nothing of it.
 * Without a device nobody asks for the library, and the line says that there is none.
 */
@Tag("lab")
class AgentNativesLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    private static void assertTcpOnly(String about, String property, Object value) throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfConnection.class)
                .agent()
                .property(property, value)
                .arguments(Site.address())
                .start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            assertEquals(1, result.out().size(), result::toString); // the program's own
            // The JVM warns by itself of a file that is no library.
            List<String> lines = result.err().stream()
                    .filter(line -> !line.matches("OpenJDK .* warning: .*|It's highly recommended .*"))
                    .toList();
            assertEquals(1, lines.size(), result::toString);
            String line = lines.get(0);
            assertTrue(
                    line.startsWith("jrsocket: TCP only: ") && line.contains(Site.hasRdma() ? about : "no RDMA device"),
                    line);
        }
    }

    @Test
    void shouldDoWithoutALibraryThatIsNotThere() throws Exception {
        assertTcpOnly("/nowhere/libjrsocket.so", "org.jrsocket.native.library", "/nowhere/libjrsocket.so");
    }

    @Test
    void shouldDoWithoutALibraryThatIsNone() throws Exception {
        Path file = Files.writeString(folder.resolve("libjrsocket.so"), "not a library");
        assertTcpOnly("cannot load the native library: ", "org.jrsocket.native.library", file);
    }

    @Test
    void shouldDoWithoutAFolderForItsCopy() throws Exception {
        assertTcpOnly("-Dorg.jrsocket.native.dir", "org.jrsocket.native.dir", "/nowhere");
    }

    /** As after an upgrade that replaced the jar and not the library, or of another project altogether. */
    @Test
    void shouldDoWithoutALibraryThatLacksItsMethods() throws Exception {
        Path other = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
        assertTcpOnly("", "org.jrsocket.native.library", other);
    }
}
