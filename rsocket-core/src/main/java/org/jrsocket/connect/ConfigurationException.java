/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

/** A setting or rule that cannot be used. The message is one line: where it is, and what is wrong with it. */
public final class ConfigurationException extends Exception {

    private static final long serialVersionUID = 1L;

    public ConfigurationException(String where, String reason) {
        super(where + ": " + reason);
    }
}
