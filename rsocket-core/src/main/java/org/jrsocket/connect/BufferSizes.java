/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import org.jrsocket.stream.StreamConfig;

/**
 * The buffers that an application asked a socket for. Over RDMA they bound the memory of the stream in each direction.
 * A TCP socket cannot be asked for them: the kernel cuts its own to its own limits. Safe for use by many threads.
 */
public final class BufferSizes {

    private volatile int send; // bytes; 0: nobody asked
    private volatile int receive;

    public void send(int bytes) {
        send = bytes;
    }

    public void receive(int bytes) {
        receive = bytes;
    }

    /** What a stream gets, within the limit of the settings. */
    public StreamConfig streamConfig(Settings settings) {
        StreamConfig config = settings.streamConfig();
        return config.withBuffers(
                send == 0 ? config.sendBuffer() : Math.min(send, settings.maxBuffer()),
                receive == 0 ? config.receiveBuffer() : Math.min(receive, settings.maxBuffer()));
    }
}
