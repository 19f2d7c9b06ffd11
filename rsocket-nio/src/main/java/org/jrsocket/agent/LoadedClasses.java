/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.lang.instrument.Instrumentation;

/** What the JVM has loaded by now. */
final class LoadedClasses {

    private LoadedClasses() {}

    /**
     * Returns whether a class is loaded.
     *
     * @param module the module of the class: few classes are in it, and each class that is asked for its name has to
     *     make it
     */
    static boolean contain(Module module, String name, Instrumentation instrumentation) {
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getModule() == module && loaded.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }
}
