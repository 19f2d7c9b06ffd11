/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.NetOrder;
import org.jrsocket.verbs.WcBatch;

/** DiSNI's prepared poll: fills the array it was made with. Not thread safe, as in DiSNI. */
final class SvcPollCq extends SVCPollCq {

    private final Cq cq;
    private final SvcBatches batches;
    private final IbvWC[] completions;
    private final int wanted;
    private int polls;
    private boolean valid = true;

    SvcPollCq(Cq cq, SvcBatches batches, IbvWC[] completions, int wanted) {
        this.cq = cq;
        this.batches = batches;
        this.completions = completions;
        this.wanted = Math.min(wanted, completions.length);
    }

    @Override
    public SVCPollCq execute() throws IOException {
        polls = 0;
        if (!valid || !cq.isOpen()) {
            throw new IOException(valid ? "completion queue was destroyed" : "call was freed");
        }
        if (wanted == 0) {
            return this;
        }
        WcBatch batch = batches.takeWc(wanted);
        try {
            int n = cq.poll(batch);
            if (n < 0) {
                throw new ErrnoException("ibv_poll_cq", "", -n);
            }
            for (int i = 0; i < n; i++) {
                copy(batch, i, completions[i]);
            }
            polls = n;
        } finally {
            batches.give(batch);
        }
        return this;
    }

    private static void copy(WcBatch batch, int i, IbvWC wc) {
        wc.setWr_id(batch.id(i));
        wc.setStatus(batch.status(i));
        wc.setVendor_err(batch.vendorError(i));
        wc.setQp_num(batch.qpNumber(i));
        if (batch.status(i) == WcBatch.SUCCESS) {
            wc.setOpcode(batch.opcode(i));
            wc.setByte_len(batch.byteLength(i));
            wc.setImm_data(NetOrder.swap(batch.imm(i))); // DiSNI takes the bytes in memory
            wc.setWc_flags(batch.flags(i));
        }
    }

    @Override
    public int getPolls() {
        return polls;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPollCq free() {
        valid = false;
        return this;
    }
}
