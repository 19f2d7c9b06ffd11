/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.jfr.Events;
import org.jrsocket.os.Epoll;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.ConnData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection. One reader and one writer at a time may be inside it together, full duplex; shutdown and close may
 * come from any thread and end the waits of the others. Times are in nanoseconds and 0 means "for ever".
 *
 * <p>Failures show as TCP's do to {@code java.net}: {@link SocketException} "Connection reset", "Broken pipe" and
 * "Socket closed", {@link SocketTimeoutException} "Read timed out". A virtual thread that is interrupted in a wait gets
 * {@link java.io.InterruptedIOException} with its interrupt status set; a platform thread is not disturbed by
 * interrupts.
 *
 * <p>Life: open; <em>closed</em> by {@link #close}, which sends DISCONNECT, or leaves that and what comes before it to
 * the service thread; <em>freed</em>, when the native objects are gone. Nothing is freed while a reader or writer is
 * inside, and all use of native objects is under the send or the receive lock, both of which the one who frees holds.
 */
public final class RdmaStream implements AutoCloseable, CmHandler {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaStream.class);

    /** How long a closed stream may take to deliver what was written, while its peer lives but does not read. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** How long an aborted stream tries to tell its peer. */
    private static final long ABORT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final RdmaTransport transport;
    private final ConnectionHandles endpoint;
    private final SendSide send;
    private final ReceiveSide receive;
    private final StreamWaiter waits;
    private final KeepAlive keepAlive;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final boolean resetUnderstood;
    private final long openedNanos = System.nanoTime();

    private final AtomicBoolean readerInside = new AtomicBoolean();
    private final AtomicBoolean writerInside = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicBoolean flusherHasIt = new AtomicBoolean();
    // on its way to being freed: by a close, or because the peer broke the protocol
    private final AtomicBoolean releasing = new AtomicBoolean();
    private final CountDownLatch drained = new CountDownLatch(1);

    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private volatile boolean peerGone; // it said DISCONNECT, or its CM did: what we send reaches nobody
    private volatile SocketException failure; // set once, under this
    private volatile boolean failedAfterEnd;
    private volatile boolean dropped; // data that was written, or that was not read, by a close
    private volatile String failedWith; // before it was closed: what the closed event says
    private volatile boolean protocolBroken;
    private volatile boolean freed; // set with both locks held

    // Service thread.
    private long closeDeadline; // 0 unless a close is under way there
    private long closeBegan;
    private long postedBeforeClose;
    private final FloodBudget flood = new FloodBudget();

    private volatile boolean resetting; // DISCONNECT waits for nothing that was written
    private volatile boolean watchesDeferred; // written by the service thread

    /** The flusher's own. */
    RdmaStream nextDeferred;

    int deferredRounds;
    private long deferredWritten;

    ConnectionHandles endpoint() {
        return endpoint;
    }

    /** Takes over {@code endpoint}, which is connected. */
    RdmaStream(
            RdmaTransport transport,
            ConnectionHandles endpoint,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote) {
        this.transport = transport;
        this.endpoint = endpoint;
        this.local = local;
        this.remote = remote;
        this.resetUnderstood = peer.hasFeature(ConnData.FEATURE_RESET);
        this.send = new SendSide(this, endpoint, peer);
        this.receive = new ReceiveSide(this, endpoint, send);
        this.waits = new StreamWaiter(this, endpoint, send, receive, transport.serviceThread());
        this.keepAlive = new KeepAlive(transport.service(), send::probe);
        endpoint.id.attach(this);
        send.flush(); // grants the second half at once: a C sender's first burst need not end after the first
    }

    // ---- reading ----

    /**
     * Reads at least one byte, waiting up to {@code nanos}; -1 at the end of the stream, 0 only if {@code length} is 0.
     */
    public int read(byte[] target, int offset, int length, long nanos) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        enterReader();
        try {
            if (length == 0) {
                return 0;
            }
            do {
                int n = inputShut ? 0 : receive.take(target, offset, length);
                if (n != 0) {
                    return n;
                }
                if (isInputOver()) {
                    return -1;
                }
            } while (waits.await(true, nanos));
            throw new SocketTimeoutException("Read timed out");
        } finally {
            leaveReader();
        }
    }

    /** Reads what is there, without waiting: 0 if nothing is, -1 at the end of the stream. */
    public int read(ByteBuffer target) throws IOException {
        return readNow(target, true);
    }

    /** Copies what is there without consuming it: as {@link #read(ByteBuffer)}. */
    public int peek(ByteBuffer target) throws IOException {
        return readNow(target, false);
    }

    private int readNow(ByteBuffer target, boolean consume) throws IOException {
        enterReader();
        try {
            if (!target.hasRemaining()) {
                return 0;
            }
            if (receive.available() == 0) {
                receive.tryPoll();
            }
            int n = inputShut ? 0 : consume ? receive.take(target) : receive.peek(target);
            return n != 0 ? n : isInputOver() ? -1 : 0;
        } finally {
            leaveReader();
        }
    }

    /**
     * For a reader that found nothing: whether nothing will come any more. All data before the end, or before a
     * failure, is delivered first.
     */
    private boolean isInputOver() throws SocketException {
        if (inputShut) {
            return true;
        }
        boolean ended = receive.isEnded();
        SocketException failed = failure;
        if (closed.get()) {
            throw new SocketException("Socket closed");
        }
        if (!ended && failed == null || receive.available() > 0) {
            return false; // what arrived before the end was seen comes first
        }
        if (failed == null || failedAfterEnd) {
            return ended;
        }
        receive.poll(); // whoever saw it fail was perhaps a writer, and what had arrived is in the queue still
        if (receive.available() == 0) {
            throw again(failed, "Connection reset");
        }
        return false;
    }

    private static SocketException again(SocketException first, String message) {
        SocketException e = new SocketException(message);
        e.initCause(first);
        return e;
    }

    /** Bytes that can be read without waiting. */
    public int available() throws IOException {
        if (closed.get()) {
            throw new SocketException("Socket closed");
        }
        if (inputShut) {
            return 0;
        }
        if (receive.available() == 0) {
            receive.tryPoll();
        }
        return receive.available();
    }

    /** Waits until a read would not wait (data, end, error); false when the time is over. Counts as the reader. */
    public boolean awaitReadable(long nanos) throws IOException {
        enterReader();
        try {
            return waits.await(true, nanos);
        } finally {
            leaveReader();
        }
    }

    // ---- writing ----

    /** Writes all of it, waiting for room up to {@code nanos} at a time. */
    public void write(byte[] source, int offset, int length, long nanos) throws IOException {
        Objects.checkFromIndexSize(offset, length, source.length);
        enterWriter();
        try {
            int end = offset + length;
            int at = offset;
            while (at < end) {
                checkWritable();
                int n = send.put(source, at, end - at);
                if (n > 0) {
                    at += n;
                    flushWritten(n);
                } else if (!waits.await(false, nanos)) {
                    throw new SocketTimeoutException("Write timed out");
                }
            }
        } finally {
            leaveWriter();
        }
    }

    /** Writes what there is room for, without waiting; may be 0. */
    public int write(ByteBuffer source) throws IOException {
        enterWriter();
        try {
            checkWritable();
            int sum = 0;
            while (source.hasRemaining()) {
                int n = send.put(source);
                if (n == 0) {
                    send.pollAndFlush();
                    receive.tryPoll();
                    n = send.put(source);
                    if (n == 0) {
                        break;
                    }
                }
                sum += n;
                flushWritten(n);
            }
            return sum;
        } finally {
            leaveWriter();
        }
    }

    /** As {@link #write(ByteBuffer)}, from several buffers in turn: what small ones hold goes out together. */
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        enterWriter();
        try {
            checkWritable();
            long sum = 0;
            int unsent = 0;
            for (int i = offset; i < offset + length; ) {
                int n = send.put(sources[i]);
                sum += n;
                unsent += n;
                boolean full = n == 0 && sources[i].hasRemaining();
                if (unsent >= SendSide.BULK || full && unsent > 0) {
                    flushWritten(unsent);
                    unsent = 0;
                } else if (full) {
                    send.pollAndFlush();
                    receive.tryPoll();
                    if (send.room() == 0) {
                        break;
                    }
                }
                if (!sources[i].hasRemaining()) {
                    i++;
                }
            }
            if (unsent > 0) {
                flushWritten(unsent);
            }
            return sum;
        } finally {
            leaveWriter();
        }
    }

    /**
     * Out of the peer's room, looks whether more of it came meanwhile: otherwise the next bytes would wait until the
     * ring is full, or for the flusher.
     */
    private void flushWritten(int n) {
        send.flushWritten(n);
        if (send.isStarved()) {
            receive.tryPoll();
        }
    }

    private void checkWritable() throws SocketException {
        if (closed.get()) {
            throw new SocketException("Socket closed");
        }
        SocketException failed = failure;
        if (failed != null) {
            throw again(failed, peerGone ? "Broken pipe" : "Connection reset");
        }
        if (outputShut || peerGone) {
            throw new SocketException("Broken pipe");
        }
    }

    /** Waits until a write would take something or fail; false when the time is over. Counts as the writer. */
    public boolean awaitWritable(long nanos) throws IOException {
        enterWriter();
        try {
            return waits.await(false, nanos);
        } finally {
            leaveWriter();
        }
    }

    // ---- who is inside ----

    private void enterReader() throws SocketException {
        enter(readerInside, "reader");
    }

    private void enterWriter() throws SocketException {
        enter(writerInside, "writer");
    }

    private void enter(AtomicBoolean inside, String role) throws SocketException {
        if (!inside.compareAndSet(false, true)) {
            throw new IllegalStateException("a second " + role + " in one stream; callers take turns");
        }
        // checked after entering: whoever frees looks at `inside` after it set these
        if (closed.get() || releasing.get()) {
            inside.set(false);
            SocketException failed = failure;
            throw closed.get() ? new SocketException("Socket closed") : again(failed, "Connection reset");
        }
    }

    private void leaveReader() {
        readerInside.set(false);
        if (inputShut) { // checked after leaving: shutdownInput() looks at `inside` after it was set
            discardInput();
        }
    }

    private void leaveWriter() {
        writerInside.set(false);
        if (send.isDeferred()) { // checked after leaving: deferred() looks at `inside` after it was set
            deferred();
        }
    }

    // ---- half close ----

    /** No more reads: readers get -1, what arrives later is dropped. */
    public void shutdownInput() throws IOException {
        if (closed.get()) {
            throw new SocketException("Socket closed");
        }
        inputShut = true;
        waits.wakeAll();
        discardInput();
    }

    /** Unless a reader is inside, who does it when leaving. */
    private void discardInput() {
        receive.lock.lock();
        try {
            if (!freed && discardsInput()) {
                receive.discard();
            }
        } finally {
            receive.lock.unlock();
        }
    }

    /** Whether what arrives now has no reader; asked by the receiver, with its lock. */
    boolean discardsInput() {
        return inputShut && !readerInside.get();
    }

    /** Sends what was written, then the end of the stream. Does not wait for it. */
    public void shutdownOutput() throws IOException {
        if (closed.get()) {
            throw new SocketException("Socket closed");
        }
        outputShut = true;
        waits.wakeAll();
        send.shutdown();
    }

    // ---- closing ----

    /**
     * Closes without waiting: what was written is still delivered in the background, within a time limit. Waiters get
     * "Socket closed". Closing with unread data resets the connection, as TCP does.
     */
    @Override
    public void close() {
        close(false);
    }

    /** Closes at once and resets: unsent data is dropped, the peer's reads and writes fail (SO_LINGER 0). */
    public void abort() {
        close(true);
    }

    private void close(boolean hard) {
        if (!freed) {
            receive.tryPoll(); // unread data may still sit in the queue
        }
        boolean first = closed.compareAndSet(false, true);
        if (!first && !hard) {
            return;
        }
        keepAlive.end();
        waits.wakeAll();
        boolean unread = first && !inputShut && receive.available() > 0;
        dropped |= hard || unread;
        resetting |= hard;
        send.disconnect(hard, hard || unread);
        if (!closeAtOnce()) {
            transport.service().execute(() -> startClose(hard ? ABORT_NANOS : CLOSE_NANOS));
        }
    }

    /**
     * Most closes have nothing to wait for: everything is acknowledged by now, and the service thread need not hear of
     * it.
     */
    private boolean closeAtOnce() {
        if (readerInside.get() || writerInside.get()) {
            return false;
        }
        send.pollAndFlush();
        boolean mine = send.isDrained() && releasing.compareAndSet(false, true);
        if (mine) {
            release();
        }
        return mine;
    }

    /** By whoever ends the close: nothing is under way any more. */
    private void release() {
        report();
        drained.countDown();
        waits.stopWatching();
        transport.reap(this::free);
    }

    /** Begins a close, or shortens one that has begun. */
    private void startClose(long nanos) {
        long deadline = System.nanoTime() + nanos;
        if (releasing.compareAndSet(false, true)) {
            closeDeadline = deadline;
        } else if (closeDeadline != 0 && deadline - closeDeadline < 0) {
            closeDeadline = deadline;
        } else {
            return;
        }
        closeBegan = System.nanoTime();
        postedBeforeClose = send.posted();
        transport.closings().add(this);
        closeStep();
    }

    /** Whether what it has to send waits for the peer, and for nothing else. Any thread. */
    boolean isStarved() {
        return send.isStarved();
    }

    /** Drops what is not sent yet, tells the peer, and ends soon; service thread, while a close is under way. */
    void cutShort() {
        dropped = true;
        resetting = true;
        send.disconnect(true, true);
        long soon = System.nanoTime() + ABORT_NANOS;
        closeDeadline = soon - closeDeadline < 0 ? soon : closeDeadline;
        closeStep();
    }

    /** Looks whether the time for closing is over; service thread, now and then. Whether it still is under way. */
    boolean checkClose() {
        closeStep();
        return closeDeadline != 0;
    }

    /**
     * One step of a close; on the service thread, again and again until everything is delivered or the time is over.
     */
    private void closeStep() {
        if (freed || closeDeadline == 0) {
            return;
        }
        if (readerInside.get() || writerInside.get()) {
            waits.wakeAll();
            transport.service().schedule(this::closeStep, 1_000_000);
            return;
        }
        waits.armAndPollBoth();
        long now = System.nanoTime();
        boolean flooded = flood.isSpent(receive.idleMessages(), now);
        boolean late = now - closeDeadline >= 0;
        if (flooded && !resetting) {
            send.disconnect(true, true);
        }
        if (send.isDrained() || flooded || late && resetting) {
            closeDeadline = 0;
            transport.closings().remove(this);
            release();
        } else if (late
                || !resetting
                        && isStarvedSinceClose()
                        && now - closeBegan >= transport.closings().starvedNanos()) {
            closeDeadline = now + ABORT_NANOS;
            cutShort();
        } else {
            waits.watch();
        }
    }

    private boolean isStarvedSinceClose() {
        return send.isStarved() && send.posted() == postedBeforeClose;
    }

    private void report() {
        String failed = failedWith;
        Events.closed(
                local,
                remote,
                deviceName(),
                bytesRead(),
                bytesWritten(),
                nanosOpen(),
                failed != null ? "failed" : dropped ? "reset" : "closed",
                failed);
    }

    private void free() {
        receive.lock.lock();
        send.lock.lock();
        try {
            if (freed) {
                return;
            }
            freed = true;
            waits.free();
            // A stream freed before it is closed may still be in somebody's epoll set; that of a peer that broke the
            // rules may hold anything.
            endpoint.free(closed.get() && !protocolBroken);
        } finally {
            send.lock.unlock();
            receive.lock.unlock();
        }
        transport.forget(this);
    }

    /**
     * After {@link #close}: waits until the peer's device has acknowledged all data (SO_LINGER > 0); false when the
     * time is over, or when the thread is interrupted, whose interrupt status then stays set.
     */
    public boolean awaitDrained(long nanos) {
        try {
            return drained.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Whether a close, or something of the first {@code written} bytes, is still on its way out. Unless it is closed,
     * asks the peer's device for the acknowledgement that this takes.
     */
    boolean isDelivering(long written) {
        return closed.get() ? drained.getCount() > 0 : !send.isAcknowledged(written);
    }

    boolean isFreed() {
        return freed;
    }

    // ---- failures, and what the peer does ----

    /**
     * The connection is beyond use: waiters fail, after they have read what had arrived. First cause wins. With or
     * without locks.
     *
     * @param detail for the log
     */
    void fail(SocketException cause, String detail) {
        record(cause, detail);
        send.die();
        waits.wakeAll();
    }

    private void record(SocketException cause, String detail) {
        keepAlive.end();
        synchronized (this) {
            if (failure == null) {
                failedAfterEnd = receive.isEnded();
                cause.initCause(
                        new IOException(detail + " (" + endpoint.device.name() + ", " + local + " to " + remote + ")"));
                failure = cause;
                if (!closed.get()) {
                    failedWith = failedAfterEnd ? null : detail;
                    LOG.debug("{} to {} over {}: {}", local, remote, endpoint.device.name(), detail);
                }
            }
        }
    }

    /** The peer broke the protocol: nothing of it is used any more. With or without locks. */
    void protocolError(String what) {
        protocolBroken = true;
        transport
                .protocolErrors()
                .warn("{} sent {}; the connection to it over {} is reset", remote, what, endpoint.device.name());
        record(new SocketException("Connection reset"), "protocol error: the peer sent " + what);
        resetting = true;
        send.disconnect(true, true); // and the send side lives until that is out
        waits.wakeAll();
        transport.service().execute(() -> {
            if (!releasing.get()) {
                // the application may close much later, and until then the peer can write into the ring
                startClose(ABORT_NANOS);
            }
        });
    }

    /** DISCONNECT arrived. */
    void peerDisconnected() {
        peerGone = true;
        keepAlive.end();
        send.die();
        waits.wakeAll();
    }

    /** The peer closed hard. */
    void peerReset() {
        fail(new SocketException("Connection reset"), "reset by the peer");
    }

    @Override
    public void onCmEvent(CmEvent event) {
        switch (event.type()) {
            // The last three: the passive side gave up on an answer that we took for the connection.
            case RDMA_CM_EVENT_DISCONNECTED,
                    RDMA_CM_EVENT_REJECTED,
                    RDMA_CM_EVENT_CONNECT_ERROR,
                    RDMA_CM_EVENT_UNREACHABLE -> {
                receive.poll(); // what arrived before it is valid
                if (!receive.isEnded()) {
                    fail(new SocketException("Connection reset"), "the peer went away without closing");
                }
                peerDisconnected();
            }
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                receive.poll();
                fail(new SocketException("Connection reset"), "the device was removed");
                peerDisconnected();
            }
            default -> LOG.debug("{} to {}: {}", local, remote, event);
        }
        if (closed.get()) {
            closeStep();
        }
    }

    // ---- for selectors ----

    /** Somebody who waits for many streams at once. */
    @FunctionalInterface
    public interface Observer {
        /**
         * Something may have become ready: data, room, the end, a failure, a close. Called by whichever thread saw to
         * it, with locks of the stream held perhaps: must not block and must not call the stream, but for
         * {@link #isReadable} and {@link #isWritable}.
         */
        void onProgress();

        /**
         * Nothing need have become ready, but the stream is not armed any more: whoever waits must look and
         * {@link #arm} it again.
         */
        default void onEventsTaken() {
            onProgress();
        }
    }

    /**
     * Sets the one observer, or none. A selector that watches {@link #completionFd()} itself is told only what other
     * threads see first.
     */
    public void observe(Observer observer) {
        waits.observe(observer);
    }

    /**
     * The completion channel's descriptor: readable while {@link #takeEvents} has something to take. Another's number
     * once the stream is freed.
     */
    public int completionFd() {
        return endpoint.channel.getFd();
    }

    /**
     * Has {@code set} report the completion channel as {@code data}. False if the stream is freed: it has no descriptor
     * any more, and is ready for everything.
     */
    public boolean watchedBy(Epoll set, long data) throws IOException {
        return waits.watchedBy(set, data);
    }

    /** Takes the channel's events after the descriptor was readable; the queues are unarmed then. */
    public void takeEvents() {
        waits.takeEvents();
    }

    /** Makes what progress can be made without waiting. */
    public void poll() {
        poll(true);
    }

    /**
     * As {@link #poll()}, for one who waits for something.
     *
     * @param writing whether it waits for room to write, too; if not, the next write will see what has arrived
     */
    public void poll(boolean writing) {
        receive.tryPoll();
        if (writing || send.isDeferred()) {
            send.pollAndFlush();
        }
    }

    /**
     * Arms what is not armed, then polls: when this returns and the stream is not ready, the next thing to happen makes
     * {@link #completionFd()} readable.
     *
     * @param writing whether room to write is waited for, too
     */
    public void arm(boolean writing) {
        waits.armAndPoll(!writing);
    }

    /** Whether a read would not wait: data, the end, a failure, a close. Any thread, without progress. */
    public boolean isReadable() {
        return receive.available() > 0 || receive.isEnded() || failure != null || closed.get() || inputShut;
    }

    /** Whether a write would take a good deal, or fail. Any thread, without progress. */
    public boolean isWritable() {
        return send.hasRoom() || failure != null || closed.get() || outputShut || peerGone;
    }

    // ---- for the parts ----

    /**
     * Something is written that cannot be sent yet. A writer that is inside sees to it itself, until it leaves. With or
     * without the send lock.
     */
    void deferred() {
        if (!writerInside.get() && flusherHasIt.compareAndSet(false, true)) {
            transport.flusher().add(this);
        }
    }

    /** Sends what can be sent of it; whether it has to be looked after any longer. By the flusher. */
    boolean flushDeferred() {
        long written = send.written();
        if (written != deferredWritten) { // the writer is about: its next write sends this one, too
            deferredWritten = written;
            deferredRounds = 0;
            return true;
        }
        if (writerInside.get()) { // and waits there, so it looks after itself
            return !leaveToWriter();
        }
        send.pollAndFlush();
        receive.tryPoll();
        return send.isDeferred() || !leaveToWriter();
    }

    /** Ends looking after it, unless it turns out that nobody else does. */
    private boolean leaveToWriter() {
        flusherHasIt.set(false);
        return !send.isDeferred() || writerInside.get() || !flusherHasIt.compareAndSet(false, true);
    }

    /** The flusher gives up on it: the service thread waits for the peer instead. */
    void watchDeferred() {
        transport.service().execute(() -> {
            watchesDeferred = true;
            onWatched();
        });
    }

    /** Another thread took the channel's events: if the service thread waits for this stream, it must arm again. */
    void eventsTaken() {
        if (watchesDeferred || closed.get()) {
            transport.service().execute(this::onWatched);
        }
    }

    /** Looking after what a writer left failed, so that nobody does any longer: rather an error than silence. */
    void failDeferred(Throwable cause) {
        LOG.error("sending what is left of {} failed, the connection is reset", this, cause);
        fail(new SocketException("Connection reset"), "sending what was left failed: " + cause);
        flusherHasIt.set(false);
    }

    /** The completion channel has events, or somebody wants it watched; service thread. */
    void onWatched() {
        if (closed.get() || closeDeadline != 0) {
            closeStep();
            return;
        }
        try {
            lookAfterDeferred();
            if (!releasing.get() && flood.isSpent(receive.idleMessages(), System.nanoTime())) {
                protocolError("more than " + FloodBudget.MESSAGES + " messages without content in a second");
            }
        } catch (RuntimeException | Error e) {
            watchesDeferred = false;
            failDeferred(e);
        }
    }

    private void lookAfterDeferred() {
        if (watchesDeferred && !freed) {
            waits.armAndPollBoth();
            if ((writerInside.get() || !send.isDeferred()) && leaveToWriter()) {
                watchesDeferred = false;
            } else if (send.awaitsEvent()) {
                waits.watch();
            } else { // what a burst left behind waits for nothing but the next look
                watchesDeferred = false;
                transport.flusher().add(this);
            }
        }
    }

    /** Whether the peer has sent data that is not read, or the end of the stream. */
    boolean hasInput() {
        return receive.available() > 0 || receive.isEnded();
    }

    boolean peerUnderstandsReset() {
        return resetUnderstood;
    }

    /** Whether the peer needs no more room to send into. */
    boolean inputEnded() {
        return receive.isEnded() || closed.get();
    }

    /** Whether the peer has sent its SHUTDOWN (or DISCONNECT). */
    boolean peerShutDown() {
        return receive.isEnded();
    }

    long consumed() {
        return receive.consumed();
    }

    boolean creditsRunLow(int announced) {
        return receive.creditsRunLow(announced);
    }

    int backedLimit() {
        return receive.backedLimit();
    }

    void progressed() {
        waits.progressed();
    }

    // ---- facts ----

    /** Turns the probes for a dead peer on or off: one probe each {@code intervalNanos}; 0 is off. */
    public void keepAlive(long intervalNanos) {
        keepAlive.every(intervalNanos);
    }

    public boolean isOpen() {
        return !closed.get();
    }

    public InetSocketAddress localAddress() {
        return local;
    }

    public InetSocketAddress remoteAddress() {
        return remote;
    }

    /** The device that carries it, for people: {@code rxe0}. */
    public String deviceName() {
        return endpoint.device.name();
    }

    public StreamConfig config() {
        return endpoint.config;
    }

    /** Nanoseconds since it was established. */
    public long nanosOpen() {
        return System.nanoTime() - openedNanos;
    }

    /** Payload bytes handed to readers so far. */
    public long bytesRead() {
        return receive.consumed();
    }

    /** Payload bytes taken from writers so far. */
    public long bytesWritten() {
        return send.written();
    }

    /** Memory that is pinned for it, until it is freed. */
    public long registeredBytes() {
        return endpoint.registeredBytes;
    }

    @Override
    public String toString() {
        return local + " to " + remote + " over " + endpoint.device.name();
    }
}
