/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Everything in a transport that has an id and is not a stream: listeners and attempts to connect, including attempts
 * that were given up and listen for a late answer. They end with the transport, whose event channel cannot be destroyed
 * before. Thread-safe.
 */
final class OpenIds {

    /** An attempt to connect. */
    interface Attempt {

        /** Ends it because the transport is closed. Repeated calls have no effect. */
        void end();
    }

    private final Set<RdmaListener> listeners = ConcurrentHashMap.newKeySet();
    private final Set<Attempt> connects = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Adds a listener, before it makes its id. If this fails the caller removes it. */
    void add(RdmaListener listener) throws IOException {
        listeners.add(listener); // added first: either the end sees it, or it sees the end
        ensureOpen();
    }

    void remove(RdmaListener listener) {
        listeners.remove(listener);
    }

    /** Adds an attempt to connect, under the same conditions. */
    void add(Attempt connect) throws IOException {
        connects.add(connect);
        ensureOpen();
    }

    void remove(Attempt connect) {
        connects.remove(connect);
    }

    private void ensureOpen() throws IOException {
        if (closed) {
            throw new IOException("the RDMA transport is closed");
        }
    }

    /** Closes all listeners. From now on nothing can be added. */
    void endListeners() {
        closed = true;
        listeners.forEach(RdmaListener::close);
    }

    /** Ends all attempts. Called again when the service thread has ended, for those that listened for late answers. */
    void endConnects() {
        connects.forEach(Attempt::end);
    }
}
