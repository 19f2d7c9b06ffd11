/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.WcBatch;

/**
 * One end of a connection as plain verbs, for tests that play a peer that the stream would not be: hostile, broken, or
 * at the edge of the rules. Works with any provider. For one thread at a time.
 */
public final class RawEndpoint implements AutoCloseable {

    private static final int WAIT_MILLIS = 5000;

    /** The sizes of an endpoint, with two scatter entries per send. */
    public record Sizes(
            int sends, int receives, int inline, int memory, boolean signalAll, int sendCqEntries, int recvCqEntries) {
        public static final Sizes DEFAULT = new Sizes(16, 16, 64, 65536, false, 16, 16);

        public Sizes queues(int newSends, int newReceives) {
            return new Sizes(newSends, newReceives, inline, memory, signalAll, newSends, newReceives);
        }

        public Sizes cqs(int newSendEntries, int newRecvEntries) {
            return new Sizes(sends, receives, inline, memory, signalAll, newSendEntries, newRecvEntries);
        }

        public Sizes signalAll(boolean on) {
            return new Sizes(sends, receives, inline, memory, on, sendCqEntries, recvCqEntries);
        }

        public Sizes memory(int bytes) {
            return new Sizes(sends, receives, inline, bytes, signalAll, sendCqEntries, recvCqEntries);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    /** A copy of a completion. */
    public record Completion(long id, int status, int opcode, int length, int imm, int flags) {}

    public final Cm cm;
    public final Verbs verbs;
    public final CmChannel events;
    public final CmId id;
    public final Pd pd;
    public final CompChannel channel;
    public final Cq sendCq;
    public final Cq recvCq;
    public final NativeMemory memory;
    public Mr mr;
    public final SendBatch batch;
    public final WcBatch wc = new WcBatch(16);
    /** The private data of the peer's REQ or REP. */
    public byte[] peerData;

    private final boolean ownsEvents;
    private final Deque<Step> undo = new ArrayDeque<>();
    private boolean closed;

    private RawEndpoint(VerbsProvider provider, CmChannel events, boolean ownsEvents, CmId id, Sizes sizes)
            throws IOException {
        this.cm = provider.openCm();
        this.verbs = provider.openVerbs();
        this.events = events;
        this.ownsEvents = ownsEvents;
        this.id = id;
        try {
            pd = verbs.allocPd(id.getVerbs());
            undo.push(pd::dealloc);
            channel = verbs.createCompChannel(id.getVerbs());
            undo.push(channel::destroy);
            sendCq = verbs.createCq(id.getVerbs(), channel, sizes.sendCqEntries(), 1);
            undo.push(sendCq::destroyCQ);
            recvCq = verbs.createCq(id.getVerbs(), channel, sizes.recvCqEntries(), 0);
            undo.push(recvCq::destroyCQ);
            createQp(sizes);
            undo.push(() -> cm.destroyQP(id));
            memory = NativeMemory.allocate(sizes.memory());
            undo.push(memory::free);
            reregister();
            undo.push(() -> verbs.deregisterMr(mr));
            batch = new SendBatch(Math.max(sizes.sends() + 4, 16));
            undo.push(batch::free);
        } catch (IOException | RuntimeException | Error e) {
            undo();
            throw e;
        }
    }

    private void createQp(Sizes sizes) throws IOException {
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSq_sig_all((byte) (sizes.signalAll() ? 1 : 0));
        attr.setSend_cq(sendCq);
        attr.setRecv_cq(recvCq);
        attr.cap().setMax_send_wr(sizes.sends());
        attr.cap().setMax_recv_wr(sizes.receives());
        attr.cap().setMax_send_sge(SendBatch.MAX_SGE);
        attr.cap().setMax_recv_sge(1);
        attr.cap().setMax_inline_data(sizes.inline());
        cm.createQP(id, pd, attr);
    }

    private void undo() throws IOException {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
        wc.free();
    }

    /** Resolves {@code to} and makes everything, but sends no request yet. */
    public static RawEndpoint active(VerbsProvider provider, InetSocketAddress to, Sizes sizes) throws IOException {
        Cm cm = provider.openCm();
        CmChannel events = cm.createEventChannel();
        CmId id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
        try {
            cm.resolveAddr(id, null, to, WAIT_MILLIS);
            await(cm, events, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            cm.resolveRoute(id, WAIT_MILLIS);
            await(cm, events, EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
            return new RawEndpoint(provider, events, true, id, sizes);
        } catch (IOException | RuntimeException | Error e) {
            cm.destroyCmId(id);
            cm.destroyEventChannel(events);
            throw e;
        }
    }

    /** Connects and waits for the answer. */
    public static RawEndpoint connect(VerbsProvider provider, InetSocketAddress to, Sizes sizes, byte[] privateData)
            throws IOException {
        RawEndpoint endpoint = active(provider, to, sizes);
        endpoint.request(privateData);
        endpoint.peerData = endpoint.await(EventType.RDMA_CM_EVENT_ESTABLISHED).privateData();
        return endpoint;
    }

    /** Makes the other end of a CONNECT_REQUEST, but sends no answer yet. */
    public static RawEndpoint passive(VerbsProvider provider, CmChannel events, CmEvent request, Sizes sizes)
            throws IOException {
        RawEndpoint endpoint = new RawEndpoint(provider, events, false, request.id(), sizes);
        endpoint.peerData = request.privateData();
        return endpoint;
    }

    /** Returns the parameters that rsocket asks for. */
    public static ConnParam param(byte[] privateData) {
        return new ConnParam().depths(0, 0).flowControl(true).retries(7, 7).privateData(privateData);
    }

    public void request(byte[] privateData) throws IOException {
        cm.connect(id, param(privateData));
    }

    public void accept(byte[] privateData) throws IOException {
        cm.accept(id, param(privateData));
    }

    /** Returns the next event of the channel, which must be of this type. */
    public CmEvent await(EventType type) throws IOException {
        return await(cm, events, type);
    }

    public static CmEvent await(Cm cm, CmChannel events, EventType type) throws IOException {
        CmEvent event = cm.getCmEvent(events, WAIT_MILLIS);
        if (event == null || event.type() != type) {
            throw new AssertionError("awaited " + type + ", came " + event);
        }
        return event;
    }

    public LoopbackQp qp() {
        return (LoopbackQp) id.getQp();
    }

    /** Posts receives without scatter entries; all must fit. */
    public void receives(int count) throws ErrnoException {
        int posted = qp().postReceives(count);
        if (posted < count) {
            throw new ErrnoException("ibv_post_recv", posted + " of " + count, qp().postError());
        }
    }

    /** Clears the batch and puts one request with the first {@code length} bytes of this end's memory into it. */
    public RawEndpoint prepare(long wrId, int opcode, int flags, int imm, RawEndpoint peer, int offset, int length) {
        batch.clear();
        return append(wrId, opcode, flags, imm, peer, offset, length);
    }

    /** Adds another request to the batch. */
    public RawEndpoint append(long wrId, int opcode, int flags, int imm, RawEndpoint peer, int offset, int length) {
        batch.add(wrId, opcode, flags, imm, peer.memory.address() + offset, peer.mr.getRkey());
        if (length > 0) {
            batch.sge(memory.address(), length, mr.getLkey());
        }
        return this;
    }

    /** Posts the batch; all of it must be taken. */
    public void post() throws ErrnoException {
        int posted = qp().postSend(batch);
        if (posted < batch.size()) {
            throw new ErrnoException("ibv_post_send", posted + " of " + batch.size(), qp().postError());
        }
    }

    /** Returns everything that has completed on a queue. */
    public List<Completion> poll(Cq cq) {
        List<Completion> all = new ArrayList<>();
        for (int n = cq.poll(wc); n != 0; n = cq.poll(wc)) {
            if (n < 0) {
                throw new AssertionError("poll: " + n);
            }
            for (int i = 0; i < n; i++) {
                all.add(new Completion(wc.id(i), wc.status(i), wc.opcode(i), wc.byteLength(i), wc.imm(i), wc.flags(i)));
            }
        }
        return all;
    }

    /** Waits until {@code count} completions have come. */
    public List<Completion> poll(Cq cq, int count) {
        List<Completion> all = new ArrayList<>(poll(cq));
        long start = System.nanoTime();
        while (all.size() < count) {
            if (System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS)) {
                throw new AssertionError("awaited " + count + " completions, came " + all);
            }
            Thread.yield();
            all.addAll(poll(cq));
        }
        return all;
    }

    /** Registers the memory again, after a test deregistered it. */
    public void reregister() throws IOException {
        mr = verbs.registerMr(
                pd, memory.address(), memory.size(), IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
    }

    /** Frees everything, and tells the peer only what the CM itself tells it. Harmless when repeated. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        undo();
        cm.destroyCmId(id);
        if (ownsEvents) {
            cm.destroyEventChannel(events);
        }
    }
}
