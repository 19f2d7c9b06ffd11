/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * Tracks the end of a connection's outgoing half: what was asked for, and what of it was built. It only moves forward.
 * Part of {@code Outbound}, which builds the messages.
 */
final class Ending {

    private enum State {
        OPEN,
        /** SHUTDOWN is wanted, after everything written. */
        SHUTTING,
        /** SHUTDOWN was built. */
        SHUT,
        /** DISCONNECT is wanted, after everything written; a reset does not wait for that. */
        CLOSING,
        /** DISCONNECT was built, or is not needed. */
        CLOSED,
        /** Nothing can be sent any more. */
        DEAD
    }

    private State state = State.OPEN;
    private boolean shutdownBuilt;
    private boolean reset;
    private boolean peerEnded;

    private void to(State next) {
        assert next.compareTo(state) > 0 : state + " to " + next;
        state = next;
    }

    // ---- asked for ----

    /** Asks for SHUTDOWN, unless it or more was asked for before. */
    void shutdown() {
        if (state == State.OPEN) {
            to(State.SHUTTING);
        }
    }

    /**
     * Asks for DISCONNECT.
     *
     * @param tell whether a reset is to be sent before it
     * @return whether it is still to be built
     */
    boolean close(boolean tell) {
        if (state.compareTo(State.CLOSING) < 0) {
            to(State.CLOSING);
        }
        reset |= tell && state == State.CLOSING;
        return state == State.CLOSING;
    }

    /** Ends all building. Returns false if that was done before. */
    boolean die() {
        boolean first = state != State.DEAD;
        state = State.DEAD;
        return first;
    }

    /** Records that the peer sends no more data. */
    void peerEnded() {
        peerEnded = true;
    }

    // ---- built ----

    void shutdownBuilt() {
        to(State.SHUT);
        shutdownBuilt = true;
    }

    void closed() {
        to(State.CLOSED);
    }

    // ---- asked ----

    /** Returns whether no end was asked for. */
    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Returns whether SHUTDOWN is the next thing to be built. */
    boolean wantsShutdown() {
        return state == State.SHUTTING;
    }

    /** Returns whether SHUTDOWN was ever built. */
    boolean hasShutdown() {
        return shutdownBuilt;
    }

    /** Returns whether DISCONNECT is the next thing to be built. */
    boolean wantsDisconnect() {
        return state == State.CLOSING;
    }

    /** Returns whether something that was asked for is still to be built. */
    boolean wantsMore() {
        return wantsShutdown() || wantsDisconnect();
    }

    /** Returns whether the peer is to see a reset. */
    boolean isReset() {
        return reset;
    }

    /** Returns whether a close was asked for, or the connection has ended: the application reads no more. */
    boolean isClosing() {
        return state.compareTo(State.CLOSING) >= 0;
    }

    /** Returns whether all of a close was built. */
    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** Returns whether the peer sends no more data. */
    boolean hasPeerEnded() {
        return peerEnded;
    }

    boolean isDead() {
        return state == State.DEAD;
    }

    @Override
    public String toString() {
        return state.toString();
    }
}
