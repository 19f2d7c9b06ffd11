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
 * Providers that a program has on its class path or module path. The JDK takes one rather than its own, but a system
 * property, which the agent sets, comes before both: so a program that brings one would lose it.
 */
public final class BroughtProviders {

    private BroughtProviders() {}

    /**
     * Makes sure that the JDK, which is told the name of a class of ours, finds this class. It looks with the system
     * class loader, which prefers a module that the program brings to the boot class path.
     *
     * @throws IOException it would find another one, or none
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
     * Makes no object of the provider's class.
     *
     * @param service such as {@code SelectorProvider}
     * @param what its name for people
     * @throws IOException the program brings one; the message names it
     */
    public static void ensureNone(Class<?> service, String what) throws IOException {
        Optional<String> name;
        try {
            name = ServiceLoader.load(service, ClassLoader.getSystemClassLoader()).stream()
                    .findFirst()
                    .map(provider -> provider.type().getName());
        } catch (ServiceConfigurationError e) {
            name = Optional.of(e.getMessage()); // what the program is told without us, too
        }
        if (name.isPresent()) {
            throw new IOException("the program brings a " + what + " of its own: " + name.get());
        }
    }
}
