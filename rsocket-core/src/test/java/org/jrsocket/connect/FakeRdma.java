/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrsocket.stream.PendingConnect;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.ServiceLoop;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;

/** An RDMA stack whose attempts fail as a test wants, at once. Success is the loopback verbs' business. */
final class FakeRdma implements StreamFactory {

    /** What the next attempts come to. */
    RdmaConnectException.Reason outcome = RdmaConnectException.Reason.REFUSED;
    /** If set, there is no RDMA. */
    VerbsUnavailableException unavailable;
    /** If set, listening fails. */
    IOException listenFailure;
    int attempts;
    long lastWait;
    boolean cancelled;
    InetSocketAddress lastLocal;

    @Override
    public PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, StreamConfig config) throws VerbsUnavailableException {
        if (unavailable != null) {
            throw unavailable;
        }
        attempts++;
        lastLocal = local;
        return new PendingConnect() {
            @Override
            public RdmaStream await(long nanos) throws IOException {
                lastWait = nanos;
                throw new RdmaConnectException(cancelled ? RdmaConnectException.Reason.CANCELLED : outcome, "as the test wants", null);
            }

            @Override
            public boolean isDone() {
                return true;
            }

            @Override
            public void onDone(Runnable action) {
                action.run();
            }

            @Override
            public void expire(long nanos) {
                // it is over already
            }

            @Override
            public void cancel() {
                cancelled = true;
            }
        };
    }

    @Override
    public RdmaListener listen(InetSocketAddress local, int backlog, StreamConfig config) throws IOException {
        if (unavailable != null) {
            throw unavailable;
        }
        throw listenFailure;
    }

    @Override
    public ServiceLoop service() throws VerbsUnavailableException {
        throw new AssertionError("nothing to watch");
    }
}
