/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * One connection of the client: bursts of any size, each followed when the one before has come back. Prints how it
 * ends: {@code done=ID}, {@code lost=ID ... why=EXCEPTION}, {@code altered=ID}.
 */
final class Flow {

    static final int MOST = 64 * 1024;
    /** Between two bursts: these are no benchmarks, and the machine has other work. */
    static final int PAUSE_MILLIS = Integer.getInteger("jrsocket.traffic.pause", 3);
    /** A peer that is gone without a word is to be noticed, also when it is its turn. */
    static final int IDLE_SECONDS = 5;

    static final int IDLE_COUNT = 4;

    /** What has become of it. */
    enum State {
        OPENING,
        OPEN,
        DONE,
        LOST,
        ALTERED
    }

    private static final int ENDLESS = -1;

    final int id;
    final String kind;
    private final boolean quiet;
    private final Content content;
    private final SplittableRandom random;

    // Guarded by this.
    private State state = State.OPENING;
    private long promised;
    private long sent;
    private long checked;
    private long marked;
    private boolean finishing;
    private int bursts;
    private String detail = "";

    /** Goes on until {@link #finish}. */
    Flow(int id, String kind) {
        this(id, kind, ENDLESS, false);
    }

    private Flow(int id, String kind, int bursts, boolean quiet) {
        this.id = id;
        this.kind = kind;
        this.bursts = bursts;
        this.quiet = quiet;
        this.content = new Content(id * 1_000_003L);
        this.random = new SplittableRandom(id);
    }

    /** Ends in order after one burst. Prints nothing, unless a byte is altered. */
    static Flow brief(int id, String kind) {
        return new Flow(id, kind, 1, true);
    }

    synchronized void opened() {
        if (state == State.OPENING) {
            state = State.OPEN;
            if (!quiet) {
                System.out.println("open" + detail(""));
            }
        }
    }

    /** Begins a burst when the one before has come back; false if there is to be none any more. */
    synchronized boolean begin() {
        if (checked == promised && bursts == 0) {
            finishing = true;
        }
        if (finishing) {
            return false;
        }
        if (checked == promised) {
            bursts -= bursts == ENDLESS ? 0 : 1;
            int most = random.nextInt(4) == 0 ? MOST : 2000;
            promised += 1 + random.nextInt(most);
        }
        return true;
    }

    /** Puts bytes to be sent; whether there are any. */
    synchronized boolean take(ByteBuffer target) {
        int n = (int) Math.min(promised - sent, target.remaining());
        int limit = target.limit();
        target.limit(target.position() + n);
        content.put(target, sent);
        target.limit(limit);
        sent += n;
        return n > 0;
    }

    /** All that was sent has come back. */
    synchronized boolean isQuiet() {
        return checked == promised;
    }

    /** Blocks until {@link #isQuiet} or the end. */
    synchronized void awaitQuiet() throws InterruptedException {
        while (checked != promised && state == State.OPEN) {
            wait();
        }
    }

    /** Blocks until it has ended. */
    synchronized void awaitEnd() throws InterruptedException {
        while (state == State.OPEN) {
            wait();
        }
    }

    /** Checks what has come back; whether it is what was sent. */
    synchronized boolean check(ByteBuffer source) {
        int n = source.remaining();
        long wrong = content.check(source, checked);
        if (wrong < 0 && checked + n > sent) {
            wrong = sent;
        }
        if (wrong >= 0) {
            end(State.ALTERED, "altered", " at=" + wrong);
            return false;
        }
        checked += n;
        notifyAll();
        return true;
    }

    /** No more bursts; what is on its way comes back, and then the end. */
    synchronized void finish() {
        finishing = true;
    }

    synchronized boolean isFinishing() {
        return finishing;
    }

    /** The peer has ended the stream. */
    synchronized void ended() {
        if (finishing && checked == promised) {
            end(State.DONE, "done", "");
        } else {
            end(State.LOST, "lost", " why=the end of the stream after " + checked + " of " + sent + " bytes");
        }
    }

    synchronized void failed(Throwable why) {
        end(State.LOST, "lost", " why=" + withCauses(why));
    }

    /** In one line, with what was suppressed: over RDMA that says why. */
    static String withCauses(Throwable why) {
        StringBuilder text = new StringBuilder();
        for (Throwable t = why; t != null; t = t.getCause()) {
            text.append(text.length() == 0 ? "" : " <- ").append(t);
            for (Throwable suppressed : t.getSuppressed()) {
                text.append(" <- ").append(suppressed);
            }
        }
        return text.toString().replace('\n', ' ');
    }

    private void end(State how, String word, String detail) {
        if (state == State.OPEN || state == State.OPENING) {
            state = how;
            this.detail = detail.strip();
            if (how == State.ALTERED || !quiet) {
                System.out.println(word + detail(detail));
            }
            notifyAll();
        }
    }

    private String detail(String more) {
        return "=" + id + " kind=" + kind + " checked=" + checked + more;
    }

    /** How it ended, {@code why=EXCEPTION}; empty before, and if it ended in order. */
    synchronized String ending() {
        return detail;
    }

    @Override
    public synchronized String toString() {
        return id + " " + kind + ' ' + state + ' ' + detail + " promised " + promised + " sent " + sent + " checked "
                + checked;
    }

    synchronized State state() {
        return state;
    }

    synchronized long checked() {
        return checked;
    }

    /** From here on {@link #news} are of bursts to come: what is on its way says nothing of the way there. */
    synchronized void mark() {
        marked = promised;
    }

    /** Bytes that have come back of bursts begun since the last {@link #mark}. */
    synchronized long news() {
        return Math.max(0, checked - marked);
    }
}
