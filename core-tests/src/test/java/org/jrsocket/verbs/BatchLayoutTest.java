/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jrsocket.os.NativeMemory;
import org.junit.jupiter.api.Test;

class BatchLayoutTest {

    /** What libibverbs follows: each request points to the next one and to its own scatter entries. */
    @Test
    void shouldChainSendRequests() {
        SendBatch batch = new SendBatch(3);
        batch.add(11, SendBatch.RDMA_WRITE, 0, 0, 22, 33);
        batch.add(12, SendBatch.SEND_WITH_IMM, SendBatch.SIGNALED, 0x0a0b0c0d, 0, 0);
        batch.sge(44, 55, 66);
        batch.sge(45, 56, 67);
        assertThrows(IllegalStateException.class, () -> batch.sge(1, 1, 1));
        batch.add(13, SendBatch.SEND, 0, 0, 0, 0);
        assertThrows(IllegalStateException.class, () -> batch.add(14, 0, 0, 0, 0, 0));
        ByteBuffer first = NativeMemory.view(batch.address(), SendBatch.WR_SIZE);
        assertEquals(11, first.getLong(SendBatch.WR_ID));
        assertEquals(22, first.getLong(SendBatch.REMOTE_ADDR));
        assertEquals(33, first.getInt(SendBatch.RKEY));
        assertEquals(0, first.getInt(SendBatch.NUM_SGE));
        ByteBuffer second = NativeMemory.view(first.getLong(SendBatch.NEXT), SendBatch.WR_SIZE);
        assertEquals(12, second.getLong(SendBatch.WR_ID));
        assertEquals(SendBatch.SEND_WITH_IMM, second.getInt(SendBatch.OPCODE));
        assertEquals(SendBatch.SIGNALED, second.getInt(SendBatch.FLAGS));
        assertEquals(0x0a0b0c0d, second.order(ByteOrder.BIG_ENDIAN).getInt(SendBatch.IMM), "network order");
        second.order(ByteOrder.nativeOrder());
        assertEquals(2, second.getInt(SendBatch.NUM_SGE));
        ByteBuffer entries = NativeMemory.view(second.getLong(SendBatch.SG_LIST), 2 * SendBatch.SGE_SIZE);
        assertEquals(44, entries.getLong(0));
        assertEquals(55, entries.getInt(8));
        assertEquals(66, entries.getInt(12));
        assertEquals(45, entries.getLong(16));
        ByteBuffer third = NativeMemory.view(second.getLong(SendBatch.NEXT), SendBatch.WR_SIZE);
        assertEquals(13, third.getLong(SendBatch.WR_ID));
        assertEquals(0, third.getLong(SendBatch.NEXT));
        batch.free();
    }

    @Test
    void shouldForgetTheChainOfWhatWasPosted() {
        SendBatch batch = new SendBatch(3);
        for (int i = 0; i < 3; i++) {
            batch.add(i, SendBatch.SEND, 0, 0, 0, 0);
            batch.sge(44, 55, 66);
        }
        batch.clear();
        batch.add(7, SendBatch.RDMA_WRITE, 0, 0, 22, 33);
        ByteBuffer first = NativeMemory.view(batch.address(), SendBatch.WR_SIZE);
        assertEquals(0, first.getLong(SendBatch.NEXT));
        assertEquals(0, first.getInt(SendBatch.NUM_SGE));
        batch.add(8, SendBatch.RDMA_WRITE, 0, 0, 22, 33);
        ByteBuffer second = NativeMemory.view(first.getLong(SendBatch.NEXT), SendBatch.WR_SIZE);
        assertEquals(8, second.getLong(SendBatch.WR_ID));
        assertEquals(0, second.getLong(SendBatch.NEXT));
        batch.free();
    }

    /** irdma looks at the first entry even of a write without any, so it must not be that of an earlier request. */
    @Test
    void shouldLeaveNoScatterEntryToARequestWithoutPayload() {
        SendBatch batch = new SendBatch(1);
        batch.add(1, SendBatch.RDMA_WRITE_WITH_IMM, 0, 0, 22, 33);
        batch.sge(44, 55, 66);
        batch.clear();
        batch.add(2, SendBatch.RDMA_WRITE, SendBatch.SIGNALED, 0, 0, 0);
        ByteBuffer request = NativeMemory.view(batch.address(), SendBatch.WR_SIZE);
        ByteBuffer entry = NativeMemory.view(request.getLong(SendBatch.SG_LIST), SendBatch.SGE_SIZE);
        assertEquals(0, entry.getLong(0));
        assertEquals(0, entry.getLong(8));
        batch.free();
    }

    @Test
    void shouldChainReceiveRequests() {
        RecvBatch batch = new RecvBatch(2, 1);
        batch.add(1);
        batch.add(2);
        batch.sge(44, 55, 66);
        assertThrows(IllegalStateException.class, () -> batch.sge(1, 1, 1));
        assertThrows(IllegalStateException.class, () -> batch.add(3));
        ByteBuffer first = NativeMemory.view(batch.address(), RecvBatch.WR_SIZE);
        assertEquals(0, first.getInt(RecvBatch.NUM_SGE));
        ByteBuffer second = NativeMemory.view(first.getLong(RecvBatch.NEXT), RecvBatch.WR_SIZE);
        assertEquals(2, second.getLong(RecvBatch.WR_ID));
        assertEquals(0, second.getLong(RecvBatch.NEXT));
        assertEquals(1, second.getInt(RecvBatch.NUM_SGE));
        assertEquals(
                44, NativeMemory.view(second.getLong(RecvBatch.SG_LIST), 16).getLong(0));
        assertEquals(44, batch.sgeAddress(1, 0));
        assertEquals(55, batch.sgeLength(1, 0));
        assertEquals(66, batch.sgeLkey(1, 0));
        batch.free();
    }

    /** irdma looks at the first entry of a receive, too; the device would write where an earlier receive did. */
    @Test
    void shouldLeaveNoScatterEntryToAReceiveWithoutMemory() {
        RecvBatch batch = new RecvBatch(1, 1);
        batch.add(1);
        batch.sge(44, 55, 66);
        batch.clear();
        batch.add(2);
        ByteBuffer request = NativeMemory.view(batch.address(), RecvBatch.WR_SIZE);
        ByteBuffer entry = NativeMemory.view(request.getLong(RecvBatch.SG_LIST), SendBatch.SGE_SIZE);
        assertEquals(0, entry.getLong(0));
        assertEquals(0, entry.getLong(8));
        batch.free();
    }
}
