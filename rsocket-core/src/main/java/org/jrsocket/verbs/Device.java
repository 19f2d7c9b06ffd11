/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;

/**
 * An open device ({@code ibv_context}), found by resolving an address; librdmacm owns it and it stays open for the life
 * of the process.
 */
public abstract class Device extends IbvContext {

    protected Device(int cmdFd, int numCompVectors) throws IOException {
        super(cmdFd, numCompVectors);
    }

    /** The kernel's name of the device, for example {@code rxe0}. */
    public abstract String name();

    /** Whether messages must travel as write + send because the transport is iWARP. */
    public abstract boolean isIwarp();

    /** Work requests that a queue of this device can hold. */
    public abstract int maxQpWr();

    /** Entries that a completion queue of this device can hold. */
    public abstract int maxCqe();

    /**
     * The descriptor that becomes readable when the device has an asynchronous event; non-blocking; owned by the
     * device.
     */
    public abstract int asyncFd();

    /**
     * Takes and acknowledges one asynchronous event ({@code ibv_get_async_event}), without blocking.
     *
     * @return {@code enum ibv_event_type}, or -1 if there is none
     */
    public abstract int takeAsyncEvent() throws IOException;

    /** {@code IBV_EVENT_DEVICE_FATAL}: the device is gone. */
    public static final int EVENT_DEVICE_FATAL = 8;
    /** {@code IBV_EVENT_PORT_ACTIVE}. */
    public static final int EVENT_PORT_ACTIVE = 9;
    /** {@code IBV_EVENT_PORT_ERR}: the link went down. */
    public static final int EVENT_PORT_ERR = 10;
}
