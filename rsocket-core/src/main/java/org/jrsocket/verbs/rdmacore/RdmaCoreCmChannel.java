/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;

/** An {@code rdma_event_channel}, non-blocking. */
final class RdmaCoreCmChannel extends CmChannel {

    // Offsets in struct event of cm.c, which asserts them.
    private static final int TYPE = 0;
    private static final int STATUS = 4;
    private static final int COOKIE = 8;
    private static final int LISTENER_COOKIE = 16;
    private static final int NEW_ID = 24;
    private static final int DEVICE = 32;
    private static final int PORT = 40;
    private static final int RESPONDER_RESOURCES = 44;
    private static final int INITIATOR_DEPTH = 45;
    private static final int FLOW_CONTROL = 46;
    private static final int RETRIES = 47;
    private static final int RNR_RETRIES = 48;
    private static final int DATA_LENGTH = 49;
    private static final int DATA = 50;
    private static final int SIZE = 312;

    private static final int CONNECT_REQUEST = EventType.RDMA_CM_EVENT_CONNECT_REQUEST.ordinal();

    private final NativeMemory memory = NativeMemory.allocate(SIZE);
    private final AtomicInteger ids = new AtomicInteger();
    private final Object births = new Object(); // held while an id is created; taken after this
    private long channel; // written with both locks held; 0 once destroyed
    // In case memory is short; guarded by this:
    private boolean unread; // whether the event that the native code copied is still to be read
    private Taken again; // an event that could not be handled
    /** Ids of this channel, each of which watches the device that it is bound to. */
    final Queue<CmId> watches = new ConcurrentLinkedQueue<>();

    private RdmaCoreCmChannel(long channel, int fd) throws IOException {
        super(fd);
        this.channel = channel;
    }

    static RdmaCoreCmChannel create() throws IOException {
        long channel = check(Native.createChannel(), "rdma_create_event_channel", "");
        try {
            int fd = Native.channelFd(channel);
            check(Fds.nonBlocking(fd), "fcntl", "event channel");
            return new RdmaCoreCmChannel(channel, fd);
        } catch (Throwable e) {
            Native.destroyChannel(channel);
            throw e;
        }
    }

    /** An event as the native code copied it. */
    record Taken(
            int type,
            int status,
            long cookie,
            long listenerCookie,
            long newId,
            long device,
            int port,
            ConnParam param) {}

    /**
     * Takes an event; returns null if there is none.
     *
     * @param cookie for the new id, if the event is a connection request
     */
    synchronized Taken next(long cookie) throws IOException {
        Taken before = again;
        if (before != null) {
            again = null;
            return before;
        }
        if (!unread) {
            int rc = Native.nextEvent(handle(), memory.address(), cookie);
            if (rc == -Errno.EAGAIN) {
                return null;
            }
            if (rc < 0) { // the text is built only on failure
                check(rc, "rdma_get_cm_event", "event channel, fd " + getFd());
            }
            unread = true; // until all of it could be allocated
        }
        ByteBuffer event = memory.buffer();
        byte[] data = new byte[event.get(DATA_LENGTH) & 0xff];
        event.get(DATA, data);
        ConnParam param = new ConnParam()
                .depths(event.get(RESPONDER_RESOURCES), event.get(INITIATOR_DEPTH))
                .flowControl(event.get(FLOW_CONTROL) != 0)
                .retries(event.get(RETRIES), event.get(RNR_RETRIES))
                .privateData(data);
        Taken taken = new Taken(
                event.getInt(TYPE),
                event.getInt(STATUS),
                event.getLong(COOKIE),
                event.getLong(LISTENER_COOKIE),
                event.getLong(NEW_ID),
                event.getLong(DEVICE),
                event.getInt(PORT),
                param);
        unread = false;
        return taken;
    }

    /** Makes {@link #next} return this event once more. */
    synchronized void takeAgain(Taken taken) {
        again = taken;
    }

    /** Does not wait for {@link #next}, in which librdmacm opens a device that it has not met before. */
    long createId(long cookie, int portSpace) throws IOException {
        synchronized (births) {
            long id = Native.createId(handle(), cookie, portSpace);
            if (id <= 0) { // the text is built only on failure
                check(id, "rdma_create_id", "port space 0x" + Integer.toHexString(portSpace));
            }
            ids.incrementAndGet();
            return id;
        }
    }

    /** Counts an id that came with a connection request. */
    void idBorn() {
        ids.incrementAndGet();
    }

    void idDestroyed() {
        ids.decrementAndGet();
    }

    private long handle() {
        if (channel == 0) {
            throw new IllegalStateException("event channel was destroyed");
        }
        return channel;
    }

    synchronized void destroy() throws IOException {
        if (channel == 0) {
            return;
        }
        synchronized (births) {
            int left = ids.get();
            if (left > 0) { // their C objects point to this one
                throw new ErrnoException("rdma_destroy_event_channel", left + " ids left", Errno.EBUSY);
            }
            if (unread && memory.buffer().getInt(TYPE) == CONNECT_REQUEST) {
                Native.destroyId(memory.buffer().getLong(NEW_ID));
            }
            Native.destroyChannel(channel);
            channel = 0;
        }
        isOpen = false;
        memory.free();
    }
}
