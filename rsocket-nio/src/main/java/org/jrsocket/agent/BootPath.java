/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.jar.JarFile;

/**
 * The boot class path, where the agent's classes belong: the JDK's own classes call them, whatever class loader the
 * thread has and whatever a security manager denies. The manifest puts the jar there if it is called rsocket.jar. A jar
 * of another name puts itself there.
 */
final class BootPath {

    private static final String NAME = "rsocket.jar";

    private BootPath() {}

    /**
     * If this class is not on the boot class path, puts its jar there and has the agent of there do the work.
     *
     * @param entry the agent's method that the JVM has called
     * @return whether that was done; else the caller works itself, and does without what the boot class path gives
     */
    static boolean handOn(String entry, String arguments, Instrumentation instrumentation) {
        if (BootPath.class.getClassLoader() == null) {
            return false;
        }
        Method there;
        try {
            Path file = jar();
            if (file == null) {
                return false;
            }
            try (JarFile jar = new JarFile(file.toFile())) {
                instrumentation.appendToBootstrapClassLoaderSearch(jar);
            }
            there = Class.forName(Agent.class.getName(), true, null)
                    .getMethod(entry, String.class, Instrumentation.class);
        } catch (IOException | URISyntaxException | ReflectiveOperationException | RuntimeException e) {
            return false; // Management says what is missing then
        }
        try {
            there.invoke(null, arguments, instrumentation);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause()); // the agent lets nothing through
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return true;
    }

    /**
     * Whether the JVM took this class from another jar than the agent's: one called rsocket.jar that lies beside it,
     * perhaps of another version. For the boot class path's copy, when the JVM starts.
     *
     * @param classPath of the JVM, to which it has added the agent's jar
     * @return what to tell the operator; null if all is as it should be, or if nobody can say
     */
    static String mistaken(String classPath) {
        if (BootPath.class.getClassLoader() != null || classPath.endsWith(File.separator + NAME)) {
            return null;
        }
        String mistaken = null;
        for (String element : classPath.split(File.pathSeparator)) {
            try {
                Path jar = Path.of(element);
                Path beside = jar.resolveSibling(NAME);
                if (jar.endsWith(NAME)) {
                    return null;
                }
                if (element.endsWith(".jar") && Files.isRegularFile(beside) && !Files.isSameFile(jar, beside)) {
                    mistaken = "the agent that runs is " + beside + ", not " + jar
                            + ": a JVM prefers the file of that name in an agent's folder; keep one of them elsewhere";
                }
            } catch (InvalidPathException | IOException e) {
                // not the agent's then
            }
        }
        return mistaken;
    }

    /** The jar of this class; null if it is none, or if nobody says. */
    private static Path jar() throws URISyntaxException {
        CodeSource source = BootPath.class.getProtectionDomain().getCodeSource();
        URI location = source == null ? null : source.getLocation().toURI();
        Path path = location == null || !"file".equals(location.getScheme()) ? null : Path.of(location);
        return path != null && Files.isRegularFile(path) ? path : null;
    }
}
