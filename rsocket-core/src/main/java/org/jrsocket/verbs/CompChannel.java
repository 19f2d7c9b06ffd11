/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import org.jrsocket.os.Epoll;

/**
 * A completion channel; its {@link #getFd() descriptor} is non-blocking, can be watched by {@link Epoll}, and is
 * readable while events are waiting.
 */
public abstract class CompChannel extends IbvCompChannel {

    protected CompChannel(int fd, IbvContext device) throws IOException {
        super(fd, device);
    }

    /**
     * Takes one completion event without blocking ({@code ibv_get_cq_event}) and acknowledges it, so that destroying
     * its queue never waits. The caller arms the queue again. Allocates nothing.
     *
     * @return the cookie of the queue whose event it was, or -1 if there is none
     */
    public abstract int takeEvent();

    /** {@code ibv_destroy_comp_channel}; its queues must be destroyed first. */
    public abstract void destroy() throws IOException;
}
