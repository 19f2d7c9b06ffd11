/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

/**
 * The native methods that need rdma-core. They are implemented in {@code src/main/native/rdma}, one C file per concept,
 * and registered in {@code JNI_OnLoad}. Results that can fail are a negative errno; nothing here throws, and nothing on
 * the data path sleeps in the kernel, allocates or calls back. Handles are addresses of the C objects and are not
 * checked: their owners, the {@code RdmaCore} classes, must keep them alive. Call only after
 * {@code RdmaCoreLibrary.require}.
 */
final class Native {

    /**
     * Raised with every change of a signature or a struct layout. The library's number, which is checked when it is
     * loaded, must be the same.
     */
    static final int ABI = 10;

    private Native() {}

    // device.c

    /** Returns a new handle, for {@link #closeDevice}; -ENODEV if no device of that name has a user-space driver. */
    static native long openDevice(String name);

    static native int closeDevice(long device);

    static native String deviceName(long device);

    /** Returns null if the device does not answer. */
    static native String deviceFirmware(long device);

    /** Fills in the elements that {@code RdmaCoreDevice} names. */
    static native int deviceAttributes(long device, int[] out);

    /** Fills in the state, 1 for Ethernet, the MTU in bytes and the size of the GID table. */
    static native int portAttributes(long device, int port, int[] out);

    static native String portState(int state);

    static native int portGid(long device, int port, int index, byte[] out);

    /** Takes and acknowledges an event. Returns it as {@code Device.event} does, or -EAGAIN for none. */
    static native int asyncEvent(long device);

    /** Closes the kernel's side of a context, which stays allocated: whatever is done with it afterwards fails. */
    static native int detachDevice(long device);

    // cm.c

    static native long createChannel();

    static native int channelFd(long channel);

    static native void destroyChannel(long channel);

    static native long createId(long channel, long cookie, int portSpace);

    /** Destroys an id. Waits until events of the id that were taken elsewhere are acknowledged. */
    static native int destroyId(long id);

    /** Addresses are the bytes of a {@code sockaddr_in} or {@code sockaddr_in6}. */
    static native int bindAddress(long id, byte[] address);

    static native int listen(long id, int backlog);

    /** The source may be null. */
    static native int resolveAddress(long id, byte[] source, byte[] destination, int millis);

    static native int resolveRoute(long id, int millis);

    /**
     * Makes a queue pair for an id, which does not keep it. {@code io} has send and receive requests, send and receive
     * scatter entries and inline bytes, and on return also the number and the kernel handle.
     */
    static native long createQp(long id, long pd, long sendCq, long recvCq, int type, boolean signalAll, int[] io);

    /** The queue pair may be 0, here and in the next ones. */
    static native int connect(
            long id,
            long qp,
            int responderResources,
            int initiatorDepth,
            int flowControl,
            int retries,
            int rnrRetries,
            byte[] privateData);

    /** Makes the queue pair ready to receive and to send, once the peer has answered. */
    static native int prepareQp(long id, long qp);

    /** Tells the peer that has answered that the connection is there. */
    static native int establish(long id);

    static native int accept(
            long id,
            long qp,
            int responderResources,
            int initiatorDepth,
            int flowControl,
            int retries,
            int rnrRetries,
            byte[] privateData);

    static native int reject(long id, byte[] privateData);

    /** Treats the peer of an answered request as connected without its RTU. */
    static native int confirm(long id);

    static native int disconnect(long id, long qp);

    /** Writes the local or the peer's address and returns its length; 0 while it is not known. */
    static native int idAddress(long id, boolean local, byte[] out);

    /** Returns 0 while the id has no device. */
    static native long idDevice(long id);

    static native int idPort(long id);

    static native int setOption(long id, int option, int value);

    /**
     * Takes one event into the struct at {@code address}; {@code cookie} is for the new id if the event is a connection
     * request.
     */
    static native int nextEvent(long channel, long address, long cookie);

    // verbs.c

    static native long allocPd(long device);

    static native int deallocPd(long pd);

    /** Registers memory. {@code out} gets the lkey, the rkey and the kernel handle. */
    static native long regMr(long pd, long address, long length, int access, int[] out);

    static native int deregMr(long mr);

    static native long createCompChannel(long device);

    static native int compChannelFd(long channel);

    static native int destroyCompChannel(long channel);

    /** Makes a completion queue. {@code out} gets its entries and the kernel handle. */
    static native long createCq(long device, long channel, int entries, int vector, int cookie, int[] out);

    static native int destroyCq(long cq);

    /** Takes and acknowledges an event. Returns the cookie of its queue, or -1 if there is none. */
    static native int takeCqEvent(long channel);

    static native int destroyQp(long qp);

    static native int qpToError(long qp);

    static native int qpMinRnrTimer(long qp, int code);

    /** Returns the ACK timeout in the low eight bits and the RNR timer in the next. */
    static native int qpTimers(long qp);

    // datapath.c: the posts return how many were posted and, in the upper half, the errno that stopped them

    static native long postSend(long qp, long batch, int count);

    static native long postRecv(long qp, long batch, int count);

    static native long postReceives(long qp, int count);

    static native long postReceives(long qp, int count, long address, int length, int lkey);

    static native int pollCq(long cq, long batch, int capacity);

    /** Returns whether the next poll takes something or fails. */
    static native boolean spinCq(long cq, long nanos);

    /** Returns how many queues have something. {@code queues} are handles; {@code found} has room for as many ints. */
    static native int spinCqs(long queues, int count, long found, long nanos);

    static native int armCq(long cq);
}
