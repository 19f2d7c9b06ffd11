/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A new jar is renamed over the old one while a JVM runs that has not needed all of the old one yet. */
class UpgradeTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"rsocket.jar", "jrsocket-0.1.jar"})
    void shouldStayWithTheOldJar(String name) throws Exception {
        Path jar = Files.copy(Site.agentJar(), folder.resolve(name));
        try (JvmProcess java = JvmProcess.running(LateNatives.class)
                .option("-javaagent:" + jar + "=policy=tcp")
                .listening()
                .start()) {
            java.awaitLine(Pattern.compile("ready"), LIMIT);
            Path newer = folder.resolve("newer");
            String version = other(jar, newer);
            Files.move(newer, jar, StandardCopyOption.ATOMIC_MOVE);
            java.tell("");
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            assertEquals(List.of("ready", "version=" + version, "loaded"), result.out());
        }
    }

    /** Writes one of another version and without native libraries. @return this one's version */
    private static String other(Path jar, Path to) throws IOException {
        try (JarFile from = new JarFile(jar.toFile())) {
            Manifest manifest = from.getManifest();
            String version = manifest.getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
            manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, "9.9.9");
            try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(to), manifest)) {
                for (JarEntry entry : from.stream()
                        .filter(each -> each.getName().endsWith(".class"))
                        .collect(Collectors.toList())) {
                    out.putNextEntry(new JarEntry(entry.getName()));
                    from.getInputStream(entry).transferTo(out);
                }
            }
            return version;
        }
    }
}
