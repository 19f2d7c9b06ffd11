/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import org.jrsocket.wire.Imm;

/**
 * Builds the requests of an {@code Outbound} from what its other parts have to send: first our grants and credits, then
 * data, then the messages that end the stream. It knows how far building has come, and what it waits for.
 */
final class RequestBuilder {

    private final SendLimits limits;
    private final PeerWindow window;
    private final SendQueue queue;
    private final Extents extents;
    private final Announcements announcements;
    private final Ending ending;
    private final boolean resetUnderstood;

    private boolean starved;
    private boolean blocked; // by a lack of slots, or until requests that are on their way complete
    private boolean probeWanted;
    private boolean releaseWanted;
    private long posted;
    private long lostFrom = Long.MAX_VALUE; // from this offset on nothing was posted, nor will be
    private int grants;

    /** @param resetUnderstood whether the peer understands RESET, and so is told of a reset */
    RequestBuilder(
            SendLimits limits,
            PeerWindow window,
            SendQueue queue,
            Extents extents,
            Announcements announcements,
            Ending ending,
            boolean resetUnderstood) {
        this.limits = limits;
        this.window = window;
        this.queue = queue;
        this.extents = extents;
        this.announcements = announcements;
        this.ending = ending;
        this.resetUnderstood = resetUnderstood;
    }

    // ---- told ----

    /** Asks for a request whose completion shows that the peer's device is alive. */
    void wantProbe() {
        probeWanted = true;
    }

    /** Sets whether the peer's grants should be given back; writing something ends that. */
    void wantRelease(boolean wanted) {
        releaseWanted = wanted;
    }

    /** Drops what is not built yet. */
    void drop() {
        lostFrom = Math.min(lostFrom, posted);
        posted += extents.bytes();
        extents.clear();
    }

    /** Ends all building. */
    void die() {
        drop();
        announcements.clear();
        blocked = false;
        starved = false;
    }

    // ---- building ----

    /** See {@code Outbound.writeNow}. */
    void writeNow(RequestSink sink, long address, int length, int localKey, boolean awaited) {
        releaseWanted = false;
        boolean signaled = queue.wantsSignal(limits.slotsPerMessage()) || awaited;
        sink.data(Imm.data(length), window.address(), window.key(), length <= limits.inline(), signaled);
        sink.piece(address, length, localKey);
        sent(length, signaled);
    }

    /** Records that a request with {@code length} bytes of data was built. */
    private void sent(int length, boolean signaled) {
        window.used(length);
        window.message();
        posted += length;
        queue.posted(limits.slotsPerMessage(), posted, grants, signaled);
    }

    /** Appends whatever may go. Returns the number of messages appended. */
    int build(RequestSink sink) {
        blocked = false;
        return buildUpdates(sink) + buildData(sink) + buildControl(sink);
    }

    /** Returns whether {@code slots} are free, and {@code keep} more for what comes later. */
    private boolean fits(RequestSink sink, int slots, int keep) {
        boolean fits = sink.room() >= slots && queue.fits(slots, keep);
        blocked |= !fits;
        return fits;
    }

    private int buildUpdates(RequestSink sink) {
        int built = 0;
        if (!mayAnnounce()) {
            announcements.clear();
        }
        while (!announcements.isEmpty()) {
            boolean grant = announcements.hasGrant();
            int slots = grant ? limits.slotsPerMessage() : 1;
            if (!fits(sink, slots, SendLimits.END_SLOTS)) {
                break;
            }
            // Always for a grant: the time of its arrival tells whether the peer had been waiting for it.
            boolean signaled = grant || queue.wantsSignal(slots);
            if (grant) {
                grants++;
                announcements.buildGrant(sink, signaled);
            } else {
                announcements.buildCredits(sink, signaled);
            }
            queue.posted(slots, posted, grants, signaled);
            window.message();
            built++;
        }
        return built;
    }

    private int buildData(RequestSink sink) {
        starved = false;
        int built = 0;
        while (extents.bytes() > 0 && fits(sink, limits.slotsPerMessage(), SendLimits.CONTROL_SLOTS)) {
            int room = window.room();
            if (room == 0) {
                if (ending.isReset()) { // as with TCP: a reset does not wait for a peer that does not read
                    drop();
                } else {
                    starved = true;
                }
                break;
            }
            int most = (int) Math.min(Math.min(extents.bytes(), room), limits.maxMessage());
            if (extents.bytes() < limits.bulk() && queue.isBusy()) {
                blocked = true;
                break;
            }
            int n = extents.gather(most, limits.pieces());
            boolean signaled = queue.wantsSignal(limits.slotsPerMessage()) || extents.isAwaitedWithin(n);
            // irdma before rdma-core 44, and also i40iw, send only the first piece of inline data
            boolean inline = n <= limits.inline() && extents.isOnePiece(n);
            sink.data(Imm.data(n), window.address(), window.key(), inline, signaled);
            extents.moveTo(sink, n);
            sent(n, signaled);
            built++;
        }
        return built;
    }

    /** Builds control messages. SHUTDOWN and DISCONNECT follow all data; a reset does not wait for it. */
    private int buildControl(RequestSink sink) {
        int built = 0;
        if (probeWanted && fits(sink, 1, SendLimits.END_SLOTS)) {
            probeWanted = false;
            sink.probe();
            queue.posted(1, posted, grants, true);
            built++;
        }
        if (extents.bytes() > 0) {
            return built;
        }
        if (releaseWanted && fits(sink, 1, SendLimits.END_SLOTS)) {
            releaseWanted = false;
            built += control(sink, Imm.release(window.release()), false);
        }
        if (ending.wantsShutdown() && fits(sink, 1, 1)) {
            ending.shutdownBuilt();
            built += control(sink, Imm.ctrl(Imm.CTRL_SHUTDOWN), true);
        }
        if (ending.wantsDisconnect()) {
            boolean reset = ending.isReset();
            if (ending.hasShutdown() && ending.hasPeerEnded() && !reset) {
                ending.closed(); // two SHUTDOWNs make an end: by now a C peer's queue pair does not answer
            } else if (fits(sink, SendLimits.END_SLOTS, 0)) {
                ending.closed();
                if (reset && resetUnderstood) {
                    built += control(sink, Imm.ctrl(Imm.CTRL_RESET), false);
                }
                built += control(sink, Imm.ctrl(Imm.CTRL_DISCONNECT), true);
            }
        }
        return built;
    }

    private int control(RequestSink sink, int imm, boolean signaled) {
        boolean asks = signaled || queue.wantsSignal(1);
        sink.control(imm, asks);
        window.message();
        queue.posted(1, posted, grants, asks);
        return 1;
    }

    // ---- asked ----

    /**
     * Returns whether the peer may need grants and credits. After a close the application reads no more. But two ends
     * that close with data left may each wait for what the other has to announce; then one sends, and is reset.
     */
    boolean mayAnnounce() {
        boolean waits = ending.wantsDisconnect() && !ending.isReset() && extents.bytes() > 0;
        return !ending.hasPeerEnded() && (!ending.isClosing() || waits);
    }

    /** Returns whether something waits for slots, or until requests that are on their way complete. */
    boolean isBlocked() {
        return blocked;
    }

    /** Returns whether data waits for the peer's grant or credits. */
    boolean isStarved() {
        return starved;
    }

    /** Returns the offset of the stream up to which everything was built, or never will be. */
    long posted() {
        return posted;
    }

    /** Returns the offset from which on nothing was built, nor will be. */
    long lostFrom() {
        return lostFrom;
    }

    /** Returns how many grants were built. */
    int grants() {
        return grants;
    }
}
