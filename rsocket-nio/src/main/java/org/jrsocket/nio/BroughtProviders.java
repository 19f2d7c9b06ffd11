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
