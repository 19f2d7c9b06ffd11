/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Checks for providers that a program brings on its class path or module path. The JDK uses such a provider rather than
 * its own, but a system property, which the agent sets, takes precedence over both: a program that brings a provider
 * would lose it.
 */
public final class ProgramProviders {

    private ProgramProviders() {}

    /**
     * Makes sure that the JDK, given the name of one of our classes, finds this class. It looks with the system class
     * loader, which prefers a module that the program brings to the boot class path.
     *
     * @throws IOException if it would find another class, or none
     */
    public static void ensureFound(Class<?> ours) throws IOException {
        Class<?> found;
        try {
            found = Class.forName(ours.getName(), false, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new IOException("the JVM does not find " + ours.getName() + ": " + e, e);
        }
        if (found != ours) {
            throw new IOException("the program has jrsocket on its own module path ("
                    + found.getModule().getName() + "), where the JVM would look first: put it on the class path");
        }
    }

    /**
     * Makes sure that the program brings no provider of a service. Creates no instance of a provider's class.
     *
     * @param service such as {@code SelectorProvider}
     * @param what its name in messages
     * @throws IOException if the program brings one; the message names it
     */
    public static void ensureNone(Class<?> service, String what) throws IOException {
        Optional<String> name;
        try {
            name = ServiceLoader.load(service, ClassLoader.getSystemClassLoader()).stream()
                    .findFirst()
                    .map(provider -> provider.type().getName());
        } catch (ServiceConfigurationError e) {
            name = Optional.of(e.getMessage()); // the program would be told the same without us
        }
        if (name.isPresent()) {
            throw new IOException("the program brings a " + what + " of its own: " + name.get());
        }
    }
}
