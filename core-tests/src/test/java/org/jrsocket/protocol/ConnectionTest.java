/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.ArgumentMatchers.same;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

/** What one half of a connection has to tell the other. */
class ConnectionTest {

    private static final int CREDITS = 40_000;
    private static final int MANY = 1000;

    private final ConnData peer = ConnData.local(CREDITS, 0x1000, 1, 2, 0x2000, 2, 1 << 20);
    private final GrantTable table = mock(GrantTable.class);
    private final RequestSink sink = mock(RequestSink.class);
    private final Inbound in = new Inbound(peer, 4, 16, new Slab(0x3000, 64, 3, 4), 128);
    private final Outbound out = new Outbound(new SendLimits(16, 1, 2, 1 << 16, 0, 4, 1 << 14), peer, 4, 16);
    private final Connection connection =
            new Connection(in, out, new SendMemory(new Slab(0x5000, 64, 5, 6), 64), mock(SlabSource.class), table);

    /** A connection whose receive memory may grow, to a peer with four entries in its table and {@code room} bytes. */
    private Connection growing(int room, Slab first, SlabSource source) {
        ConnData fourGrants = ConnData.local(CREDITS, 0x1000, 1, 4, 0x2000, 2, room);
        return new Connection(
                new Inbound(fourGrants, 4, 16, first, 1024),
                new Outbound(new SendLimits(16, 1, 2, 1 << 16, 0, 4, 1 << 14), fourGrants, 4, 16),
                new SendMemory(new Slab(0x5000, 64, 5, 6), 64),
                source,
                table);
    }

    private void take(int limit, int length) {
        int effects = connection.received(Imm.sgl(limit), length);
        assertEquals(Effects.NONE, effects & Effects.VIOLATION);
    }

    /** More memory than there is: what was granted before is granted again, and nothing smaller in its place. */
    @Test
    void shouldGrantASlabAgainIfThereIsOnlyASmallerOneInItsPlace() {
        when(sink.room()).thenReturn(16);
        Slab first = new Slab(0x3000, 64, 3, 4);
        Slab small = new Slab(0x7000, 8, 3, 4);
        SlabSource source = mock(SlabSource.class);
        when(source.isReady(anyInt(), anyInt(), anyBoolean())).thenReturn(true);
        when(source.obtain(anyInt(), anyInt(), anyBoolean())).thenAnswer(asked -> {
            int least = asked.getArgument(1);
            return least <= small.length() ? small : null;
        });
        Connection poor = growing(1 << 20, first, source);
        assertTrue(Effects.has(poor.received(Imm.data(64), 64), Effects.READABLE));
        poor.consume(64);
        poor.build(sink);
        InOrder order = inOrder(sink, source);
        order.verify(source).obtain(128, 65, true);
        order.verify(sink).grant(anyInt(), anyLong(), anyInt(), same(first), anyBoolean());
        verify(source, never()).release(any());
    }

    /** Nothing else would be granted in its place before the window grows again. */
    @Test
    void shouldKeepASlabUntilThereIsALargerOneInItsPlace() {
        when(sink.room()).thenReturn(16);
        Slab first = new Slab(0x3000, 64, 3, 4);
        Slab large = new Slab(0x7000, 128, 3, 4);
        SlabSource source = mock(SlabSource.class);
        Connection growing = growing(1 << 20, first, source);
        growing.received(Imm.data(64), 64);
        growing.consume(64);
        growing.build(sink);
        verify(source, never()).isReady(anyInt(), eq(1), anyBoolean()); // a smaller one would be of no use
        verify(source, never()).obtain(anyInt(), anyInt(), anyBoolean());
        verify(source, never()).release(any());
        when(source.isReady(128, 65, true)).thenReturn(true);
        when(source.obtain(128, 65, true)).thenReturn(large);
        assertTrue(Effects.has(growing.memoryCame(), Effects.SEND));
        growing.build(sink);
        verify(sink).grant(anyInt(), anyLong(), anyInt(), same(large), anyBoolean());
        verify(source).release(first);
    }

    /** Rather than another one, beside which there may be no room for the one that waits. */
    @Test
    void shouldGrantWhatWaitsForALargerSlabToLend() {
        when(sink.room()).thenReturn(16);
        Slab first = new Slab(0x3000, 64, 3, 4);
        Slab second = new Slab(0x7000, 64, 3, 4);
        SlabSource source = mock(SlabSource.class);
        when(source.isReady(64, 1, true)).thenReturn(true);
        when(source.obtain(64, 1, true)).thenReturn(second);
        Connection growing = growing(1 << 20, first, source);
        growing.open();
        growing.build(sink);
        growing.received(Imm.data(64), 64);
        growing.received(Imm.data(64), 64);
        growing.consume(64);
        growing.build(sink);
        growing.received(Imm.data(64), 64);
        growing.consume(64); // the window grows, and the second slab waits
        assertFalse(growing.in().mayLend());
        assertTrue(Effects.has(growing.growToLend(), Effects.SEND));
        assertTrue(growing.in().mayLend());
    }

    /** The peer's first grant is four bytes, and four more are left to send. */
    private Connection withDataLeft(SlabSource source) {
        when(sink.room()).thenReturn(16);
        Connection left = growing(4, new Slab(0x3000, 64, 3, 4), source);
        left.wrote(8);
        left.build(sink);
        left.received(Imm.data(64), 64);
        left.consume(64);
        return left;
    }

    /** Else it would be looked after for ever. */
    @Test
    void shouldHaveNothingLeftToSendOnceItHasFailed() {
        Connection left = withDataLeft(mock(SlabSource.class));
        assertTrue(left.hasLeftover());
        left.sendFailed();
        assertFalse(left.hasLeftover());
        assertTrue(left.out().hasLost());
    }

    private void verifyGrants(int count) {
        verify(sink, times(count)).grant(anyInt(), anyLong(), anyInt(), any(), anyBoolean());
    }

    /** The peer may be closed, too, and wait for that to send what it has left. */
    @Test
    void shouldAnnounceGrantsAfterACloseWhileDataIsLeft() {
        SlabSource source = mock(SlabSource.class);
        when(source.isReady(anyInt(), anyInt(), anyBoolean())).thenReturn(true);
        Connection left = withDataLeft(source);
        left.out().close(false, false);
        left.build(sink);
        verifyGrants(1);
    }

    @Test
    void shouldGrantWhatWaitedForALargerSlabAfterACloseWhileDataIsLeft() {
        SlabSource source = mock(SlabSource.class);
        Connection left = withDataLeft(source);
        left.out().close(false, false);
        left.build(sink);
        verifyGrants(0);
        when(source.isReady(anyInt(), anyInt(), anyBoolean())).thenReturn(true); // to refuse
        assertTrue(Effects.has(left.memoryCame(), Effects.SEND));
        left.build(sink);
        verifyGrants(1);
    }

    /** It drops the data if the peer has no room. */
    @Test
    void shouldAnnounceNoGrantsAfterAReset() {
        SlabSource source = mock(SlabSource.class);
        when(source.isReady(anyInt(), anyInt(), anyBoolean())).thenReturn(true);
        Connection left = withDataLeft(source);
        left.out().close(false, true);
        left.build(sink);
        verifyGrants(0);
    }

    @Test
    void shouldCountLimitsThatGoBackAndForth() {
        for (int i = 0; i < MANY; i++) {
            take(i % 2 == 0 ? 1000 : 33_768, 0);
        }
        assertTrue(in.idleMessages() > MANY / 2, in.idleMessages() + " of " + MANY);
    }

    @Test
    void shouldCountLimitsOfWhichAnIwarpAdapterDoesNotTellWhetherAGrantCameAlong() {
        when(table.length(anyInt())).thenReturn(0);
        for (int i = 0; i < MANY; i++) {
            take(CREDITS, Inbound.UNKNOWN_LENGTH);
        }
        assertTrue(in.idleMessages() > MANY / 2, in.idleMessages() + " of " + MANY);
    }

    private void send() {
        out.write(0x5000, 1, 5, true);
        assertEquals(1, connection.build(sink));
        connection.sendCompleted();
    }

    @Test
    void shouldNotCountLimitsThatFollowOurData() {
        when(sink.room()).thenReturn(16);
        for (int i = 1; i <= MANY; i++) {
            send();
            take(CREDITS + i & 0xffff, 0);
        }
        assertEquals(0, in.idleMessages());
    }

    /** A peer with few credits says each time half of them are free again, and we may take it all at once. */
    @Test
    void shouldNotCountLimitsThatComeTogether() {
        when(sink.room()).thenReturn(16);
        for (int i = 0; i < MANY; i += 16) {
            for (int n = 0; n < 16; n++) {
                send();
            }
            take(CREDITS + i + 8 & 0xffff, 0);
            take(CREDITS + i + 16 & 0xffff, 0);
        }
        assertEquals(0, in.idleMessages());
    }

    /** However much was sent before: what the peer may save up is bounded by its credits. */
    @Test
    void shouldCountLimitsAfterMuchData() {
        when(sink.room()).thenReturn(16);
        for (int i = 1; i <= 100_000; i++) {
            send();
            if (i % 10_000 == 0) {
                take(CREDITS + i & 0xffff, 0);
            }
        }
        for (int i = 0; i < 100_000; i++) {
            take(CREDITS + 100_000 & 0xffff, 0);
        }
        assertTrue(in.idleMessages() > 30_000, in.idleMessages() + " idle ones");
    }
}
