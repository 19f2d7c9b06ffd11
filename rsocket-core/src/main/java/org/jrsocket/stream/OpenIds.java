/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What of a transport has an id and is no stream: listeners, and attempts to connect, with those that are given up and
 * listen for a late answer. They end with the transport, whose event channel cannot be destroyed before. Any thread.
 */
final class OpenIds {

    private final Set<CmListener> listeners = ConcurrentHashMap.newKeySet();
    private final Set<CmConnect> connects = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** It makes its id after this. If this fails the caller removes it. */
    void add(CmListener listener) throws IOException {
        listeners.add(listener); // first: either it is seen by the end, or it sees it
        ensureOpen();
    }

    void remove(CmListener listener) {
        listeners.remove(listener);
    }

    /** As for a listener. */
    void add(CmConnect connect) throws IOException {
        connects.add(connect);
        ensureOpen();
    }

    void remove(CmConnect connect) {
        connects.remove(connect);
    }

    private void ensureOpen() throws IOException {
        if (closed) {
            throw new IOException("the RDMA transport is closed");
        }
    }

    /** From now on nothing can be added. */
    void endListeners() {
        closed = true;
        listeners.forEach(CmListener::close);
    }

    /** Once more when the service thread has ended: for those that it let listen for late answers. */
    void endConnects() {
        connects.forEach(CmConnect::end);
    }
}
