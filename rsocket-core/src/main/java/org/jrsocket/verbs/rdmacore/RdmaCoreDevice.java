/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open {@code ibv_context}. The contexts of CM ids belong to librdmacm, which keeps them open, whether there are ids
 * or not, until it sees a list of devices from which this one is missing.
 */
final class RdmaCoreDevice extends Device {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaCoreDevice.class);

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
    static final int VENDOR = 9;
    static final int ELEMENTS = 10;

    /** Of qedr, whose library reads the queue pair of a completion even if that was freed (up to rdma-core 64). */
    private static final int QLOGIC = 0x1077;
    /** Of mana, whose library sends inline data as if its memory was registered (up to rdma-core 64). */
    private static final int MICROSOFT = 0x1414;

    private final long handle;
    private final String name;
    private final int[] attributes;
    private final AtomicBoolean claimed = new AtomicBoolean();
    private final AtomicInteger vectors = new AtomicInteger(); // how many were taken
    private volatile CmId watch;

    private RdmaCoreDevice(long handle, String name, int[] attributes) throws IOException {
        super(attributes[CMD_FD], attributes[VECTORS]);
        this.handle = handle;
        this.name = name;
        this.attributes = attributes;
    }

    /** Makes the object for a context that lives at least as long. */
    static RdmaCoreDevice of(long handle) throws IOException {
        String name = Native.deviceName(handle);
        int[] attributes = new int[ELEMENTS];
        check(Native.deviceAttributes(handle, attributes), "ibv_query_device", name);
        check(Fds.nonBlocking(attributes[ASYNC_FD]), "fcntl", name + " async fd");
        return new RdmaCoreDevice(handle, name, attributes);
    }

    long handle() {
        if (!isOpen) {
            throw new IllegalStateException(name + " was removed or has failed");
        }
        return handle;
    }

    /**
     * Returns the completion vector whose turn it is. Vectors are interrupts, which the system spreads over its cores.
     * Channels take turns at them, and the queues of a channel, which belong to one connection, share one: if queues
     * took turns, receive queues would have only every second vector. Nor do devices share the turns: a connection's
     * device may be chosen in turn, too.
     */
    int nextVector() {
        return Math.floorMod(vectors.getAndIncrement(), Math.max(1, attributes[VECTORS]));
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
    public boolean queuesOutliveQp() {
        return queuesOutliveQp(attributes[VENDOR]);
    }

    static boolean queuesOutliveQp(int vendor) {
        return vendor != QLOGIC;
    }

    @Override
    public int mostInline() {
        return mostInline(attributes[VENDOR]);
    }

    static int mostInline(int vendor) {
        return vendor == MICROSOFT ? 0 : Integer.MAX_VALUE;
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
        int event = Native.asyncEvent(handle);
        if (event == -Errno.EAGAIN || event == -Errno.EINTR) {
            return -1;
        }
        if (event == -Errno.EIO) {
            // the kernel has cut this context off from its device; the descriptor stays readable for ever
            event = EVENT_DEVICE_FATAL;
        }
        return check(event, "ibv_get_async_event", name);
    }

    /** Claims the watch. Returns whether it was free; if so, the caller calls {@link #setWatch}. */
    boolean claimWatch() {
        return claimed.compareAndSet(false, true);
    }

    /**
     * Sets an id that is bound to this device, so that the connection manager reports its removal even if there is no
     * other id, and librdmacm does not close the context before {@link #detach}; null if there is none any more.
     */
    void setWatch(CmId id) {
        watch = id;
        claimed.set(id != null);
    }

    /**
     * Closes the kernel's side of the context. librdmacm would do that only when another device comes, if ever, and
     * drivers that cannot disassociate a process from a device wait for it during the removal.
     */
    @Override
    protected void detach() {
        synchronized (this) {
            isOpen = false;
        }
        int rc = Native.detachDevice(handle);
        if (rc < 0) {
            LOG.warn(
                    "cannot release RDMA device {}; its removal waits until this process ends: {}",
                    name,
                    Errno.describe(-rc));
        }
        CmId id = watch;
        if (id != null) {
            ((RdmaCoreCmChannel) id.getCmChannel()).watches.remove(id);
            try {
                id.destroyId();
            } catch (IOException e) {
                LOG.debug("destroying the id that watched {} failed", name, e);
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
