/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import org.jrsocket.stream.StreamConfig;

/**
 * The buffer sizes that an application has set on a socket. Over RDMA they limit the stream's memory in each direction.
 * They cannot be read back from a TCP socket, because the kernel caps its buffers at its own limits. Safe for use by
 * many threads.
 */
public final class BufferSizes {

    private volatile int send; // bytes; 0: not set
    private volatile int receive;

    public void send(int bytes) {
        send = bytes;
    }

    public void receive(int bytes) {
        receive = bytes;
    }

    /** Returns the configuration of a stream with these sizes, within the limit of the settings. */
    public StreamConfig streamConfig(Settings settings) {
        StreamConfig config = settings.streamConfig();
        return config.withBuffers(
                send == 0 ? config.sendBuffer() : Math.min(send, settings.maxBuffer()),
                receive == 0 ? config.receiveBuffer() : Math.min(receive, settings.maxBuffer()));
    }
}
