/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jrsocket.os.Epoll;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the reader and the writer of a stream wait: they poll for a while, then arm the completion queues and sleep.
 *
 * <p>No wake-up is lost, by three rules. A sleeper first shows itself, then arms, then polls once more, and only then
 * sleeps. Whoever handles completions looks for a sleeper whose wait is over, after the fact. Whoever takes an event
 * from the channel, which unarms the queue for everybody, wakes the other sleeper, which arms again for itself, and
 * tells the service thread if that waits for the stream.
 */
final class StreamWaiter {

    private static final Logger LOG = LoggerFactory.getLogger(StreamWaiter.class);

    /** One crossing's worth of polling; the receive lock is held that long. */
    private static final long SLICE_NANOS = 10_000;
    /** Acknowledging takes a mutex: done for so many events at a time. */
    private static final int ACK_BATCH = 64;

    private final RdmaStream stream;
    private final ConnectionHandles endpoint;
    private final SendSide send;
    private final ReceiveSide receive;
    private final ServiceThread service;

    private volatile Sleeper reader;
    private volatile Sleeper writer;
    private volatile RdmaStream.Observer observer;
    private final SpinBudget readerSpin; // the reader's own
    private final SpinBudget writerSpin; // the writer's own

    private final Object eventLock = new Object();
    // Guarded by eventLock; the flags are volatile so that an armed queue is seen without it.
    private volatile boolean receiveArmed;
    private volatile boolean sendArmed;
    private int receiveEvents;
    private int sendEvents;
    private boolean freed;
    private ServiceLoop.Watch watch;

    StreamWaiter(
            RdmaStream stream, ConnectionHandles endpoint, SendSide send, ReceiveSide receive, ServiceThread service) {
        this.stream = stream;
        this.endpoint = endpoint;
        this.send = send;
        this.receive = receive;
        this.service = service;
        this.readerSpin = new SpinBudget(endpoint.config.spinNanos());
        this.writerSpin = new SpinBudget(endpoint.config.spinNanos());
    }

    /**
     * Waits until the reader (or the writer) should look again.
     *
     * @param nanos 0 waits for ever
     * @return false when the time is over
     */
    boolean await(boolean reading, long nanos) throws IOException {
        receive.tryPoll();
        if (!reading || send.isDeferred()) {
            send.pollAndFlush();
        }
        if (isReady(reading)) {
            return true;
        }
        long start = System.nanoTime();
        SpinBudget budget = reading ? readerSpin : writerSpin;
        long spin = budget.begin(nanos);
        try {
            boolean useful = false;
            if (spin > 0) {
                try {
                    useful = spin(reading, start, spin);
                } finally {
                    budget.end();
                }
            }
            return useful || sleep(reading, start, nanos);
        } finally {
            budget.waited(System.nanoTime() - start);
        }
    }

    private boolean spin(boolean reading, long start, long spin) {
        long slice = Math.min(SLICE_NANOS, spin);
        long yield = start + slice;
        for (; ; ) {
            if (!reading || send.isDeferred()) {
                send.pollAndFlush();
                receive.tryPoll();
                Thread.onSpinWait();
            } else {
                receive.trySpin(slice);
            }
            if (isReady(reading)) {
                return true;
            }
            long now = System.nanoTime();
            if (now - start >= spin) {
                return false;
            }
            if (now - yield >= 0) { // whoever else wants this CPU, perhaps the very one we wait for, gets it
                Thread.yield();
                yield = now + slice;
            }
        }
    }

    private boolean isReady(boolean reading) {
        return reading ? stream.isReadable() : stream.isWritable();
    }

    private boolean sleep(boolean reading, long start, long nanos) throws IOException {
        Sleeper me = Sleeper.acquire();
        try {
            if (reading) {
                reader = me;
            } else {
                writer = me;
            }
            for (; ; ) {
                armAndPoll(reading);
                if (isReady(reading)) {
                    return true;
                }
                long left = -1;
                if (nanos > 0) {
                    left = nanos - (System.nanoTime() - start);
                    if (left <= 0) {
                        return false;
                    }
                }
                if (me.isVirtual()) {
                    watch();
                }
                me.sleep(endpoint.channel.getFd(), left);
                takeEvents(me);
            }
        } finally {
            if (reading) {
                reader = null;
            } else {
                writer = null;
            }
            me.release();
        }
    }

    /** A reader needs the send queue only while something it should see out is stuck there. */
    void armAndPoll(boolean reading) {
        if (receiveArmed) {
            receive.poll();
        } else {
            receiveArmed = true;
            receive.armAndPoll();
        }
        if (!reading || send.isDeferred()) {
            boolean arm = !sendArmed;
            sendArmed = true;
            send.armAndPoll(arm);
        }
    }

    /** For the service thread: as both a reader and a writer. */
    void armAndPollBoth() {
        takeEvents(null);
        armAndPoll(false);
    }

    /** Takes the channel's events, which unarms the queues they came from, and wakes the sleepers but {@code me}. */
    private void takeEvents(Sleeper me) {
        boolean any = false;
        synchronized (eventLock) {
            if (freed) {
                return;
            }
            for (int cookie = endpoint.channel.takeEvent(); cookie >= 0; cookie = endpoint.channel.takeEvent()) {
                any = true;
                if (cookie == ConnectionResources.RECV_COOKIE) {
                    receiveArmed = false;
                    receiveEvents++;
                } else {
                    sendArmed = false;
                    sendEvents++;
                }
            }
            if (receiveEvents + sendEvents >= ACK_BATCH) {
                acknowledge();
            }
        }
        if (any) {
            wake(reader, me);
            wake(writer, me);
            boolean onService = service.isCurrent();
            if (me != null || onService) {
                RdmaStream.Observer o = observer; // a selector that takes events tells the others itself
                if (o != null) {
                    o.onEventsTaken();
                }
            }
            if (!onService) {
                // a selector may not arm again for long, and a reader does not arm the send queue for others
                stream.eventsTaken();
            }
        }
    }

    /** For a selector: it is the one who looks next. */
    void takeEvents() {
        takeEvents(null);
    }

    void observe(RdmaStream.Observer newObserver) {
        observer = newObserver;
    }

    private void notifyObserver() {
        RdmaStream.Observer o = observer;
        if (o != null) {
            o.onProgress();
        }
    }

    private void acknowledge() {
        try {
            if (receiveEvents > 0) {
                endpoint.recvCq.ackEvents(receiveEvents);
            }
            if (sendEvents > 0) {
                endpoint.sendCq.ackEvents(sendEvents);
            }
        } catch (IOException e) {
            LOG.warn("acknowledging completion events on {} failed", endpoint.device.name(), e);
        }
        receiveEvents = 0;
        sendEvents = 0;
    }

    /** Wakes the sleepers whose wait is over; after completions were handled, by whoever handled them. */
    void progressed() {
        Sleeper r = reader;
        if (r != null && !r.isMine() && stream.isReadable()) {
            r.wake();
        }
        Sleeper w = writer;
        if (w != null && !w.isMine() && stream.isWritable()) {
            w.wake();
        }
        notifyObserver();
    }

    void wakeAll() {
        wake(reader, null);
        wake(writer, null);
        notifyObserver();
    }

    private static void wake(Sleeper sleeper, Sleeper me) {
        if (sleeper != null && sleeper != me) {
            sleeper.wake();
        }
    }

    /** Has the service thread watch the channel, for one event. Any thread. */
    void watch() {
        synchronized (eventLock) {
            if (freed) {
                return;
            }
            try {
                if (watch == null) {
                    watch = service.watch(endpoint.channel.getFd(), this::onReadable);
                }
                watch.arm();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Under the lock that comes before the descriptor is closed: else its number might be another's by now. */
    boolean watchedBy(Epoll set, long data) throws IOException {
        synchronized (eventLock) {
            if (!freed) {
                set.add(endpoint.channel.getFd(), Epoll.IN, data);
            }
            return !freed;
        }
    }

    private void onReadable() {
        takeEvents(null);
        // Whoever had the channel watched must have it watched again, also when somebody else took the event: wake them
        // in any case.
        wake(reader, null);
        wake(writer, null);
        stream.onWatched();
    }

    void stopWatching() {
        synchronized (eventLock) {
            if (watch != null) {
                watch.cancel();
                watch = null;
            }
        }
    }

    /** With both locks of the stream; nobody sleeps any more. */
    void free() {
        synchronized (eventLock) {
            freed = true;
            if (watch != null) {
                watch.cancel();
            }
            acknowledge();
        }
    }
}
