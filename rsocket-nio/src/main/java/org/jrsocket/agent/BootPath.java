/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.file.Files;
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

    private static final String OPTION = "-javaagent:";

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
     * @return what to tell the operator; null if all is as it should be, or if nobody can say
     */
    static String mistaken() {
        if (BootPath.class.getClassLoader() != null) {
            return null;
        }
        String fromProcess = "";
        try (FileInputStream in = new FileInputStream("/proc/self/cmdline")) {
            fromProcess = new String(in.readAllBytes(), Charset.defaultCharset());
        } catch (IOException e) {
            // no /proc: then nobody can say
        }
        return mistaken(fromProcess, System.getenv("JAVA_TOOL_OPTIONS"), System.getenv("JDK_JAVA_OPTIONS"));
    }

    /**
     * The same.
     *
     * @param commandLine its arguments, each with a NUL behind it
     * @param others options with blanks between, or null
     */
    static String mistaken(String commandLine, String... others) {
        StringBuilder options = new StringBuilder(commandLine);
        for (String more : others) {
            options.append('\0').append(more == null ? "" : more.replace(' ', '\0'));
        }
        String mistaken = null;
        for (int at = options.indexOf(OPTION); at >= 0; at = options.indexOf(OPTION, at)) {
            at += OPTION.length();
            int end = at;
            while (end < options.length() && options.charAt(end) != '\0' && options.charAt(end) != '=') {
                end++;
            }
            File agent = new File(options.substring(at, end));
            File beside = new File(agent.getParentFile(), NAME);
            if (agent.getName().equals(NAME)) {
                return null;
            }
            if (beside.isFile() && agent.isFile() && !isSame(agent, beside)) {
                mistaken = "the agent that runs is " + beside + ", not " + agent
                        + ": a JVM prefers the file of that name in an agent's folder; keep one of them elsewhere";
            }
        }
        return mistaken;
    }

    private static boolean isSame(File one, File other) {
        try {
            return one.getCanonicalFile().equals(other.getCanonicalFile());
        } catch (IOException e) {
            return true; // nobody can say
        }
    }

    /** The jar of this class; null if it is none, or if nobody says. */
    private static Path jar() throws URISyntaxException {
        CodeSource source = BootPath.class.getProtectionDomain().getCodeSource();
        URI location = source == null ? null : source.getLocation().toURI();
        Path path = location == null || !"file".equals(location.getScheme()) ? null : Path.of(location);
        return path != null && Files.isRegularFile(path) ? path : null;
    }
}
