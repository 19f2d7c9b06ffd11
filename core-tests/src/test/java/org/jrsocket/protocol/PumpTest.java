/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;

class PumpTest {

    private static final int CREDITS = 16;

    private final Queues queues = mock();
    private Connection connection;
    private int granted = 4;
    private int inline = 64;

    private Pump pump() {
        when(queues.post()).thenReturn(true);
        when(queues.postReceives(anyInt())).thenReturn(true);
        when(queues.room()).thenReturn(16);
        when(queues.batch()).thenReturn(1);
        ConnData peer = ConnData.local(CREDITS, 0x1000, 1, 2, 0x2000, 2, granted);
        Slab first = new Slab(0x3000, 64, 3, 4);
        connection = new Connection(
                new Inbound(peer, 2, CREDITS, first, 128),
                new Outbound(new SendLimits(32, 1, 2, 1024, inline, 4, 64), peer, 2, CREDITS),
                new SendMemory(new Slab(0x4000, 64, 5, 6), 64),
                mock(),
                mock());
        return new Pump(connection, queues, 16);
    }

    private void write(int n) {
        connection.writeRoom();
        connection.sendMemory().reserve();
        connection.wrote(n);
    }

    @Test
    void shouldTellWhatCameWhileLeaving() {
        Pump pump = pump();
        write(10); // more than was granted
        pump.flush();
        assertTrue(connection.hasLeftover());

        when(queues.pollReceives()).thenReturn(1, 0);
        when(queues.isReceived(0)).thenReturn(true);
        when(queues.isMessage(0)).thenReturn(true);
        when(queues.imm(0)).thenReturn(Imm.data(5));
        when(queues.length(0)).thenReturn(5);
        int effects = pump.leave();

        assertEquals(5, connection.in().readable());
        assertTrue(Effects.has(effects, Effects.READABLE), "a reader that sleeps would not be told");
    }

    /** A reader that sleeps is not to be woken by its own sends, unless something waits for them. */
    @Test
    void shouldArmForMessagesAloneUnlessSomethingIsLeft() {
        Pump pump = pump();
        pump.arm(false);
        pump.leave();
        verify(queues).armReceives();
        verify(queues, never()).arm();

        write(10); // more than was granted
        pump.flush();
        pump.arm(false);
        pump.leave();
        InOrder order = inOrder(queues);
        order.verify(queues).arm();
        order.verify(queues).pollReceives();
    }

    /** Some devices arm a queue only when it is polled next, and the completion that is waited for may still come. */
    @Test
    void shouldPollEachQueueThatItArms() {
        Pump pump = pump();
        pump.arm(true);
        InOrder order = inOrder(queues);
        order.verify(queues).arm();
        order.verify(queues).pollSends();

        write(10); // more than was granted
        pump.flush();
        pump.leave();
        order.verify(queues).arm();
        order.verify(queues).pollSends();
    }

    /** bnxt_re takes no receives for a queue pair in error. What came before the error is still to be read. */
    @Test
    void shouldTakeAllThatCameWhereReceivesCannotBeGivenBack() {
        Pump pump = pump();
        when(queues.postReceives(anyInt())).thenReturn(false);
        when(queues.batch()).thenReturn(8);
        when(queues.pollReceives()).thenReturn(8, 4, 0);
        when(queues.isReceived(anyInt())).thenReturn(true);
        when(queues.isMessage(anyInt())).thenReturn(true);
        when(queues.imm(anyInt())).thenReturn(Imm.data(1));
        when(queues.length(anyInt())).thenReturn(1);
        assertTrue(Effects.has(pump.poll(), Effects.FAILED));
        pump.poll();
        assertEquals(12, connection.in().readable());
    }

    /** A reader that polls is all there is to take the acknowledgement, and waits for the answer to what is left. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendWhatWaitsForACompletionWhenItComes(boolean forReader) {
        granted = 64;
        Pump pump = pump();
        for (int i = 0; i < 4; i++) {
            assertTrue(pump.mayWriteNow(1));
            pump.writeInline(0x5000, 1);
        }
        write(1);
        pump.flush();
        assertTrue(connection.out().waitsForCompletion(), "four requests are on their way");
        assertEquals(4, connection.out().posted());

        when(queues.pollSends()).thenReturn(1, 0);
        when(queues.isSent(0)).thenReturn(true);
        int effects = forReader ? pump.pollMessages() : pump.poll();
        assertTrue(Effects.has(effects, Effects.ACKNOWLEDGED));
        assertEquals(5, connection.out().posted());
        assertFalse(connection.hasLeftover());
    }

    @Test
    void shouldWriteAtOnceWhatThePeerHasRoomFor() {
        Pump pump = pump();
        assertFalse(pump.mayWriteNow(5), "more than was granted");
        assertTrue(pump.mayWriteNow(4));
        assertTrue(pump.isInline(4));
        pump.writeInline(0x5000, 4);

        InOrder order = inOrder(queues);
        order.verify(queues).data(Imm.data(4), 0x2000, 2, true, false);
        order.verify(queues).piece(0x5000, 4, 0);
        order.verify(queues).post();
        assertEquals(4, connection.out().written());
        assertEquals(4, connection.out().posted());
        assertFalse(pump.mayWriteNow(1), "all that was granted is used");
        assertEquals(64, connection.writeRoom(), "it took no send memory");
    }

    @Test
    void shouldWriteAtOnceFromSendMemoryWhatIsNotInline() {
        inline = 3;
        Pump pump = pump();
        assertTrue(pump.mayWriteNow(4));
        assertFalse(pump.isInline(4));
        pump.writeCopied(4);

        InOrder order = inOrder(queues);
        order.verify(queues).data(Imm.data(4), 0x2000, 2, false, false);
        order.verify(queues).piece(0x4000, 4, 5);
        order.verify(queues).post();
        assertEquals(4, connection.out().posted());
        assertEquals(0x4004, connection.sendMemory().next(), "the bytes stay until they are acknowledged");
    }

    /** Some devices take the first piece alone of what is inline. */
    @Test
    void shouldNotSendTwoPiecesInline() {
        granted = 64;
        Pump pump = pump();
        connection.out().write(0x5000, 10, 7, false);
        connection.out().write(0x6000, 10, 8, false);
        pump.flush();
        connection.out().write(0x7000, 10, 7, false);
        pump.flush();

        InOrder order = inOrder(queues);
        order.verify(queues).data(Imm.data(20), 0x2000, 2, false, false);
        order.verify(queues).piece(0x5000, 10, 7);
        order.verify(queues).piece(0x6000, 10, 8);
        order.verify(queues).data(Imm.data(10), 0x2000 + 20, 2, true, true);
        order.verify(queues).piece(0x7000, 10, 7);
    }

    @Test
    void shouldAskForACompletionWhenTheLastOfItsMemoryGoesOut() {
        inline = 3;
        granted = 64;
        Pump pump = pump();
        assertFalse(pump.mayWriteNow(65), "more than there is memory");
        pump.writeCopied(60);
        assertFalse(pump.mayWriteNow(5));
        assertTrue(pump.mayWriteNow(4));
        pump.writeCopied(4);

        verify(queues).data(Imm.data(60), 0x2000, 2, false, false);
        verify(queues).data(Imm.data(4), 0x2000 + 60, 2, false, true);
        assertEquals(0, connection.sendMemory().room());
    }

    @Test
    void shouldNotWriteAtOncePastWhatWaits() {
        Pump pump = pump();
        write(2);
        assertFalse(pump.mayWriteNow(1), "two bytes come first");
        pump.flush();
        assertTrue(pump.mayWriteNow(1));
        connection.out().shutdown();
        assertFalse(pump.mayWriteNow(1), "after the end");
    }
}
