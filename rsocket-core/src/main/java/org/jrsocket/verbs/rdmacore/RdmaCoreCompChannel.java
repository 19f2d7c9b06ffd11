/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.CompChannel;

/** An {@code ibv_comp_channel}, non-blocking. */
final class RdmaCoreCompChannel extends CompChannel {

    private final RdmaCoreDevice device;
    /** The completion vector of its queues. */
    final int vector;

    private long channel; // written under this; 0 once freed

    private RdmaCoreCompChannel(RdmaCoreDevice device, long channel, int fd, int vector) throws IOException {
        super(fd, device);
        this.vector = vector;
        this.device = device;
        this.channel = channel;
    }

    static RdmaCoreCompChannel create(RdmaCoreDevice device, int vector) throws IOException {
        long channel = check(Native.createCompChannel(device.handle()), "ibv_create_comp_channel", device);
        try {
            int fd = Native.compChannelFd(channel);
            check(Fds.nonBlocking(fd), "fcntl", "completion channel of " + device);
            return new RdmaCoreCompChannel(device, channel, fd, vector);
        } catch (Throwable e) {
            Native.destroyCompChannel(channel);
            throw e;
        }
    }

    synchronized long handle() {
        if (channel == 0) {
            throw new IllegalStateException("completion channel was destroyed");
        }
        return channel;
    }

    @Override
    public int takeEvent() {
        long handle = channel;
        return handle == 0 ? -1 : Native.takeCqEvent(handle);
    }

    @Override
    public synchronized void destroy() throws IOException {
        if (channel != 0) {
            check(Native.destroyCompChannel(channel), "ibv_destroy_comp_channel", device);
            channel = 0;
            isOpen = false;
        }
    }
}
