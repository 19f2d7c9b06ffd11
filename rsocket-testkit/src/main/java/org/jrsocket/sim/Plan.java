/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.sim;

/** What the application at one end is going to do. */
final class Plan {

    /** How the application comes to its end. */
    enum Close {
        /** Writes everything, shuts its output down, reads to the end, closes. */
        ORDERLY,
        /** Writes everything and closes, whether or not it has read everything. */
        AFTER_WRITING,
        /** Closes at some moment. */
        EARLY,
        /** Closes at some moment, and what has not been sent by then never will be. */
        HARD
    }

    long bytes;
    int mostWrite;
    int mostRead;
    int lendOneIn; // writes, 0 for never
    int borrowOneIn; // reads
    int pace;
    Close close;
    long closeAt;
    boolean shutsDown; // its output, when everything is written; ORDERLY always does
    int quietOneIn; // wake-ups of the watcher
    int holdLent;
    boolean hoards; // gives nothing back before the end of the stream
    boolean talksFirst; // reads nothing until the other has read all of this one's

    /** @param mostBytes the most bytes to be written */
    void draw(Chance chance, int mostBytes) {
        bytes = chance.oneIn(8) ? 0 : chance.spread(1, mostBytes);
        mostWrite = chance.spread(1, mostBytes);
        mostRead = chance.spread(1, mostBytes);
        lendOneIn = chance.of(0, 0, 1, 3, 10);
        borrowOneIn = chance.of(0, 0, 1, 3, 10);
        pace = chance.spread(1, 1000);
        close = chance.oneIn(2) ? Close.ORDERLY : Close.values()[chance.below(4)];
        closeAt = chance.spread(1, 200_000);
        shutsDown = close == Close.ORDERLY || chance.oneIn(4);
        quietOneIn = chance.of(0, 3, 20);
        holdLent = chance.spread(1, 3000);
        hoards = chance.oneIn(8);
    }

    /** Plans many messages of one byte, and no end before they are sent. */
    void makeLong(long messages) {
        bytes = messages;
        mostWrite = 1;
        pace = 1;
        close = Close.ORDERLY;
        shutsDown = true;
        quietOneIn *= 100;
        hoards = false;
    }

    @Override
    public String toString() {
        return close + (close == Close.EARLY || close == Close.HARD ? " at " + closeAt : "") + ", writes " + bytes
                + " bytes, at most " + mostWrite + " a time, lent one in " + lendOneIn + "; reads at most " + mostRead
                + " a time, borrowed one in " + borrowOneIn + ", held for " + (hoards ? "ever" : holdLent) + "; pace "
                + pace + ", quiet one in " + quietOneIn + (shutsDown ? "; shuts down" : "")
                + (talksFirst ? "; talks first" : "");
    }
}
