/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Credits;

/**
 * The outgoing half of a connection: bytes that were written, the peer's grants and credits, and the send queue. Our
 * own grants and credits to the peer and the messages that end a stream also belong here, because they are sent. See
 * the package for how a driver uses it. Used by one thread at a time.
 *
 * <p>Stream offsets count bytes from the start of the connection: {@link #written} &ge; {@link #posted} &ge;
 * {@link #acknowledged}.
 */
public final class Outbound {

    /**
     * Credits of a C peer that data does not use: such a peer posts exactly as many receives as it advertises, and
     * control messages need some of them.
     */
    private static final int RESERVED_CREDITS = 8;
    /** Grants of this many bytes or fewer are not worth giving back. */
    private static final int QUIET_GRANTS = 32 * 1024;

    private final SendLimits limits;
    private final PeerWindow window;
    private final SendQueue queue;
    private final Extents extents = new Extents();
    private final Announcements announcements;
    private final boolean releaseUnderstood;

    private final Ending ending = new Ending();
    private final RequestBuilder requests;

    private long written;
    private long acknowledged;
    private boolean lost;
    private long completions;
    private int grantsAcknowledged;
    private String violation;

    /**
     * Creates the outgoing half.
     *
     * @param peer what the peer said about itself
     * @param tableEntries entries of our own grant table
     * @param credits the credits of our connection data
     */
    public Outbound(SendLimits limits, ConnData peer, int tableEntries, int credits) {
        this.limits = limits;
        // The peer's first grant came with its connection data: the table holds the others.
        int reserved = peer.hasExtension() ? 0 : Math.min(RESERVED_CREDITS, peer.credits() / 4);
        this.window = new PeerWindow(
                tableEntries, peer.credits(), reserved, peer.dataAddr(), peer.dataKey(), peer.dataLength());
        this.queue = new SendQueue(limits.slots(), limits.busy());
        this.announcements = new Announcements(peer.targetAddr(), peer.targetKey(), peer.targetLength(), credits);
        this.requests = new RequestBuilder(
                limits, window, queue, extents, announcements, ending, peer.hasFeature(ConnData.FEATURE_RESET));
        this.releaseUnderstood = peer.hasFeature(ConnData.FEATURE_RELEASE);
    }

    // ---- told by the writer ----

    /**
     * Takes bytes to be sent, in memory that must not change until {@link #acknowledged} has passed them.
     *
     * @param awaited whether the owner waits to have the memory back; its last request then asks for a completion
     */
    public void write(long address, int length, int localKey, boolean awaited) {
        if (!ending.isOpen()) {
            throw new IllegalStateException("written when " + ending);
        }
        extents.add(address, length, localKey, awaited);
        written += length;
        requests.wantRelease(false);
    }

    /**
     * Returns whether {@code length} bytes can be sent at once by {@link #writeNow}: nothing is queued before them, and
     * the peer and the send queue have room. If not, {@link #write} and {@link #build} find out what they have to wait
     * for.
     */
    boolean mayWriteNow(RequestSink sink, int length) {
        return extents.bytes() == 0
                && length <= window.room()
                && length <= limits.maxMessage()
                && !queue.isBusy()
                && ending.isOpen()
                && announcements.isEmpty()
                && sink.room() >= limits.slotsPerMessage()
                && queue.fits(limits.slotsPerMessage(), SendLimits.CONTROL_SLOTS);
    }

    /** Returns whether nothing is left to send, but more requests are on their way than a small write should add to. */
    boolean isOnlyBusy() {
        return extents.bytes() == 0 && queue.isBusy();
    }

    /** Returns whether the device takes {@code length} bytes as soon as their request is posted. */
    boolean isInline(int length) {
        return length <= limits.inline();
    }

    /**
     * Builds the request for bytes that go out at once, if {@link #mayWriteNow}. Memory of bytes that are
     * {@link #isInline inline} is free again once the request is posted; other memory must not change until
     * {@link #acknowledged} has passed it.
     *
     * @param localKey ignored for inline bytes
     * @param awaited whether the owner waits to have the memory back
     */
    void writeNow(RequestSink sink, long address, int length, int localKey, boolean awaited) {
        written += length;
        requests.writeNow(sink, address, length, localKey, awaited);
    }

    /** Asks for SHUTDOWN after everything written so far. Repeated calls have no effect. */
    public void shutdown() {
        ending.shutdown();
    }

    /**
     * Asks for DISCONNECT after everything written so far. A second call with {@code hard} cuts that short.
     *
     * @param hard whether to drop what is not posted yet
     * @param tell whether the peer is to see a reset, if it understands one
     */
    public void close(boolean hard, boolean tell) {
        if (ending.close(tell) && hard) {
            requests.drop();
        }
    }

    /** Ends this half because the connection failed or the peer is gone: nothing is built, and no completion counts. */
    void die() {
        if (ending.die()) {
            lost = posted() < written;
            requests.die();
        }
    }

    /** Returns whether {@link #die} found data that was written, but neither posted nor dropped by this side. */
    public boolean hasLost() {
        return lost;
    }

    // ---- told of the device ----

    /** Handles the completion of the oldest request that asked for one. */
    int completed() {
        if (ending.isDead()) {
            return Effects.NONE;
        }
        completions++;
        grantsAcknowledged = queue.nextGrants();
        acknowledged = Math.min(queue.completed(), requests.lostFrom());
        int effects = Effects.ACKNOWLEDGED;
        if (requests.isBlocked()) {
            effects |= Effects.SEND;
        }
        if (ending.isClosed() && isDrained()) {
            effects |= Effects.DRAINED;
        }
        return effects;
    }

    // ---- told of the peer ----

    /** Takes a new credit limit from the peer. */
    int limit(int newLimit) {
        return came(window.limit(newLimit));
    }

    /** Takes a grant from the peer, read from our table. */
    int grant(long address, int key, int length) {
        return came(window.grant(address, key, length));
    }

    private int came(String wrong) {
        if (wrong != null) {
            violation = wrong;
            return Effects.VIOLATION;
        }
        return requests.isStarved() ? Effects.SEND : Effects.NONE;
    }

    /** Returns what the peer did wrong, after {@link Effects#VIOLATION}. */
    String violation() {
        return violation;
    }

    /** Records that the peer sends no more data, so that it needs neither grants nor credits. */
    void peerEnded() {
        ending.peerEnded();
        announcements.clear();
    }

    // ---- told of our own half ----

    /** Announces that the peer may fill {@code slab}. */
    void announceGrant(Slab slab) {
        if (requests.mayAnnounce()) {
            announcements.grant(slab);
        }
    }

    /**
     * Announces that the peer may send up to {@code limit}, for which receives are posted. The limit goes out with the
     * next grant, or by itself if {@code low}.
     *
     * @param low whether the peer could run short
     */
    void announceCredits(int limit, boolean low) {
        if (requests.mayAnnounce()) {
            announcements.credits(limit & Credits.MASK, low);
        }
    }

    /** Returns the credit limit that the peer has been told. */
    int announcedLimit() {
        return announcements.announcedLimit();
    }

    /** Asks for a request whose completion shows that the peer's device lives, and retires all requests before it. */
    public void probe() {
        requests.wantProbe();
    }

    /** Gives the peer its memory back, if it understands that, and frees ours, after a long time without sending. */
    void quiet() {
        if (written == posted() && ending.isOpen()) {
            requests.wantRelease(releaseUnderstood && window.granted() > QUIET_GRANTS);
            if (queue.outstanding() > 0 && !queue.awaitsCompletion()) {
                requests.wantProbe();
            }
        }
    }

    // ---- asked ----

    /**
     * Appends whatever may go; the driver posts it. To be called again until it appends nothing or the sink is full.
     *
     * @return how many messages were appended
     */
    int build(RequestSink sink) {
        return ending.isDead() ? 0 : requests.build(sink);
    }

    /**
     * Returns whether something is left to build that waits for our own requests to complete. A completion will come,
     * unless only the sink was full.
     */
    public boolean waitsForCompletion() {
        return requests.isBlocked();
    }

    /**
     * Returns whether a completion is of use now: something waits for it, or it tells that a grant has arrived, the
     * time of which determines growth.
     */
    boolean needsCompletion() {
        return requests.isBlocked() || requests.grants() != grantsAcknowledged;
    }

    /** Returns whether data waits for the peer's grant or credits. */
    public boolean waitsForPeer() {
        return requests.isStarved();
    }

    /**
     * Returns whether all that was asked for is sent and acknowledged, or never will be. Without a close, that is all
     * data that was written.
     */
    public boolean isDrained() {
        return ending.isDead() || extents.bytes() == 0 && !queue.awaitsCompletion() && !ending.wantsMore();
    }

    /** Returns whether bytes may be written: no end was asked for, and the connection has not ended. */
    public boolean isOpen() {
        return ending.isOpen();
    }

    /** Returns whether a close is a reset: what was not sent is dropped rather than kept for a peer without room. */
    public boolean isReset() {
        return ending.isReset();
    }

    /** Returns the number of data messages, counted as in {@link Credits}. */
    int sequence() {
        return window.sequence();
    }

    /** Returns whether sent requests may wait for a C peer to post receives, which our device does not report. */
    public boolean mayWaitForReceives() {
        return !releaseUnderstood && window.mayLackReceives();
    }

    /** Returns whether a request is on its way whose completion will be reported. */
    public boolean awaitsCompletion() {
        return queue.awaitsCompletion();
    }

    /** Returns the number of completions: while one is awaited and this does not change, the device is silent. */
    public long completions() {
        return completions;
    }

    public long written() {
        return written;
    }

    public long posted() {
        return requests.posted();
    }

    /** Returns the offset up to which the peer's device has acknowledged: memory before it is its owner's again. */
    public long acknowledged() {
        return acknowledged;
    }

    /** Returns how many grants were built. */
    int grantsBuilt() {
        return requests.grants();
    }

    /** Returns how many of our grants have reached the peer's device. */
    int grantsAcknowledged() {
        return grantsAcknowledged;
    }

    /** Returns the bytes that the peer has granted and that are not used yet. */
    public long peerRoom() {
        return window.granted();
    }
}
