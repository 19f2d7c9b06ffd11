/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;

/**
 * An open device ({@code ibv_context}), found by resolving an address. librdmacm owns it. It stays open until the
 * device is removed from the host; a device that comes back under the same name is another object.
 */
public abstract class Device extends IbvContext {

    /** {@code IBV_EVENT_CQ_ERR}: a completion queue has overflowed or failed, and reports nothing any more. */
    public static final int EVENT_CQ_ERR = 0;
    /** {@code IBV_EVENT_QP_FATAL}: a queue pair has failed. */
    public static final int EVENT_QP_FATAL = 1;
    /** {@code IBV_EVENT_QP_REQ_ERR}: a queue pair has failed because of a request that it could not carry out. */
    public static final int EVENT_QP_REQ_ERR = 2;
    /** {@code IBV_EVENT_QP_ACCESS_ERR}: a queue pair has failed because of an access that is not allowed. */
    public static final int EVENT_QP_ACCESS_ERR = 3;
    /** {@code IBV_EVENT_DEVICE_FATAL}: the device was removed, or its driver has given it up. */
    public static final int EVENT_DEVICE_FATAL = 8;
    /** {@code IBV_EVENT_PORT_ACTIVE}. */
    public static final int EVENT_PORT_ACTIVE = 9;
    /** {@code IBV_EVENT_PORT_ERR}: the link went down. */
    public static final int EVENT_PORT_ERR = 10;
    /** {@code IBV_EVENT_GID_CHANGE}: with RoCE, the device has got or lost an address. */
    public static final int EVENT_GID_CHANGE = 18;

    private static final int TYPE_BITS = 7;
    private static final int NUMBER_MASK = 0xffffff; // a queue pair's number has as many bits

    private int users; // guarded by this
    private volatile boolean lost; // written under this object's lock

    protected Device(int cmdFd, int numCompVectors) throws IOException {
        super(cmdFd, numCompVectors);
    }

    /** Returns the kernel's name for the device, for example {@code rxe0}. */
    public abstract String name();

    /** Returns whether messages must travel as write + send because the transport is iWARP. */
    public abstract boolean isIwarp();

    /** Returns how many work requests a queue of this device can hold. */
    public abstract int maxQpWr();

    /** Returns how many entries a completion queue of this device can hold. */
    public abstract int maxCqe();

    /** Returns whether a completion queue may be polled after a queue pair that used it was destroyed. */
    public boolean queuesOutliveQp() {
        return true;
    }

    /** Returns how many bytes of payload inside a work request may be asked for; the device may still refuse them. */
    public int mostInline() {
        return Integer.MAX_VALUE;
    }

    /**
     * Returns the descriptor that becomes readable when the device has an asynchronous event. It is non-blocking and
     * owned by the device.
     */
    public abstract int asyncFd();

    /**
     * Takes and acknowledges one asynchronous event ({@code ibv_get_async_event}), without blocking.
     *
     * @return an event for {@link #eventType}, {@link #eventPort} and {@link #isOfQueue}, or -1 if there is none
     */
    public abstract int takeAsyncEvent() throws IOException;

    /**
     * Makes an event.
     *
     * @param number of a port or a queue pair, or the handle of a completion queue, by the type; 0 for other types
     */
    public static int event(int type, int number) {
        return type | (number & NUMBER_MASK) << TYPE_BITS;
    }

    /** Returns the {@code enum ibv_event_type} of an event. */
    public static int eventType(int event) {
        return event & (1 << TYPE_BITS) - 1;
    }

    /** Returns the number of the port that an event is about, from 1; 0 if it is about something else. */
    public static int eventPort(int event) {
        return isOfQueue(event) ? 0 : event >> TYPE_BITS;
    }

    /** Returns whether an event is about one queue that has failed, which {@code isSubjectOf} of the queue tells. */
    public static boolean isOfQueue(int event) {
        return eventType(event) <= EVENT_QP_ACCESS_ERR;
    }

    /**
     * Announces that something will be made on the device, for which {@link #release} will be called. Until then
     * {@link #detach} waits.
     *
     * @throws ErrnoException with ENODEV, if the device is lost
     */
    public final synchronized void retain() throws ErrnoException {
        if (lost) {
            throw new ErrnoException("use of a lost device", name(), Errno.ENODEV);
        }
        users++;
    }

    /** Records that what was made after {@link #retain} is freed. */
    public final void release() {
        synchronized (this) {
            users--;
            if (!lost || users > 0) {
                return;
            }
        }
        detach();
    }

    /** Records that the device is lost: removed from the host, or failed. Returns false if that was known before. */
    public final boolean lose() {
        synchronized (this) {
            if (lost) {
                return false;
            }
            lost = true;
            if (users > 0) {
                return true;
            }
        }
        detach();
        return true;
    }

    /** Returns whether the device is lost, as far as this process knows. */
    public final boolean isLost() {
        return lost;
    }

    /**
     * Called once, when the device is lost and nothing is left on it. A kernel whose driver cannot take a device
     * away from its users waits for this.
     */
    protected void detach() {}
}
