/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

/** The JDK's version. Where its own channels differ between versions, ours behave as those of the running JDK. */
final class JdkVersion {

    /** Whether this is JDK 24 or later. Tests compare our channels with the JDK's on 17 and 25, and not in between. */
    static final boolean AT_LEAST_24 = Runtime.version().feature() >= 24;

    private JdkVersion() {}
}
