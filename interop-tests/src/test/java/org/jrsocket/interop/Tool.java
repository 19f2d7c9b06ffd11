/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Small programs of the system, which end by themselves. One that hangs fails the test instead of keeping it. */
public final class Tool {

    private static final int LIMIT_SECONDS = 120; // each takes a moment, on a slow machine

    private static final Map<String, byte[]> KEY_STORES = new ConcurrentHashMap<>(); // by password

    private Tool() {}

    /**
     * A PKCS #12 store with a key and a certificate for {@link Site#address()}, good for servers and for clients that
     * trust them. It is made once: keytool takes seconds in an emulated machine.
     *
     * @return the store, in {@code folder}
     */
    public static Path keyStore(Path folder, String password) {
        Path store = folder.resolve("keys.p12");
        try {
            return Files.write(store, KEY_STORES.computeIfAbsent(password, Tool::newKeyStore));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] newKeyStore(String password) {
        try {
            Path folder = Files.createTempDirectory("keys");
            Path store = folder.resolve("keys.p12");
            makeKeyStore(store, password);
            byte[] made = Files.readAllBytes(store);
            Files.delete(store);
            Files.delete(folder);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void makeKeyStore(Path store, String password) {
        run(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "test",
                "-keyalg",
                "EC",
                "-dname",
                "CN=test",
                "-ext",
                "san=ip:" + Site.address(),
                "-ext",
                "bc=ca:true",
                "-validity",
                "3650",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                password,
                "-J-XX:+UseSerialGC",
                "-J-XX:TieredStopAtLevel=1", // it runs in the lab too: see scripts/lab/jvm-options
                // Made to be opened quickly, in an emulated machine: the password protects nothing.
                "-J-Dkeystore.pkcs12.keyPbeIterationCount=1",
                "-J-Dkeystore.pkcs12.certPbeIterationCount=1",
                "-J-Dkeystore.pkcs12.macIterationCount=1");
    }

    /**
     * Runs a program to its end.
     *
     * @return what it printed
     * @throws AssertionError if it fails, or does not end within two minutes (it is killed); with what it printed
     */
    public static String run(String... command) {
        try {
            // not a pipe: whoever reads one waits for all who hold it
            Path output = Files.createTempFile("tool", ".txt");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
                process.getOutputStream().close();
                boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
                if (!ended) {
                    process.destroyForcibly();
                }
                String printed = Files.readString(output);
                if (!ended || process.exitValue() != 0) {
                    throw new AssertionError(String.join(" ", command)
                            + (ended
                                    ? " ended with " + process.exitValue()
                                    : " did not end within " + LIMIT_SECONDS + " s")
                            + ": " + printed);
                }
                return printed;
            } finally {
                Files.delete(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
