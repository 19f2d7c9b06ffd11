/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Tool;

/** The programs of {@code interop-tests/frameworks}. */
final class Programs {

    /** For a program to start, in an emulated machine. */
    static final Duration START = Duration.ofMinutes(5);
    /** For a client to do its work. */
    static final Duration RUN = Duration.ofMinutes(10);

    static final String PASSWORD = "secret";

    private static final Path FOLDER =
            Site.classes(Programs.class).resolve("../../frameworks").normalize();

    private Programs() {}

    /** A program under the agent, with its framework on its class path and nothing of ours. */
    static JvmProcess.Builder under(String framework, String main, Object... arguments) {
        return command(framework, "org.jrsocket.interop.frameworks." + framework + '.' + main, arguments);
    }

    /** A program of the framework itself, under the agent. */
    static JvmProcess.Builder command(String framework, String main, Object... arguments) {
        Path target = FOLDER.resolve(framework).resolve("target");
        assertTrue(
                Files.isDirectory(target.resolve("libraries")),
                () -> "nothing in " + target + "; mvn package builds it");
        return JvmProcess.withArguments(main)
                .classPath(target.resolve("classes"), target.resolve("libraries/*"))
                .agent()
                .arguments(arguments);
    }

    static String port(JvmProcess server, String name) throws InterruptedException {
        return server.awaitLine(Pattern.compile(name + "=(\\d+)"), START).group(1);
    }

    /** Runs a client to its end. If it fails, the server's output is told too. */
    static JvmProcess.Result run(JvmProcess.Builder client, JvmProcess server) throws Exception {
        try (JvmProcess process = client.start()) {
            return process.await(RUN).expectSuccess();
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\nserver, stopped: " + server.stop(), e);
        }
    }

    /**
     * A key store with a key and a certificate for {@link Site#address()}, good for servers and for clients that trust
     * them.
     */
    static Path keyStore(Path folder) {
        return Tool.keyStore(folder, PASSWORD);
    }
}
