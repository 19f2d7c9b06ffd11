/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.LoopbackQp;
import org.jrsocket.verbs.loopback.RawEndpoint;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Credits;
import org.jrsocket.wire.Grant;
import org.jrsocket.wire.Imm;

/**
 * An rsocket peer on plain verbs that does exactly what a test says, right or wrong, and records what the stream sends.
 * It has a grant table, a ring of two halves and a scratch area in one memory, with a key of its own for each of the
 * first two. One thread at a time; what arrives is recorded by whoever delivers it.
 *
 * <p>Once closed it does nothing more. It knows C's rules ({@link #data}, {@link #grant}: credits, grants in the order
 * of the tables), and how to break each of them ({@link #post}).
 */
public final class RawPeer implements AutoCloseable {

    /** Where the ring begins: behind the largest table, and a gap. */
    static final int RING = 32 * 1024;
    /** Bytes behind the ring for payload on its way out. */
    private static final int SCRATCH = 256 * 1024;

    private static final int SENDS = 4096;
    /** What the memory holds where nobody may write. */
    static final byte GUARD = 0x5a;

    /** What the peer says of itself; {@link #DEFAULT} is a C peer on this machine. */
    record Spec(int credits, int receives, int half, int entries, int flags, boolean extension, int rnrRetries) {
        static final Spec DEFAULT = new Spec(384, 384, 65536, 2, ConnData.LOCAL_FLAGS, false, 7);

        Spec credits(int value) {
            return new Spec(value, Math.max(receives, value), half, entries, flags, extension, rnrRetries);
        }

        Spec receives(int value) {
            return new Spec(credits, value, half, entries, flags, extension, rnrRetries);
        }

        Spec half(int value) {
            return new Spec(credits, receives, value, entries, flags, extension, rnrRetries);
        }

        Spec entries(int value) {
            return new Spec(credits, receives, half, value, flags, extension, rnrRetries);
        }

        Spec flags(int value) {
            return new Spec(credits, receives, half, entries, value, extension, rnrRetries);
        }

        /** One of ours instead of a C peer. */
        Spec ours() {
            return new Spec(credits, receives, half, entries, flags, true, rnrRetries);
        }

        Spec rnrRetries(int value) {
            return new Spec(credits, receives, half, entries, flags, extension, value);
        }
    }

    /** One message of the stream, as it arrived. */
    record Message(int opcode, int imm, long address, int key, byte[] payload) {
        int length() {
            return payload.length;
        }

        boolean isData() {
            return opcode == SendBatch.RDMA_WRITE_WITH_IMM && Imm.op(imm) == Imm.OP_DATA;
        }

        boolean isGrant() {
            return Imm.op(imm) == Imm.OP_SGL && payload.length == Grant.SIZE;
        }

        @Override
        public String toString() {
            return (opcode == SendBatch.RDMA_WRITE ? "plain write" : Imm.describe(imm)) + " with " + payload.length
                    + " bytes";
        }
    }

    /** A grant of the stream's. */
    record Area(long address, int key, int length) {}

    final RawEndpoint raw;
    final Spec spec;
    final Mr tableMr;
    final Mr ringMr;
    private LoopbackQp qp;

    /** What the stream said of itself. */
    ConnData stream;
    /** The private data as it came. */
    byte[] streamBytes;
    /** The parameters the stream asked for or answered with. */
    ConnParam streamParam;

    private final List<Message> messages = new ArrayList<>(); // guarded by itself
    private final Queue<Area> areas = new ConcurrentLinkedQueue<>();
    private final AtomicInteger arrivals = new AtomicInteger();
    private final AtomicInteger dataMessages = new AtomicInteger();
    private final AtomicLong dataBytes = new AtomicLong();
    private volatile boolean recording = true;
    private volatile int limit;
    private int sent;
    private long at;
    private int atKey;
    private int left;
    private int tableIndex = 1;
    private int consumed;
    private int inFlight;
    private boolean closed;

    private RawPeer(RawEndpoint raw, Spec spec) throws IOException {
        this.raw = raw;
        this.spec = spec;
        this.qp = raw.qp();
        for (int i = 0; i < raw.memory.size(); i++) {
            raw.memory.buffer().put(i, GUARD);
        }
        int access = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
        for (int i = 0; i < spec.entries * Grant.SIZE; i++) {
            raw.memory.buffer().put(i, (byte) 0);
        }
        tableMr = raw.verbs.registerMr(raw.pd, raw.memory.address(), spec.entries * Grant.SIZE, access);
        ringMr = raw.verbs.registerMr(raw.pd, raw.memory.address() + RING, 2 * Math.max(spec.half, 1), access);
        raw.receives(spec.receives);
    }

    private static RawEndpoint.Sizes sizes(Spec spec) {
        return new RawEndpoint.Sizes(
                SENDS,
                Math.max(spec.receives, 16),
                64,
                RING + 2 * spec.half + SCRATCH,
                true,
                SENDS,
                Math.max(spec.receives, 16));
    }

    /** Ready to {@link #request}. */
    static RawPeer active(LoopbackProvider provider, InetSocketAddress to, Spec spec) throws IOException {
        return new RawPeer(RawEndpoint.active(provider, to, sizes(spec)), spec);
    }

    /** Where a stream can connect to. */
    static final class RawListener implements AutoCloseable {
        private final LoopbackProvider provider;
        private final Cm cm;
        private final CmChannel events;
        private final CmId id;

        RawListener(LoopbackProvider provider) throws IOException {
            this.provider = provider;
            cm = provider.openCm();
            events = cm.createEventChannel();
            id = cm.createId(events, RdmaCm.RDMA_PS_TCP);
            cm.bindAddr(id, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            cm.listen(id, 64);
        }

        InetSocketAddress address() throws IOException {
            return (InetSocketAddress) id.getSource();
        }

        /** Takes a request; sends no answer yet. */
        RawPeer take(Spec spec) throws IOException {
            CmEvent request = RawEndpoint.await(cm, events, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            RawPeer peer = new RawPeer(RawEndpoint.passive(provider, events, request, sizes(spec)), spec);
            peer.learn(request);
            return peer;
        }

        @Override
        public void close() throws IOException {
            cm.destroyCmId(id);
            cm.destroyEventChannel(events);
        }
    }

    // ---- the handshake ----

    /** What this peer should say of itself: 40 bytes, or 56 if it is one of ours. */
    byte[] connData() {
        ByteBuffer data = ByteBuffer.allocate(ConnData.SIZE);
        data.put((byte) 1).put((byte) spec.flags).putShort((short) spec.credits).putInt(0);
        data.putLong(tableAddress()).putInt(tableMr.getRkey()).putInt(spec.entries);
        data.putLong(ringAddress()).putInt(ringMr.getRkey()).putInt(spec.half);
        if (!spec.extension) {
            return data.array();
        }
        try {
            return ConnData.parse(data.array())
                    .withFeatures(ConnData.FEATURE_RESET)
                    .encode();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ConnParam param(byte[] data) {
        return new ConnParam()
                .depths(0, 0)
                .flowControl(true)
                .retries(7, spec.rnrRetries)
                .privateData(data);
    }

    void request(byte[] data) throws IOException {
        raw.cm.connect(raw.id, param(data));
    }

    /** Waits for the stream's answer. */
    RawPeer established() throws IOException {
        learn(raw.await(EventType.RDMA_CM_EVENT_ESTABLISHED));
        return this;
    }

    /** Answers the stream's request. */
    void answer(byte[] data) throws IOException {
        raw.accept(data);
    }

    /** Waits for the stream to confirm the answer. */
    RawPeer confirmed() throws IOException {
        raw.await(EventType.RDMA_CM_EVENT_ESTABLISHED);
        return this;
    }

    private void learn(CmEvent event) throws IOException {
        streamBytes = event.privateData();
        streamParam = event.param();
        stream = ConnData.parse(streamBytes);
        limit = stream.credits();
        at = stream.dataAddr();
        atKey = stream.dataKey();
        left = stream.dataLength();
    }

    // ---- what the stream sent ----

    /** Called for every message of the provider, with the connection's lock. */
    void record(LoopbackQp to, int opcode, int imm, int length, long address, int key) {
        if (to != qp) {
            return;
        }
        if (opcode == SendBatch.RDMA_WRITE_WITH_IMM && Imm.op(imm) == Imm.OP_SGL) {
            limit = Imm.limit(imm);
            if (length == Grant.SIZE) {
                ByteBuffer table = raw.memory.buffer();
                int entry = (int) (address - raw.memory.address());
                boolean big = (spec.flags & ConnData.NET) != 0;
                areas.add(new Area(
                        Grant.address(table, entry, big),
                        Grant.key(table, entry, big),
                        Grant.length(table, entry, big)));
            }
        }
        if (recording) {
            byte[] payload = new byte[length];
            long offset = address - raw.memory.address();
            if (length > 0 && opcode <= SendBatch.RDMA_WRITE_WITH_IMM) {
                raw.memory.buffer().get((int) offset, payload);
            }
            synchronized (messages) {
                messages.add(new Message(opcode, imm, address, key, payload));
            }
        }
        // counted when it can be looked at: a test that waits for the count then reads the message
        if (opcode == SendBatch.RDMA_WRITE_WITH_IMM && Imm.op(imm) == Imm.OP_DATA) {
            dataMessages.incrementAndGet();
            dataBytes.addAndGet(length);
        }
        arrivals.incrementAndGet();
    }

    /** Counts, but keeps no copies from now on. */
    void stopRecording() {
        recording = false;
    }

    int arrivals() {
        return arrivals.get();
    }

    /** Data messages of the stream. */
    int dataMessages() {
        return dataMessages.get();
    }

    /** And the bytes in them. */
    long dataBytes() {
        return dataBytes.get();
    }

    /** All so far. */
    List<Message> messages() {
        synchronized (messages) {
            return List.copyOf(messages);
        }
    }

    /** All so far, and forgets them. */
    List<Message> takeMessages() {
        synchronized (messages) {
            List<Message> all = List.copyOf(messages);
            messages.clear();
            return all;
        }
    }

    /** Waits until that many are there; forgets and returns all. */
    List<Message> takeMessages(int count) {
        await(() -> messages().size() >= count, () -> "awaited " + count + " messages, came " + messages());
        return takeMessages();
    }

    /** Waits for a message with this immediate value. */
    void awaitImm(int imm) {
        await(
                () -> messages().stream().anyMatch(m -> m.opcode != SendBatch.RDMA_WRITE && m.imm == imm),
                () -> "awaited " + Imm.describe(imm) + ", came " + messages());
    }

    boolean has(int imm) {
        return messages().stream().anyMatch(m -> m.opcode != SendBatch.RDMA_WRITE && m.imm == imm);
    }

    public static void await(BooleanSupplier condition, Supplier<String> otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > 20_000_000_000L) {
                throw new AssertionError(otherwise.get());
            }
            LockSupport.parkNanos(50_000);
        }
    }

    /** The bytes of all DATA messages in {@code all}, in order. */
    static byte[] bytesOf(List<Message> all) {
        int length =
                all.stream().filter(Message::isData).mapToInt(Message::length).sum();
        ByteBuffer bytes = ByteBuffer.allocate(length);
        all.stream().filter(Message::isData).forEach(m -> bytes.put(m.payload));
        return bytes.array();
    }

    static List<Integer> dataLengths(List<Message> all) {
        return all.stream().filter(Message::isData).map(Message::length).toList();
    }

    // ---- receives ----

    /** Gives back the receives that were used up, as a C peer does when it polls; how many. */
    synchronized int pump() {
        if (closed) {
            return 0;
        }
        int sum = 0;
        for (int n = raw.recvCq.poll(raw.wc); n > 0; n = raw.recvCq.poll(raw.wc)) {
            int good = 0;
            for (int i = 0; i < n; i++) {
                good += raw.wc.status(i) == WcBatch.SUCCESS ? 1 : 0;
            }
            sum += good;
            qp.postReceives(good);
        }
        return sum;
    }

    // ---- sending, by the rules ----

    long tableAddress() {
        return raw.memory.address();
    }

    long ringAddress() {
        return raw.memory.address() + RING;
    }

    /** Bytes the stream has granted and that are not filled, in the area in use. */
    int left() {
        return left;
    }

    /** How many more data messages the stream allows. */
    int window() {
        return Credits.window(limit, sent);
    }

    int limit() {
        return limit;
    }

    Queue<Area> areas() {
        return areas;
    }

    /** Where the next byte of data goes. */
    long position() {
        return at;
    }

    int positionKey() {
        return atKey;
    }

    /** Sends data as a C peer does: one message for each area it touches. Credits and areas must be there. */
    void data(byte... bytes) throws IOException {
        int from = 0;
        while (from < bytes.length) {
            int n = Math.min(bytes.length - from, room());
            if (n == 0 || window() == 0) {
                throw new AssertionError("room " + n + ", window " + window());
            }
            post(SendBatch.RDMA_WRITE_WITH_IMM, Imm.data(n), at, atKey, Arrays.copyOfRange(bytes, from, from + n));
            moved(n);
            from += n;
        }
    }

    /** Bytes that can go out as one message; takes the next area when one is full. */
    int room() {
        if (left == 0) {
            Area next = areas.poll();
            if (next != null) {
                at = next.address;
                atKey = next.key;
                left = next.length;
            }
        }
        return left;
    }

    /** Accounts for a data message of {@code n} bytes that was posted. */
    void moved(int n) {
        at += n;
        left -= n;
        sent = Credits.next(sent);
    }

    /** Grants, with the credit limit as if {@code consumed} data messages of the stream had been read. */
    void grant(long address, int key, int length) throws IOException {
        ByteBuffer entry = ByteBuffer.allocate(Grant.SIZE).order(ByteOrder.nativeOrder());
        Grant.put(entry, 0, Grant.BIG_ENDIAN_HOST, address, key, length);
        post(
                SendBatch.RDMA_WRITE_WITH_IMM,
                Imm.sgl(consumed + spec.credits),
                stream.targetAddr() + (long) Grant.SIZE * tableIndex,
                stream.targetKey(),
                entry.array());
        tableIndex = (tableIndex + 1) % stream.targetLength();
    }

    /** Grants {@code length} bytes of the ring from {@code offset} on. */
    void grantRing(int offset, int length) throws IOException {
        grant(ringAddress() + offset, ringMr.getRkey(), length);
    }

    /** From now on {@link #grant} and {@link #credit} tell that so many data messages were read. */
    void consumed(int count) {
        consumed = count;
    }

    /** A credit update without a grant. */
    void credit(int newLimit) throws IOException {
        bare(Imm.OP_SGL << 29 | newLimit);
    }

    void ctrl(int code) throws IOException {
        bare(Imm.ctrl(code));
    }

    /** A message without payload. */
    void bare(int imm) throws IOException {
        post(SendBatch.RDMA_WRITE_WITH_IMM, imm, 0, 0);
    }

    // ---- sending anything ----

    /** Posts one message whose payload is {@code bytes}; false if the queue pair no longer takes any. */
    synchronized boolean post(int opcode, int imm, long address, int key, byte... bytes) throws IOException {
        if (closed) {
            return false;
        }
        reap();
        int scratch = RING + 2 * spec.half;
        raw.batch.clear();
        raw.batch.add(0, opcode, bytes.length > 0 && bytes.length <= 64 ? SendBatch.INLINE : 0, imm, address, key);
        if (bytes.length > 0) {
            // Each message in a place of its own until none is under way: it is read when it arrives, which can be
            // later.
            if (scratchAt + bytes.length > SCRATCH) {
                scratchAt = 0;
            }
            raw.memory.buffer().put(scratch + scratchAt, bytes);
            raw.batch.sge(raw.memory.address() + scratch + scratchAt, bytes.length, raw.mr.getLkey());
            scratchAt += bytes.length;
        }
        int posted = qp.postSend(raw.batch);
        inFlight += posted;
        return posted == 1;
    }

    private int scratchAt;

    /** Takes the completions of what was sent; whether all went well so far. */
    synchronized boolean reap() {
        if (closed) {
            return false;
        }
        boolean ok = true;
        for (int n = raw.sendCq.poll(raw.wc); n > 0; n = raw.sendCq.poll(raw.wc)) {
            inFlight -= n;
            for (int i = 0; i < n; i++) {
                ok &= raw.wc.status(i) == WcBatch.SUCCESS;
            }
        }
        return ok;
    }

    /** Messages that are not acknowledged. */
    int inFlight() {
        reap();
        return inFlight;
    }

    LoopbackQp qp() {
        return qp;
    }

    /** The next event of the connection, or null after a while. */
    EventType nextEvent(int millis) throws IOException {
        CmEvent event = raw.cm.getCmEvent(raw.events, millis);
        return event == null ? null : event.type();
    }

    /** Checks that nothing outside table and ring was written to; {@link #close} does it too. */
    void assertGuardsIntact() {
        if (closed) {
            return;
        }
        ByteBuffer memory = raw.memory.buffer();
        for (int i = spec.entries * Grant.SIZE; i < RING; i++) {
            if (memory.get(i) != GUARD) {
                throw new AssertionError("byte " + i + " between table and ring was written to");
            }
        }
    }

    /** Goes away without a word but the CM's own; harmless when repeated. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        assertGuardsIntact();
        closed = true;
        raw.cm.destroyQP(raw.id);
        raw.verbs.deregisterMr(tableMr);
        raw.verbs.deregisterMr(ringMr);
        raw.close();
    }
}
