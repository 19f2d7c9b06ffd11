/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Opens verbs. */
public interface VerbsOpener {
    VerbsProvider open() throws VerbsUnavailableException;
}
