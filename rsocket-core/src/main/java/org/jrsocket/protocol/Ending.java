/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

/**
 * How far the outgoing half of a connection is on its way to the end: what was asked for and what was built of it. It
 * only moves on. Part of {@link Outbound}, which builds the messages.
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

    /** SHUTDOWN, unless it or more was asked for before. */
    void shutdown() {
        if (state == State.OPEN) {
            to(State.SHUTTING);
        }
    }

    /**
     * DISCONNECT.
     *
     * @param tell whether a reset is to go before it
     * @return whether it is still to be built
     */
    boolean close(boolean tell) {
        if (state.compareTo(State.CLOSING) < 0) {
            to(State.CLOSING);
        }
        reset |= tell && state == State.CLOSING;
        return state == State.CLOSING;
    }

    /** Nothing is built any more; false if that was so before. */
    boolean die() {
        boolean first = state != State.DEAD;
        state = State.DEAD;
        return first;
    }

    /** The peer sends no more data. */
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

    /** Whether no end was asked for. */
    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whether SHUTDOWN is the next thing to be built. */
    boolean wantsShutdown() {
        return state == State.SHUTTING;
    }

    /** Whether SHUTDOWN was ever built. */
    boolean hasShutdown() {
        return shutdownBuilt;
    }

    /** Whether DISCONNECT is the next thing to be built. */
    boolean wantsDisconnect() {
        return state == State.CLOSING;
    }

    /** Whether something that was asked for is still to be built. */
    boolean wantsMore() {
        return wantsShutdown() || wantsDisconnect();
    }

    /** Whether the peer is to see a reset. */
    boolean isReset() {
        return reset;
    }

    /** Whether a close was asked for, or the connection is over: the application reads no more. */
    boolean isClosing() {
        return state.compareTo(State.CLOSING) >= 0;
    }

    /** Whether all of a close was built. */
    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** Whether the peer sends no more data. */
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
