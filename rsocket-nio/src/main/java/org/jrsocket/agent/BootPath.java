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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * The boot class path, where the agent's classes belong: the JDK's own classes call them, whatever class loader the
 * thread has and whatever a security manager denies. The manifest puts the jar there if it is called rsocket.jar. A jar
 * of another name puts itself there.
 */
final class BootPath {

    private static final String NAME = "rsocket.jar";

    private static final String OPTION = "-javaagent:";

    /** Classes that are loaded once a program uses ours, but not if the JVM has only called the agent. */
    private static final Set<String> OURS =
            Set.of("org.jrsocket.connect.TransportContext", "org.jrsocket.stream.RdmaTransport");

    private BootPath() {}

    /**
     * Puts the agent's jar on the boot class path and calls the agent from there, if this class is not on it yet. Does
     * not do so if the agent is attached to a program that already uses classes of ours.
     *
     * @param agent the class that the JVM has called
     * @param entry its method
     * @return whether that was done; if not, the caller does the work itself, without what the boot class path gives
     */
    static boolean delegate(Class<?> agent, String entry, String arguments, Instrumentation instrumentation) {
        if (BootPath.class.getClassLoader() == null || entry.equals("agentmain") && isInUse(instrumentation)) {
            return false;
        }
        Method there;
        try {
            Path file = jar(agent);
            if (file == null) {
                return false;
            }
            try (JarFile jar = new JarFile(file.toFile())) {
                instrumentation.appendToBootstrapClassLoaderSearch(jar);
            }
            there = Class.forName(agent.getName(), true, null).getMethod(entry, String.class, Instrumentation.class);
        } catch (IOException | URISyntaxException | ReflectiveOperationException | RuntimeException e) {
            return false; // Management says what is missing then
        }
        try {
            there.invoke(null, arguments, instrumentation);
        } catch (InvocationTargetException | IllegalAccessException e) {
            // The agent lets no exception through. One that this method threw would end the JVM.
            Notices.say("TCP only: " + (e.getCause() == null ? e : e.getCause()));
        }
        return true;
    }

    /**
     * Returns whether the program uses classes of ours from its own class path. With the agent's on the boot class
     * path, the JVM would load all further classes from there, and the two sets of classes do not work together.
     */
    static boolean isInUse(Instrumentation instrumentation) {
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (OURS.contains(loaded.getName()) && loaded.getClassLoader() != null) {
                return true;
            }
        }
        return false;
    }

    /**
     * Checks whether the JVM took this class from a jar other than the agent's: one called rsocket.jar that lies beside
     * it, perhaps of another version. For the copy on the boot class path, when the JVM starts.
     *
     * @return what to tell the operator; null if all is as it should be, or if that cannot be determined
     */
    static String wrongJarWarning() {
        if (BootPath.class.getClassLoader() != null) {
            return null;
        }
        return wrongJarWarning(agents());
    }

    /** Returns the files that options of this JVM name as agents. */
    private static List<File> agents() {
        String fromProcess = "";
        try (FileInputStream in = new FileInputStream("/proc/self/cmdline")) {
            fromProcess = new String(in.readAllBytes(), Charset.defaultCharset());
        } catch (IOException e) {
            // no /proc: then it cannot be determined
        }
        return agents(fromProcess, System.getenv("JAVA_TOOL_OPTIONS"), System.getenv("JDK_JAVA_OPTIONS"));
    }

    /**
     * Returns the same from the given options.
     *
     * @param commandLine the arguments of the command line, each followed by a NUL
     * @param others options separated by blanks, or null
     */
    static List<File> agents(String commandLine, String... others) {
        StringBuilder options = new StringBuilder(commandLine);
        for (String more : others) {
            options.append('\0').append(more == null ? "" : more.replace(' ', '\0'));
        }
        List<File> agents = new ArrayList<>();
        for (int at = options.indexOf(OPTION); at >= 0; at = options.indexOf(OPTION, at)) {
            at += OPTION.length();
            int end = at;
            while (end < options.length() && options.charAt(end) != '\0' && options.charAt(end) != '=') {
                end++;
            }
            agents.add(new File(options.substring(at, end)));
        }
        return agents;
    }

    static String wrongJarWarning(List<File> agents) {
        String warning = null;
        for (File agent : agents) {
            File real = real(agent); // the JVM looks beside the target of a link
            File beside = new File(real.getParentFile(), NAME);
            if (real.getName().equals(NAME)) {
                return null;
            }
            if (beside.isFile() && real.isFile() && !real(beside).equals(real)) {
                warning = "the running agent is " + beside + ", not " + agent
                        + ": a JVM prefers the file of that name in an agent's folder; keep one of them elsewhere";
            }
        }
        return warning;
    }

    private static File real(File file) {
        try {
            return file.getCanonicalFile();
        } catch (IOException e) {
            return file; // it cannot be determined
        }
    }

    /**
     * Returns the agent's jar: the one that has this class, unless the JVM found the class in another jar on the
     * program's class path; then the one that an option names. Null if there is none, or if it cannot be determined.
     */
    private static Path jar(Class<?> agent) throws URISyntaxException {
        CodeSource source = BootPath.class.getProtectionDomain().getCodeSource();
        URI location = source == null ? null : source.getLocation().toURI();
        Path own = location == null || !"file".equals(location.getScheme()) ? null : Path.of(location);
        if (own != null && isJarOf(agent, own)) {
            return own;
        }
        for (File named : agents()) {
            if (isJarOf(agent, named.toPath())) {
                return named.toPath();
            }
        }
        return null;
    }

    private static boolean isJarOf(Class<?> agent, Path file) {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (JarFile jar = new JarFile(file.toFile())) {
            Manifest manifest = jar.getManifest();
            return manifest != null
                    && agent.getName().equals(manifest.getMainAttributes().getValue("Premain-Class"));
        } catch (IOException e) {
            return false;
        }
    }
}
