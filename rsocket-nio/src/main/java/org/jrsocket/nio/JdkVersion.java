/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

/** Where the JDK's own channels differ from version to version, ours do as those of the JDK that runs them. */
final class JdkVersion {

    /** JDK 24 or later. Tests compare our channels with the JDK's on 17 and 25; versions between are not tested. */
    static final boolean AT_LEAST_24 = Runtime.version().feature() >= 24;

    private JdkVersion() {}
}
