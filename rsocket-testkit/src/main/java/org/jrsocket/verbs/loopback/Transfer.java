/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvMr;
import java.nio.ByteBuffer;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;

/** The rules by which messages of a reliable connection arrive. Used with the lock held that both queue pairs share. */
final class Transfer {

    /** The content of fields that mean nothing. */
    static final int UNDEFINED = 0xbad;

    /** {@code IBV_WC_LOC_LEN_ERR}: the message is longer than the receive. */
    static final int LOCAL_LENGTH = 1;
    /** {@code IBV_WC_LOC_PROT_ERR}: a local key or its bounds are wrong. */
    static final int LOCAL_PROTECTION = 4;
    /** {@code IBV_WC_REM_INV_REQ_ERR}: the peer's receive was too short. */
    static final int REMOTE_INVALID_REQUEST = 9;
    /** {@code IBV_WC_REM_OP_ERR}: the peer could not complete it, for a reason of its own. */
    static final int REMOTE_OPERATION = 11;
    /** {@code IBV_WC_RNR_RETRY_EXC_ERR}. */
    static final int RNR_RETRY_EXCEEDED = 13;

    private Transfer() {}

    /** Moves up to {@code max} messages of {@code from}, oldest first, and returns how many arrived. */
    static int progress(LoopbackQp from, int max) {
        assert from.isLocked();
        int arrived = 0;
        while (arrived < max && from.maySend() && from.sq.hasWork()) {
            LoopbackQp to = from.peer();
            if (to == null || !to.answers()) {
                from.stalled = true;
                from.startRetryTimer();
                break;
            }
            if (!move(from, to)) {
                break;
            }
            arrived++;
        }
        return arrived;
    }

    /** Moves the oldest message. Returns false if it did not arrive. */
    private static boolean move(LoopbackQp from, LoopbackQp to) {
        LoopbackProvider provider = from.provider();
        KeyTable keys = provider.keys();
        SendQueue sq = from.sq;
        int slot = sq.slot(sq.arrived);
        int opcode = sq.opcode(slot);
        int length = sq.length(slot);
        boolean isWrite = opcode == SendBatch.RDMA_WRITE || opcode == SendBatch.RDMA_WRITE_WITH_IMM;
        if (opcode != SendBatch.RDMA_WRITE && to.rq.isEmpty()) {
            if (!from.rnrCounted) {
                from.rnrCounted = true;
                provider.countRnr();
            }
            if (from.waitsForReceives()) {
                from.stalled = true;
            } else {
                from.failHead(RNR_RETRY_EXCEEDED);
            }
            return false;
        }
        if (provider.faults().breaksNow()) {
            from.failHead(provider.faults().breakStatus());
            return false;
        }
        if (!sq.isReadable(slot, from.domain(), keys)) {
            from.failHead(LOCAL_PROTECTION);
            return false;
        }
        if (isWrite && length > 0) {
            LoopbackMr mr = keys.remote(sq.rkey(slot));
            if (mr == null || !mr.allows(to.domain(), sq.remoteAddress(slot), length, IbvMr.IBV_ACCESS_REMOTE_WRITE)) {
                to.enterError();
                from.failHead(WcBatch.REMOTE_ACCESS);
                return false;
            }
            sq.copyTo(slot, keys, mr.bytes(), mr.offset(sq.remoteAddress(slot)));
        } else if (!isWrite && length > 0 && !fill(from, to, slot)) {
            return false;
        }
        from.rnrCounted = false;
        sq.arrived++;
        provider.arrived(from, to, opcode, sq.imm(slot), length, sq.remoteAddress(slot), sq.rkey(slot));
        switch (opcode) {
            case SendBatch.RDMA_WRITE_WITH_IMM ->
                to.completeReceive(
                        WcBatch.SUCCESS, to.domain().device().writeOpcode, length, sq.imm(slot), WcBatch.WITH_IMM);
            case SendBatch.SEND_WITH_IMM ->
                to.completeReceive(WcBatch.SUCCESS, WcBatch.OP_RECV, length, sq.imm(slot), WcBatch.WITH_IMM);
            case SendBatch.SEND -> to.completeReceive(WcBatch.SUCCESS, WcBatch.OP_RECV, length, UNDEFINED, 0);
            default -> {
                // A plain write is invisible to its target.
            }
        }
        if (!provider.faults().holdsAcks()) {
            while (sq.completed < sq.arrived) {
                from.completeSend(WcBatch.SUCCESS);
            }
        }
        return true;
    }

    /** Copies the payload of a SEND into the oldest receive; if that cannot take it, both ends fail. */
    private static boolean fill(LoopbackQp from, LoopbackQp to, int slot) {
        KeyTable keys = from.provider().keys();
        int length = from.sq.length(slot);
        int failure = 0;
        if (length > to.rq.length()) {
            failure = LOCAL_LENGTH;
        } else {
            LoopbackMr mr = keys.local(to.rq.lkey());
            if (mr == null || !mr.allows(to.domain(), to.rq.address(), length, IbvMr.IBV_ACCESS_LOCAL_WRITE)) {
                failure = LOCAL_PROTECTION;
            } else {
                ByteBuffer target = mr.bytes();
                from.sq.copyTo(slot, keys, target, mr.offset(to.rq.address()));
            }
        }
        if (failure == 0) {
            return true;
        }
        to.completeReceive(failure, 0, 0, 0, 0);
        to.enterError();
        from.failHead(failure == LOCAL_LENGTH ? REMOTE_INVALID_REQUEST : REMOTE_OPERATION);
        return false;
    }
}
