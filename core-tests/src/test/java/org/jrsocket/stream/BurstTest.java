/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jrsocket.protocol.SendLimits;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;

/**
 * What is written faster than a device can post, where posting takes long: collected in a burst, and never otherwise.
 */
class BurstTest extends RawPeerTests {

    private static final long COST = 20_000;
    private static final int SIZE = 16;
    private static final int POST_MICROS = 200;
    /** Together less than the peer's room, 64 KiB. */
    private static final int WRITES = 2000;

    private final Burst burst = new Burst();

    /** A direction that nobody answers may see more writes than an int counts. */
    @Test
    void shouldStayAStreamHoweverManyWritesFollowOneAnother() throws Exception {
        Link l = link(Role.PASSIVE);
        StreamLeftover leftover = l.stream().core().leftover;
        leftover.writesInRow = Integer.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            assertEquals(1, l.stream().write(ByteBuffer.allocate(1)));
            assertTrue(leftover.isStreaming());
        }
        leftover.hasRead();
        for (int i = 0; i <= Burst.LENGTH; i++) {
            assertFalse(leftover.isStreaming());
            leftover.flushWritten(1);
        }
        assertTrue(leftover.isStreaming());
    }

    // ---- what counts as one ----

    /** Posts {@code count} times, {@code gap} after one another, {@link #COST} each; returns when the last ended. */
    private long posts(long start, int count, long gap) {
        long now = start;
        for (int i = 0; i < count; i++) {
            now += gap;
            burst.posted(now, now + COST);
            now += COST;
        }
        return now;
    }

    @Test
    void shouldTakePostsWithHardlyATimeBetweenForABurst() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        assertTrue(burst.isRunning(end + COST / 2));
    }

    @Test
    void shouldNotTakeAFewPostsForABurst() {
        long end = posts(0, Burst.LENGTH, COST / 10);
        assertFalse(burst.isLong());
        assertFalse(burst.isRunning(end));
    }

    @Test
    void shouldNotTakeAConversationForABurst() {
        long end = posts(0, 1000, 3 * COST);
        assertFalse(burst.isLong());
        assertFalse(burst.isRunning(end));
    }

    @Test
    void shouldLetABurstPostWhenThePostBeforeHasPaidOff() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        assertFalse(burst.isRunning(end + COST));
    }

    @Test
    void shouldGoOnWithABurstAfterEachPostThatCollected() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        end = posts(end, 100, COST + COST / 10);
        assertTrue(burst.isRunning(end));
    }

    @Test
    void shouldPostAtOnceAfterAPause() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        end = posts(end, 1, 2 * COST);
        assertFalse(burst.isRunning(end));
        end = posts(end, Burst.PAUSE - 1, COST / 10);
        assertFalse(burst.isRunning(end));
    }

    /** Somebody else had the CPU for a moment: often the service thread, woken to look after what was collected. */
    @Test
    void shouldGoOnSoonAfterAPause() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        end = posts(end, 1, 2 * COST);
        end = posts(end, Burst.PAUSE, COST / 10);
        assertTrue(burst.isRunning(end));
    }

    @Test
    void shouldEndABurstWithAFewPauses() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        end = posts(end, Burst.LENGTH / Burst.PAUSE, 2 * COST);
        end = posts(end, Burst.LENGTH - 1, COST / 10);
        assertFalse(burst.isRunning(end));
    }

    @Test
    void shouldNotWaitLongAfterAPostThatWasInterrupted() {
        long end = posts(0, Burst.LENGTH, COST / 10);
        burst.posted(end, end + 1_000_000_000);
        assertTrue(burst.isRunning(end + 1_000_000_000));
        assertFalse(burst.isRunning(end + 1_000_000_000 + Burst.MAX_COST));
    }

    @Test
    void shouldEndABurstWithALargeWrite() {
        long end = posts(0, 1 + Burst.LENGTH, COST / 10);
        burst.end();
        assertFalse(burst.isRunning(end));
    }

    /** Hardware, or a device of this JVM: each write is better sent at once. */
    @Test
    void shouldNotTakeCheapPostsForABurst() {
        long at = 0;
        for (int i = 0; i < 2 * Burst.LENGTH; i++) {
            burst.posted(at, at + Burst.MIN_COST - 1);
            at += Burst.MIN_COST;
        }
        assertFalse(burst.isRunning(at));
    }

    @Test
    void shouldTimeFewPostsOfADeviceThatIsFast() {
        burst.posted(0, Burst.MIN_COST - 1);
        for (int i = 0; i < Burst.UNTIMED; i++) {
            assertTrue(burst.isCheap());
        }
        assertFalse(burst.isCheap(), "it may have become slow");
        burst.posted(0, Burst.MIN_COST);
        assertFalse(burst.isCheap());
    }

    @Test
    void shouldNotMindWhereTheClockBegins() {
        long end = posts(Long.MAX_VALUE - 2 * COST, 2 + Burst.LENGTH, COST / 10);
        assertTrue(burst.isRunning(end + COST / 2));
    }

    // ---- what a stream makes of it ----

    private Link slowPosts() throws Exception {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.credits(WRITES + 100).receives(WRITES + 100));
        verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
            long start = System.nanoTime();
            while (Imm.op(imm) == Imm.OP_DATA
                    && System.nanoTime() - start < TimeUnit.MICROSECONDS.toNanos(POST_MICROS)) {
                Thread.onSpinWait();
            }
            l.peer().record(to, opcode, imm, length, address, key);
        });
        return l;
    }

    @Test
    void shouldSendEachOfAFewWritesBeforeItReturns() throws Exception {
        Link l = slowPosts();
        for (int i = 1; i <= Burst.LENGTH; i++) {
            l.stream().write(new byte[SIZE], 0, SIZE, PATIENCE);
            assertEquals(i, l.peer().dataMessages());
        }
    }

    @Test
    void shouldSendWhatABurstWritesInFewMessagesAndItsLastByteThoughTheWriterIsGone() throws Exception {
        Link l = slowPosts();
        byte[] all = new byte[WRITES * SIZE];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) (i / SIZE + i);
        }
        for (int i = 0; i < WRITES; i++) {
            if (i % 2 == 0) {
                l.stream().write(all, i * SIZE, SIZE, PATIENCE);
            } else {
                assertEquals(SIZE, l.stream().write(ByteBuffer.wrap(all, i * SIZE, SIZE)));
            }
        }
        RawPeer.await(() -> l.peer().dataBytes() >= all.length, () -> l.peer().dataBytes() + " bytes arrived");
        assertEquals(all.length, l.peer().dataBytes());
        int messages = l.peer().dataMessages();
        // a few dozen, if the writer gets the processor all the time
        assertTrue(messages < WRITES, messages + " messages");
        assertArrayEquals(
                all,
                RawPeer.bytesOf(l.peer().messages().stream()
                        .filter(RawPeer.Message::isData)
                        .toList()));
    }

    @Test
    void shouldSendALargeWriteAtOnceInABurst() throws Exception {
        Link l = slowPosts();
        for (int i = 0; i < 200; i++) {
            l.stream().write(new byte[SIZE], 0, SIZE, PATIENCE);
        }
        int odd = SendLimits.BULK + SIZE;
        l.stream().write(new byte[odd], 0, odd, PATIENCE);
        assertEquals(200 * SIZE + odd, l.peer().dataBytes());
    }

    @Test
    void shouldLeaveNothingForLaterWhereTheWriterWaitsForAnAnswer() throws Exception {
        Link l = slowPosts();
        for (int i = 0; i < 200; i++) {
            l.stream().write(new byte[SIZE], 0, SIZE, PATIENCE);
        }
        l.stream().awaitReadable(1);
        assertEquals(200 * SIZE, l.peer().dataBytes());
    }
}
