/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import org.slf4j.Logger;

/**
 * The factory of the drop-in jar's loggers. The jar's build puts this class in the place of slf4j's
 * {@code LoggerFactory}, which would search the class path for an implementation at each start of a JVM, and would heed
 * what an application has set for its own slf4j. As a library beside an application's own slf4j, this project uses the
 * application's log.
 */
public final class StderrLoggers {

    private StderrLoggers() {}

    // As in slf4j's class.

    public static Logger getLogger(Class<?> type) {
        return getLogger(type.getName());
    }

    public static Logger getLogger(String name) {
        return new StderrLogger(name);
    }
}
