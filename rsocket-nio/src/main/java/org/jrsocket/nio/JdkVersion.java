/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

/** The JDK's version. Where its own channels differ between versions, ours behave as those of the running JDK. */
public final class JdkVersion {

    static final boolean AT_LEAST_24 = Runtime.version().feature() >= 24;
    public static final boolean AT_LEAST_26 = Runtime.version().feature() >= 26;

    private JdkVersion() {}
}
