/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.WcBatch;

/**
 * The faults that a test asks for. Safe for use by any thread; each takes effect at once.
 *
 * <p>A message of the CM that is dropped is lost for good, with all the retries that a real CM makes: the end that
 * waits for it gives up after {@link LoopbackConfig#cmTimeoutMillis}, or at {@link LoopbackProvider#expireTimeouts()}.
 * A message that is to be merely late is delayed.
 */
public final class Faults {

    private static final int NEVER = Integer.MAX_VALUE;

    private final LoopbackProvider provider;
    private final Map<CmMessage, Integer> drops = new EnumMap<>(CmMessage.class); // guarded by this
    private final Map<CmMessage, Long> delays = new EnumMap<>(CmMessage.class); // guarded by this
    private int rejects; // guarded by this
    private int rejectReason; // guarded by this
    private final AtomicInteger untilBreak = new AtomicInteger(NEVER);
    private volatile Consumer<Device> beforeReady = device -> {};
    private volatile Consumer<Device> beforeSend; // null: nothing, which costs a send nothing
    private volatile int breakStatus;
    private volatile boolean holdAcks;

    Faults(LoopbackProvider provider) {
        this.provider = provider;
    }

    /** Refuses the next {@code count} connection requests with {@code reason}, although there is a listener. */
    public synchronized void rejectConnects(int count, int reason) {
        rejects = count;
        rejectReason = reason;
    }

    /** Loses the next {@code count} messages of a kind; {@code Integer.MAX_VALUE} for all, 0 for no more. */
    public synchronized void drop(CmMessage message, int count) {
        drops.put(message, count);
    }

    /** Lets all messages of a kind arrive late, until set to 0 again. */
    public synchronized void delay(CmMessage message, long millis) {
        delays.put(message, millis);
    }

    /**
     * Lets {@code count} more messages arrive, over all connections; the one after them fails with RETRY_EXCEEDED, and
     * its sender's queue pair goes to error, as when the path breaks. Its peer notices nothing by itself.
     */
    public void breakAfter(int count) {
        breakAfter(count, WcBatch.RETRY_EXCEEDED);
    }

    /** Does the same with another completion status: LOCAL_QP_OPERATION is what soft-RoCE reports without a link. */
    public void breakAfter(int count, int status) {
        breakStatus = status;
        untilBreak.set(count);
    }

    /**
     * Holds acknowledgements back: while set, messages arrive, but their senders get no completions.
     * {@link #releaseAcks()} gives them what is due. A queue pair that goes to error in that time flushes requests that
     * have arrived, as a real one does when the ACK is lost.
     */
    public void holdAcks(boolean hold) {
        holdAcks = hold;
        if (!hold) {
            releaseAcks();
        }
    }

    /** Completes what has arrived so far. */
    public void releaseAcks() {
        provider.qps().forEach(LoopbackQp::releaseAcks);
    }

    /**
     * Lets one end die silently, like a host that has lost power: it sends and answers nothing, it gets no events, and
     * nothing completes. Its calls still return. Destroying its objects works, silently.
     */
    public void kill(LoopbackId id) {
        provider.fabric().kill(id);
    }

    /** Kills all ids of the accepting side (including listeners), or all of the connecting side, that live now. */
    public void killAll(boolean accepting) {
        for (LoopbackId id : provider.ids()) {
            if (id.isActive() != accepting) {
                kill(id);
            }
        }
    }

    /**
     * Moves one queue pair to error as the device itself does when it fails; its owner learns of it from the flushed
     * completions.
     */
    public void breakQp(LoopbackQp qp) {
        qp.fail();
    }

    /**
     * Unplugs the device: its ids get DEVICE_REMOVAL, its asynchronous channel gets DEVICE_FATAL, its queue pairs go to
     * error, and it makes nothing new.
     */
    public void removeDevice(LoopbackDevice device) {
        provider.fabric().removeDevice(device);
    }

    /**
     * Runs {@code action}, which may wait as for a device that hangs, before each queue pair is made ready to receive
     * and send: its id connects, or accepts.
     */
    public void beforeReady(Consumer<Device> action) {
        beforeReady = action;
    }

    /** Runs {@code action} before anything is posted to a send queue, in the thread that does it. */
    public void beforeSend(Consumer<Device> action) {
        beforeSend = action;
    }

    /** Raises an asynchronous event, made with {@link org.jrsocket.verbs.Device#event}. */
    public void asyncEvent(LoopbackDevice device, int event) {
        device.raise(event);
    }

    /** Sends an id the event that the kernel sends when a bond of interfaces switches over ({@code ADDR_CHANGE}). */
    public void changeAddress(LoopbackId id) {
        provider.fabric().changeAddress(id);
    }

    // What the provider asks.

    void awaitReady(LoopbackDevice device) {
        beforeReady.accept(device);
    }

    void awaitSend(LoopbackDevice device) {
        Consumer<Device> action = beforeSend;
        if (action != null) {
            action.accept(device);
        }
    }

    synchronized boolean takeDrop(CmMessage message) {
        int left = drops.getOrDefault(message, 0);
        if (left > 0 && left != Integer.MAX_VALUE) {
            drops.put(message, left - 1);
        }
        return left > 0;
    }

    synchronized long delay(CmMessage message) {
        return delays.getOrDefault(message, 0L);
    }

    /** Returns the reason to reject the next request with, or 0. */
    synchronized int takeReject() {
        if (rejects == 0) {
            return 0;
        }
        rejects--;
        return rejectReason;
    }

    /** Returns the status with which a message that breaks fails. */
    int breakStatus() {
        return breakStatus;
    }

    boolean breaksNow() {
        if (untilBreak.get() == NEVER) {
            return false;
        }
        int left = untilBreak.getAndDecrement();
        if (left <= 0) {
            untilBreak.set(NEVER);
        }
        return left == 0;
    }

    boolean holdsAcks() {
        return holdAcks;
    }
}
