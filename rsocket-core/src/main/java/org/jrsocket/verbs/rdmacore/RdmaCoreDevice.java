/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.Device;

/**
 * An open {@code ibv_context}. Those of CM ids belong to librdmacm, which keeps them open unless the device goes away.
 */
public final class RdmaCoreDevice extends Device {

    // Elements of Native.deviceAttributes; device.c has the same order.
    static final int IWARP = 0;
    static final int MAX_QP = 1;
    static final int MAX_QP_WR = 2;
    static final int MAX_CQE = 3;
    static final int MAX_MR = 4;
    static final int PORTS = 5;
    static final int VECTORS = 6;
    static final int CMD_FD = 7;
    static final int ASYNC_FD = 8;
    static final int ELEMENTS = 9;

    private final long handle;
    private final String name;
    private final int[] attributes;

    private RdmaCoreDevice(long handle, String name, int[] attributes) throws IOException {
        super(attributes[CMD_FD], attributes[VECTORS]);
        this.handle = handle;
        this.name = name;
        this.attributes = attributes;
    }

    /** Of a context that lives at least as long as the object. */
    static RdmaCoreDevice of(long handle) throws IOException {
        String name = Native.deviceName(handle);
        int[] attributes = new int[ELEMENTS];
        check(Native.deviceAttributes(handle, attributes), "ibv_query_device", name);
        check(Fds.nonBlocking(attributes[ASYNC_FD]), "fcntl", name + " async fd");
        return new RdmaCoreDevice(handle, name, attributes);
    }

    long handle() {
        if (!isOpen) {
            throw new IllegalStateException(name + " was removed");
        }
        return handle;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isIwarp() {
        return attributes[IWARP] != 0;
    }

    @Override
    public int maxQpWr() {
        return attributes[MAX_QP_WR];
    }

    @Override
    public int maxCqe() {
        return attributes[MAX_CQE];
    }

    @Override
    public int asyncFd() {
        return attributes[ASYNC_FD];
    }

    @Override
    public synchronized int takeAsyncEvent() throws IOException {
        if (!isOpen) {
            return -1;
        }
        int type = Native.asyncEvent(handle);
        if (type == -Errno.EAGAIN || type == -Errno.EINTR) {
            return -1;
        }
        if (type == -Errno.EIO) {
            // the kernel cut this context off its device; the descriptor stays readable for ever
            type = EVENT_DEVICE_FATAL;
        }
        check(type, "ibv_get_async_event", name);
        if (type == EVENT_DEVICE_FATAL) {
            isOpen = false; // librdmacm may close the context from now on
        }
        return type;
    }

    @Override
    public String toString() {
        return name;
    }
}
