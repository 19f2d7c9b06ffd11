/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doNothing;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import org.jrsocket.threads.ServiceLoop;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is left of a write where the service thread cannot watch for the event that it waits for. */
class StreamWaiterTest extends RawPeerTests {

    private static final int HALF = 100;

    private final ServiceLoop service = mock(ServiceLoop.class);
    private final ServiceLoop.Watch watch = mock(ServiceLoop.Watch.class);
    private Runnable onReadable;
    private RdmaStream stream;
    private StreamDriver core;
    private StreamWaiter waiter;

    /** Something is left, for which the peer has no room. */
    @BeforeEach
    void write() throws Exception {
        when(service.watch(anyInt(), any())).thenAnswer(call -> {
            onReadable = call.getArgument(1);
            return watch;
        });
        stream = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(HALF)).stream();
        stream.write(new byte[3 * HALF], 0, 3 * HALF, PATIENCE);
        core = stream.core();
        waiter = new StreamWaiter(core, service, this::takeEvents);
    }

    private void takeEvents() {
        Throwable failed = waiter.takeEvents();
        if (failed != null) {
            core.leftover.fail(failed);
        }
    }

    private boolean isLookedAfter() {
        core.enter();
        try {
            return waiter.isLookedAfter();
        } finally {
            core.exit();
        }
    }

    private void lookAfter() {
        core.enter();
        try {
            waiter.lookAfter();
        } finally {
            core.exit();
        }
    }

    @Test
    void shouldNotSayThatTheServiceThreadGoesOnIfItWatchesNothing() throws Exception {
        doThrow(new IOException("says a test")).when(watch).arm();
        assertThrows(UncheckedIOException.class, this::lookAfter);
        assertFalse(isLookedAfter());
    }

    /** An error is better than silence. */
    @Test
    void shouldResetAStreamThatTheServiceThreadCannotWatchAnyLonger() throws Exception {
        doNothing().doThrow(new IOException("says a test")).when(watch).arm();
        lookAfter();
        assertTrue(isLookedAfter());
        onReadable.run();
        assertFalse(isLookedAfter());
        SocketException e = assertThrows(SocketException.class, () -> stream.read(new byte[1], 0, 1, PATIENCE));
        assertEquals("Connection reset", e.getMessage());
    }
}
