/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

/**
 * Filled in when the project is built. The jar's manifest says the same, but a JVM reads it when it is first asked, and
 * by then the file may be a newer one.
 */
final class Build {

    static final String VERSION = "${project.version}";

    private Build() {}
}
