/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** JVMs with our socket factories; see {@link InstalledProgram}. */
@Tag("slow")
class InstalledFactoriesTest {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"constructors", "http", "rmi", "socks", "twice"})
    void shouldCarryWhatTheJdkMakesOfSockets(String scenario) throws Exception {
        run(program(scenario));
    }

    @Test
    void shouldCarryTls() throws Exception {
        Path store = folder.resolve("keys.p12");
        run(List.of(
                tool("keytool"),
                "-genkeypair",
                "-alias",
                "test",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-validity",
                "3650",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                store.toString()));
        run(program("tls", store.toString()));
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_23)
    void shouldAskNoRightsOfWhoeverUsesItUnderASecurityManager() throws Exception {
        List<String> command = program("manager");
        command.addAll(1, List.of("-Djava.security.manager=allow", "-Xbootclasspath/a:" + classPath()));
        run(command);
    }

    private static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    private static List<String> program(String... arguments) throws URISyntaxException {
        List<String> command = new ArrayList<>(List.of(
                tool("java"),
                "--add-opens",
                "java.base/java.net=ALL-UNNAMED",
                "--add-opens",
                "java.base/sun.nio.ch=ALL-UNNAMED",
                "-cp",
                classPath(),
                InstalledProgram.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Not this JVM's: a test runner may have wrapped that. */
    private static String classPath() throws URISyntaxException {
        List<String> places = new ArrayList<>();
        for (Class<?> one : List.of(
                InstalledProgram.class,
                LoopbackProvider.class,
                SocketFactories.class,
                RdmaCm.class,
                LoggerFactory.class)) {
            places.add(Path.of(one.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        return places.stream().distinct().collect(Collectors.joining(File.pathSeparator));
    }

    private void run(List<String> command) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(process.waitFor(90, TimeUnit.SECONDS), () -> command + " does not end");
            String text = Files.readString(output);
            assertEquals(0, process.exitValue(), text);
        } finally {
            process.destroyForcibly();
        }
    }
}
