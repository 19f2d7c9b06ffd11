/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;

/**
 * An event channel of the connection manager; its {@link #getFd() descriptor} is non-blocking and readable while events
 * are waiting.
 */
public abstract class CmChannel extends RdmaEventChannel {
    protected CmChannel(int fd) throws IOException {
        super(fd);
    }
}
