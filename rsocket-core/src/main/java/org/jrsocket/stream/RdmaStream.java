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
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.os.Epoll;
import org.jrsocket.wire.ConnData;

/**
 * One full-duplex connection. One reader and one writer may be inside it together. Any thread may shut or close it,
 * which ends the waits of the others. Times are in nanoseconds; 0 is "for ever", less is "not at all".
 *
 * <p>Failures look like TCP's in {@code java.net}: {@link SocketException} "Connection reset", "Broken pipe" and
 * "Socket closed", {@link SocketTimeoutException} "Read timed out". A virtual thread that is interrupted in a wait gets
 * {@link java.io.InterruptedIOException} with its interrupt status set; a platform thread is not disturbed by
 * interrupts.
 *
 * <p>A stream is first open. It is then <em>closed</em> by {@link #close}, which sends DISCONNECT, or leaves that and
 * what comes before it to the service thread. It is <em>freed</em> when its native objects are gone. Nothing is freed
 * while a reader or writer is inside. Native objects are used only with the lock of {@link StreamCore}, or inside.
 */
public final class RdmaStream implements AutoCloseable {

    private final StreamDriver core;
    private final StreamReader reader;
    private final StreamWriter writer;
    private final StreamLender lender;
    private final StreamWaiter waits;
    private final StreamClosing closing;

    /**
     * Takes over {@code endpoint}, which is connected.
     *
     * @param whenGone is told once when nothing native is left of the stream
     */
    RdmaStream(
            Services services,
            Endpoint endpoint,
            StreamConfig config,
            ConnData peer,
            InetSocketAddress local,
            InetSocketAddress remote,
            Consumer<RdmaStream> whenGone) {
        this.core = new StreamDriver(services, endpoint, config, peer, local, remote, () -> whenGone.accept(this));
        this.reader = new StreamReader(core);
        this.writer = new StreamWriter(core);
        this.lender = new StreamLender(core, writer);
        this.waits = core.waits;
        this.closing = core.closing;
        core.open();
    }

    // ---- reading ----

    /** Reads at least one byte, waiting up to {@code nanos}; -1 at the end, 0 only if {@code length} is 0. */
    public int read(byte[] target, int offset, int length, long nanos) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        return reader.read(target, offset, length, nanos);
    }

    /** Reads like {@link #read(byte[], int, int, long)}, into a buffer; returns 0 only if it has no room. */
    public int read(ByteBuffer target, long nanos) throws IOException {
        return reader.read(target, nanos);
    }

    /** Reads what is there, without waiting. Returns 0 if there is nothing, -1 at the end of the stream. */
    public int read(ByteBuffer target) throws IOException {
        return reader.readNow(target, true);
    }

    /** Copies like {@link #read(ByteBuffer)} what is there, or the first part of it, but does not consume it. */
    public int peek(ByteBuffer target) throws IOException {
        return reader.readNow(target, false);
    }

    /** Returns the number of bytes that can be read without waiting. */
    public int available() throws IOException {
        return reader.available();
    }

    /** Waits until a read would not wait (data, end, error); false when time is over. Counts as the reader. */
    public boolean awaitReadable(long nanos) throws IOException {
        return reader.awaitReadable(nanos);
    }

    // ---- writing ----

    /** Writes all of it, waiting up to {@code nanos} each time there is no room. */
    public void write(byte[] source, int offset, int length, long nanos) throws IOException {
        Objects.checkFromIndexSize(offset, length, source.length);
        writer.write(source, offset, length, nanos);
    }

    /** Writes what there is room for, without waiting. May return 0. */
    public int write(ByteBuffer source) throws IOException {
        return writer.write(source);
    }

    /** Writes like {@link #write(ByteBuffer)} from several buffers; the content of small ones goes out together. */
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        return writer.write(sources, offset, length);
    }

    /** Checks what the peer has sent, its end included, and throws what a write of a byte would; sends nothing. */
    public void probe() throws IOException {
        writer.probe();
    }

    /**
     * Corks or uncorks. While corked, writes may wait for one another, up to 64 KiB of them, to go out together. What
     * waits is sent by the uncorking that has to follow. Counts as the writer. Harmless once the stream has ended.
     */
    public void cork(boolean on) {
        writer.cork(on);
    }

    /** Waits until a write would take something or fail; false when time is over. Counts as the writer. */
    public boolean awaitWritable(long nanos) throws IOException {
        return writer.awaitWritable(nanos);
    }

    // ---- lending ----

    /**
     * Registers all of a direct buffer's memory, which must not be empty, for this stream to send from.
     *
     * @throws IOException if the device, the system or the limit on registered memory refuses
     */
    public LentMemory register(ByteBuffer buffer) throws IOException {
        return lender.register(buffer);
    }

    /**
     * Writes without a copy and without waiting, in order with all other writes. The memory must not change until it
     * {@linkplain LentMemory#isFree is free}.
     *
     * @return the stream offset behind these bytes: they have been sent when {@link #acknowledged} has reached it
     */
    public long writeLent(LentMemory memory, int offset, int length) throws IOException {
        return lender.writeLent(memory, offset, length);
    }

    /** Makes progress, and returns the stream offset up to which the peer's device has acknowledged everything. */
    public long acknowledged() {
        return lender.acknowledged();
    }

    /**
     * Sets the offset that {@link #isAcknowledged} reports on from now on. There is only one at a time; the last one
     * set counts. A selector or an event loop waits for it as for room: {@link #arm} with {@code writing}.
     */
    public void awaitAcknowledged(long offset) {
        lender.awaitAcknowledged(offset);
    }

    /**
     * Returns whether the offset of {@link #awaitAcknowledged(long)} is reached, or never will be because the stream
     * has failed or is closed; false if no offset was set. May be called from any thread, and makes no progress.
     */
    public boolean isAcknowledged() {
        return core.isReady(StreamCore.ACKNOWLEDGED);
    }

    /**
     * Waits until everything written up to an offset, copied or lent, is acknowledged; for a thread that has no
     * selector. Returns false when the time is over. Counts as the writer, and as {@link #awaitAcknowledged(long)}.
     *
     * @throws IllegalArgumentException if less than that is written
     * @throws IOException if the offset will never be reached, as a write would
     */
    public boolean awaitAcknowledged(long offset, long nanos) throws IOException {
        return lender.awaitAcknowledged(offset, nanos);
    }

    /**
     * Runs {@code action} once the queue pair is gone and no {@link LentMemory} is registered, even if borrowed bytes
     * are still out: at once, or in the thread that frees the stream, which must not be held up. One per stream.
     */
    public void whenSendsAreOver(Runnable action) {
        core.freeing.whenSendsAreOver(action);
    }

    /** Runs {@code action} now and then while nothing moves, on the service thread; it must not wait. */
    public void whenQuiet(Runnable action) {
        core.sweep.whenQuiet(action);
    }

    /**
     * Takes at most {@code most} bytes that have arrived, in one piece, without a copy or a wait. Returns null if there
     * are none or too few, or too many are lent already, so a copy is better; {@link #read(ByteBuffer)} tells which.
     */
    public BorrowedBytes borrow(int most) throws IOException {
        return reader.borrowNow(most);
    }

    // ---- half close, close ----

    /** Ends reading: readers get -1, and what arrives later is dropped. */
    public void shutdownInput() throws IOException {
        closing.shutdownInput();
    }

    /** Sends what was written, then the end of the stream, without waiting for either. */
    public void shutdownOutput() throws IOException {
        closing.shutdownOutput();
    }

    /**
     * Closes without waiting: what was written is still delivered in the background while the peer takes it. Waiting
     * threads get "Socket closed". Closing with unread data resets the connection, as TCP does.
     */
    @Override
    public void close() {
        closing.close(false, false);
    }

    /** Closes like {@link #close}; with unread data the peer still reads what was sent, and the end, before a reset. */
    public void closeAfterEnd() {
        closing.close(false, true);
    }

    /** Closes at once and resets: unsent data is dropped, and the peer's reads and writes fail (SO_LINGER 0). */
    public void abort() {
        closing.close(true, false);
    }

    /** Waits after a close, despite interrupts, until all data is acknowledged; false when the time is over. */
    public boolean awaitDrained(long nanos) {
        return closing.awaitDrained(nanos);
    }

    StreamDriver core() {
        return core;
    }

    StreamClosing closing() {
        return closing;
    }

    /**
     * Returns whether a close, or any of the first {@code written} bytes, is still on its way out, or a reaper is about
     * to hand the end to {@link Farewells}. If the stream is open, asks the peer's device to acknowledge.
     */
    boolean isDelivering(long written) {
        return closing.isDelivering(written);
    }

    /** Returns whether nothing native is left of the stream. */
    public boolean isFreed() {
        return locked(() -> core.phase.isGone());
    }

    // ---- for selectors ----

    /**
     * Sets the one observer, or none. A selector watches {@link #completionFd()} itself; it is told only of what other
     * threads see first.
     */
    public void observe(StreamObserver observer) {
        waits.observe(observer);
    }

    /**
     * Returns the completion channel's descriptor, which is readable while {@link #takeEvent} has something to take.
     * Once the stream is freed, the number may belong to something else.
     */
    public int completionFd() {
        return core.endpoint.eventFd();
    }

    /**
     * Makes {@code set} report the completion channel as {@code data}. Returns false if the stream is freed: it then
     * has no descriptor any more, and is ready for everything.
     */
    public boolean watchedBy(Epoll set, long data) throws IOException {
        return waits.watchedBy(set, data);
    }

    /** Takes one event of the channel, which unarms its queue; further events keep the descriptor readable. */
    public void takeEvent() {
        waits.takeEvent();
    }

    /** Makes the progress that is possible without waiting. */
    public void poll() {
        waits.poll();
    }

    /** Polls like {@link #poll}, for waiting readers: acknowledgements of what was written may go unnoticed. */
    public void pollMessages() {
        waits.pollMessages();
    }

    /**
     * Arms what is not armed, then polls. If the stream is not ready when this returns, the next thing to happen makes
     * {@link #completionFd()} readable.
     *
     * @param writing whether to wait for room to write, too
     */
    public void arm(boolean writing) {
        waits.arm(writing);
    }

    /** Returns whether a read would not wait (data, end, failure, close). Any thread; makes no progress. */
    public boolean isReadable() {
        return core.isReady(StreamCore.READABLE);
    }

    /** Returns whether a write would take more than a little, or fail. Any thread; makes no progress. */
    public boolean isWritable() {
        return core.isReady(StreamCore.WRITABLE);
    }

    // ---- facts ----

    /** Turns the probes for a dead peer on or off: one probe every {@code intervalNanos}; 0 turns them off. */
    public void keepAlive(long intervalNanos) {
        core.keepAlive.every(intervalNanos);
    }

    public boolean isOpen() {
        return locked(() -> !core.closed);
    }

    public InetSocketAddress localAddress() {
        return core.local;
    }

    public InetSocketAddress remoteAddress() {
        return core.remote;
    }

    /** Returns the name of the device that carries the stream, for people: {@code rxe0}. */
    public String deviceName() {
        return core.endpoint.device().name();
    }

    public StreamConfig config() {
        return core.config;
    }

    /** Returns the nanoseconds since the connection was established. */
    public long nanosOpen() {
        return closing.nanosOpen();
    }

    /** Returns the payload bytes handed to readers so far. */
    public long bytesRead() {
        return locked(() -> core.bytesRead());
    }

    /** Returns how often written data has waited for the peer to make room. */
    public long stalls() {
        return locked(core.stalls::count);
    }

    /** Returns the payload bytes taken from writers so far. */
    public long bytesWritten() {
        return locked(() -> core.out.written());
    }

    /** Returns the bytes registered for the stream now. */
    public long registeredBytes() {
        return locked(core.freeing::registeredBytes);
    }

    /** Answers questions that are not asked for every message. */
    private <T> T locked(Supplier<T> question) {
        core.enter();
        try {
            return question.get();
        } finally {
            core.exit();
        }
    }

    @Override
    public String toString() {
        return core.toString();
    }
}
