/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.SocketException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.endpoint.Bundle;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

/** A reader that polls in native code finds what others have to see as well. */
class SpinningReaderTest extends RawPeerTests {

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    /** The connection manager's word overtakes the reader that has just found the peer's own. */
    @Test
    void shouldSeeTheEndThatAReaderHasFoundWhenTheManagerSaysThatThePeerIsGone() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, CONFIG.withSpinNanos(1_000_000_000));
        Thread reader = Thread.currentThread();
        AtomicBoolean sent = new AtomicBoolean();
        AtomicBoolean gone = new AtomicBoolean();
        hooked.hook = (at, queue) -> {
            boolean spins = Thread.currentThread() == reader
                    && queue == Bundle.RECV_COOKIE
                    && !l.stream().core().isHeld();
            try {
                if (spins && at == Point.BEFORE_POLL && sent.compareAndSet(false, true)) {
                    l.peer().data(bytes(10));
                    l.peer().ctrl(Imm.CTRL_DISCONNECT);
                } else if (spins && at == Point.AFTER_POLL && gone.compareAndSet(false, true)) {
                    l.peer().close();
                    passTheServiceThread();
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        };
        assertEquals(10, read(l.stream(), 10).length);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertTrue(gone.get(), "the reader did not poll in native code");
    }

    /** Data that nobody has read makes a reset of a close, also if a reader has just found it. */
    @Test
    void shouldResetWhenClosedWhileAReaderHasFoundData() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.ours(), CONFIG.withSpinNanos(1_000_000_000));
        Thread reader = Thread.currentThread();
        AtomicBoolean closed = new AtomicBoolean();
        hooked.hook = (at, queue) -> {
            boolean spins = Thread.currentThread() == reader
                    && queue == Bundle.RECV_COOKIE
                    && !l.stream().core().isHeld();
            try {
                if (spins && at == Point.BEFORE_POLL && !closed.get()) {
                    l.peer().data(bytes(10));
                } else if (spins && at == Point.AFTER_POLL && closed.compareAndSet(false, true)) {
                    l.stream().close();
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        };
        assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        assertTrue(closed.get(), "the reader did not poll in native code");
        RawPeer.await(() -> l.peer().has(Imm.ctrl(Imm.CTRL_RESET)), () -> "closed as if all had been read");
    }
}
