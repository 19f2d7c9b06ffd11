/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import org.jrsocket.verbs.CmEvent;

/** The current owner of a CM id; attached to the id. Called on the service thread; must not block. */
interface CmHandler {
    void onCmEvent(CmEvent event);
}
