/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.RecvBatch;

/** DiSNI's prepared post to a receive queue, which keeps a copy of its list. Not thread safe, as in DiSNI. */
final class SvcPostRecv extends SVCPostRecv {

    private final Qp qp;
    private final SvcBatches batches;
    private final List<Wr> requests = new ArrayList<>();
    private final List<IbvRecvWR> originals;
    private final List<IbvRecvWR> bad;
    private final int maxSge;
    private boolean valid = true;

    /** @param bad gets the requests that were not posted; may be null */
    SvcPostRecv(Qp qp, SvcBatches batches, List<IbvRecvWR> list, List<IbvRecvWR> bad) {
        this.qp = qp;
        this.batches = batches;
        this.originals = List.copyOf(list);
        this.bad = bad;
        int entries = 1;
        for (IbvRecvWR request : list) {
            List<IbvSge> sges = request.getSg_list() == null ? List.of() : request.getSg_list();
            requests.add(new Wr(
                    request.getWr_id(),
                    sges.stream()
                            .map(s -> new Sge(s.getAddr(), s.getLength(), s.getLkey()))
                            .toList()));
            entries = Math.max(entries, sges.size());
        }
        this.maxSge = entries;
    }

    @Override
    public SVCPostRecv execute() throws IOException {
        if (!valid || !qp.isOpen()) {
            throw new IOException(valid ? "queue pair was destroyed" : "call was freed");
        }
        RecvBatch batch = batches.takeRecv(maxSge);
        try {
            int done = 0;
            while (done < requests.size()) {
                batch.clear();
                int count = Math.min(batch.capacity(), requests.size() - done);
                for (Wr request : requests.subList(done, done + count)) {
                    batch.add(request.id);
                    for (Sge sge : request.sges) {
                        batch.sge(sge.address, sge.length, sge.lkey);
                    }
                }
                int posted = qp.postRecv(batch);
                done += posted;
                if (posted < count) {
                    if (bad != null) {
                        bad.addAll(originals.subList(done, originals.size()));
                    }
                    throw new ErrnoException(
                            "ibv_post_recv", done + " of " + requests.size() + " posted", qp.postError());
                }
            }
        } finally {
            batches.give(batch);
        }
        return this;
    }

    @Override
    public RecvWRMod getWrMod(int index) {
        return requests.get(index);
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPostRecv free() {
        valid = false;
        return this;
    }

    private record Wr(long id, List<Sge> sges) implements RecvWRMod {
        @Override
        public long getWr_id() {
            return id;
        }
    }

    private record Sge(long address, int length, int lkey) {}
}
