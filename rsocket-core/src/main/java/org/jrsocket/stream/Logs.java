/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logs that several classes write to, under names that users know. */
final class Logs {

    static final Logger TRANSPORT = LoggerFactory.getLogger("org.jrsocket.stream.RdmaTransport");
    static final Logger STREAM = LoggerFactory.getLogger("org.jrsocket.stream.RdmaStream");
    static final Logger LISTENER = LoggerFactory.getLogger("org.jrsocket.stream.CmListener");

    private Logs() {}
}
