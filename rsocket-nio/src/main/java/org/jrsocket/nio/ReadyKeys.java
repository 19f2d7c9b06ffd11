/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.util.ArrayList;
import java.util.List;
import org.jrsocket.stream.RdmaStream;

/**
 * The keys that a selection looks at, and those that it has found ready. It looks at the keys that the last selection
 * found ready, those in the {@link UpdateQueue}, and the hot ones; every other key is armed, or has no interest. Used
 * only by the selecting thread.
 */
final class ReadyKeys {

    private final UpdateQueue queue;
    private final List<RSelectionKey> found = new ArrayList<>();
    private List<RSelectionKey> again = new ArrayList<>(); // found ready, and not hot
    private List<RSelectionKey> lastAgain = new ArrayList<>();
    private final BusyPollSet hot = new BusyPollSet();
    private int armed; // the number of keys of which only the epoll set can tell that they became ready

    ReadyKeys(UpdateQueue queue) {
        this.queue = queue;
    }

    // ---- what was found ----

    boolean isEmpty() {
        return found.isEmpty();
    }

    int size() {
        return found.size();
    }

    /** Returns a key that the current selection has found ready. */
    RSelectionKey get(int index) {
        return found.get(index);
    }

    /** Forgets what was found, at the end of a selection. */
    void clear() {
        for (int i = 0; i < found.size(); i++) {
            found.get(i).found = 0;
        }
        found.clear();
    }

    /** Returns whether there are keys to {@linkplain #pollHot poll}. */
    boolean hasHot() {
        return hot.size() > 0;
    }

    /** Returns whether the epoll set has to be asked. */
    boolean hasArmed() {
        return armed > 0;
    }

    // ---- looking ----

    /** Adds operations to those found ready of the key. */
    void found(RSelectionKey key, int ops) {
        if (key.found == 0) {
            found.add(key);
        }
        key.found |= ops;
    }

    /** Looks at every key of ours that may be ready. */
    void lookAtAll() {
        List<RSelectionKey> last = again;
        again = lastAgain;
        lastAgain = last;
        for (int i = 0; i < last.size(); i++) {
            last.get(i).again = false;
        }
        lookAtReady(last);
        lookAtQueued();
        pollHot(true, 0);
    }

    private void lookAtReady(List<RSelectionKey> last) {
        int looked = 0;
        try {
            for (; looked < last.size(); looked++) {
                look(last.get(looked), true);
            }
        } finally {
            for (; looked < last.size(); looked++) { // a look has failed: the rest is left to the next selection
                queue.add(last.get(looked));
            }
            last.clear();
        }
    }

    private void lookAtQueued() {
        RSelectionKey next = queue.takeAll();
        try {
            while (next != null) {
                RSelectionKey key = next;
                next = UpdateQueue.after(key);
                look(key, false);
            }
        } finally {
            while (next != null) { // the same
                RSelectionKey key = next;
                next = UpdateQueue.after(key);
                queue.add(key);
            }
        }
    }

    /**
     * Looks at a key that is no longer armed. If that fails, for example for lack of memory, the next selection looks
     * again.
     *
     * @param active whether it was ready a moment ago
     */
    void look(RSelectionKey key, boolean active) {
        boolean looked = false;
        try {
            lookOnce(key, active);
            looked = true;
        } finally {
            if (!looked) {
                queue.add(key);
            }
        }
    }

    private void lookOnce(RSelectionKey key, boolean active) {
        disarmed(key);
        if (!key.isValid() || key.hot) {
            key.arrived = true;
            return; // the hot keys have their own turn
        }
        int interest = key.interest();
        int ops = interest == 0 ? 0 : key.member.readyOps(interest, true);
        if (ops != 0) {
            foundAgain(key, ops);
        } else if (active && key.member.stream() != null) {
            RSelectionKey evicted = hot.add(key);
            if (evicted != null) {
                arm(evicted);
            }
        } else {
            arm(key);
        }
    }

    /** Adds a ready key that is not hot, and has the next selection look at it again. */
    private void foundAgain(RSelectionKey key, int ops) {
        found(key, ops);
        if (!key.again) {
            again.add(key);
            key.again = true;
        }
    }

    /** Does the same as {@link #armOnce}; as with {@link #look}, a failure leaves the key to the next selection. */
    private boolean arm(RSelectionKey key) {
        boolean tried = false;
        try {
            boolean nothing = armOnce(key);
            tried = true;
            return nothing;
        } finally {
            if (!tried) {
                queue.add(key);
            }
        }
    }

    /** Lets the next event of the key's stream wake the selector. Returns whether nothing was ready yet. */
    private boolean armOnce(RSelectionKey key) {
        RdmaStream stream = key.member.stream();
        int interest = key.interest();
        if (stream == null || interest == 0 || !key.isValid()) {
            return true;
        }
        stream.arm((interest & RdmaIo.SENDS) != 0);
        int ops = key.member.readyOps(interest, false); // it has just polled
        if (ops == 0) {
            if (!key.hot && !key.armed) {
                key.armed = true;
                armed++;
            }
            return true;
        }
        if (key.hot) {
            key.wasReady = true; // the message is taken: no look at the hot keys will find it again
            found(key, ops);
        } else {
            foundAgain(key, ops);
        }
        return false;
    }

    void disarmed(RSelectionKey key) {
        if (key.armed) {
            key.armed = false;
            armed--;
        }
    }

    /**
     * Polls the hot keys, and returns whether any of them is ready.
     *
     * @param counts whether this is a new selection, in which idle keys age
     * @param nanos how long to wait for a message
     */
    boolean pollHot(boolean counts, long nanos) {
        boolean any = false;
        hot.look(nanos);
        for (int i = hot.size() - 1; i >= 0; i--) {
            RSelectionKey key = hot.get(i);
            int interest = key.interest();
            // Room to write can also come without a message.
            boolean polled = key.arrived || (interest & RdmaIo.SENDS) != 0;
            boolean look = polled || key.wasReady; // until it is no longer ready, whatever the application takes
            int ops = look && interest != 0 && key.isValid() ? key.member.readyOps(interest, polled) : 0;
            key.arrived = false;
            key.wasReady = ops != 0;
            if (ops != 0) {
                any = true;
                key.idleRounds = 0;
                found(key, ops);
            } else if (!key.isValid() || counts && hot.isCold(key)) {
                hot.remove(i);
                any |= key.isValid() && !arm(key);
            }
        }
        return any;
    }

    boolean armHot() {
        boolean nothing = true;
        for (int i = 0; i < hot.size(); i++) {
            nothing &= arm(hot.get(i));
        }
        return nothing;
    }

    void close() {
        hot.close();
    }
}
