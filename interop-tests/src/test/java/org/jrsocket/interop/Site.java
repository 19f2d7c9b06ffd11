/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where the tests run: in the lab, on an RDMA device, or on a machine as it is. */
public final class Site {

    private Site() {}

    /** Whether this is the emulated machine of {@code scripts/roce-lab}. */
    static boolean isLab() {
        return System.getenv("ROCE_LAB_ADDR") != null;
    }

    /** Whether {@link #address()} belongs to an RDMA device, so that traffic under the agent must use it. */
    public static boolean hasRdma() {
        return System.getenv("ROCE_LAB_DEVICE") != null;
    }

    /** An address of this machine that servers listen on. */
    public static String address() {
        return hasRdma() ? System.getenv("ROCE_LAB_ADDR") : "127.0.0.1";
    }

    /** An argument of {@code java}: the options of JVMs in the lab. The file says why. */
    public static String labOptions() {
        return "@"
                + classes(Site.class)
                        .resolve("../../../scripts/lab/jvm-options")
                        .normalize();
    }

    /**
     * An option of JVMs with the agent in the lab: the classes of the JDK and of the jar as such a JVM has them in
     * memory. None if {@code scripts/test} has made no such archive of this jar.
     */
    public static Optional<String> archiveOption() {
        return archive("");
    }

    /** The same of JVMs that run the jar: {@code java -jar rsocket.jar}. */
    public static Optional<String> commandArchiveOption() {
        return archive("command-");
    }

    private static Optional<String> archive(String use) {
        Path archive =
                agentJar().resolveSibling("rsocket-" + use + Runtime.version().feature() + ".jsa");
        boolean fits = isLab()
                && Files.exists(archive)
                && archive.toFile().lastModified() >= agentJar().toFile().lastModified();
        return fits ? Optional.of("-XX:SharedArchiveFile=" + archive) : Optional.empty();
    }

    /** The drop-in jar of this build. */
    public static Path agentJar() {
        return classes(Site.class)
                .resolve("../../../rsocket-nio/target/rsocket.jar")
                .normalize();
    }

    /** The folder or jar that {@code type} was loaded from. */
    public static Path classes(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
