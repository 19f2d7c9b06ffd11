/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.endpoint.RegisteredSlab;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.MemlockLimit;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.protocol.Slab;
import org.jrsocket.stream.HookedVerbs.Point;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LiveObjects;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What connections leave for connections to come: that it is used, that it is safe, and that it does not stay. */
class BundlesTest extends RawPeerTests {

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    private static final StreamConfig SMALL = CONFIG.withBuffers(4096, 8192).withQueues(16, 16);

    private void freed() {
        RawPeer.await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams are not freed");
        RawPeer.await(
                () -> verbs.liveObjects().qps() == peers.size(),
                () -> "queue pairs are not freed: " + verbs.liveObjects());
    }

    private void keepFor(long nanos) throws IOException {
        transport.close();
        transport = RdmaTransport.over(hooked, nanos);
    }

    /** A stream that has come to an end by both, so that what it leaves can be used again. */
    private Link ended(StreamConfig config) throws IOException {
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, config);
        l.peer().data(bytes(1000));
        assertArrayEquals(bytes(1000), read(l.stream(), 1000));
        l.peer().ctrl(Imm.CTRL_DISCONNECT);
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        l.stream().close();
        freed();
        return l;
    }

    /** The same domain, queues and memory, one connection after another, whichever end. */
    @Test
    void shouldUseAgainWhatAConnectionLeaves() throws Exception {
        Link first = ended(CONFIG);
        LiveObjects after = verbs.liveObjects();
        for (Role role : Role.values()) {
            Link next = link(role);
            assertEquals(first.peer().stream.dataAddr(), next.peer().stream.dataAddr());
            assertEquals(
                    after.mrs() + 3, verbs.liveObjects().mrs(), "the raw peer's own three, and none of the stream's");
            next.peer().data(bytes(30_000));
            assertArrayEquals(bytes(30_000), read(next.stream(), 30_000));
            next.stream().write(bytes(30_000), 0, 30_000, PATIENCE);
            RawPeer.await(
                    () -> next.peer().dataBytes() == 30_000,
                    () -> "came only " + next.peer().dataBytes());
            next.stream().close();
            freed();
            after = verbs.liveObjects();
        }
    }

    /** Sizes are settled when memory is registered. */
    @Test
    void shouldNotUseAgainWhatHasAnotherSize() throws Exception {
        Link first = ended(CONFIG);
        assertNotEquals(
                first.peer().stream.dataAddr(),
                link(Role.PASSIVE, RawPeer.Spec.DEFAULT, SMALL).peer().stream.dataAddr());
    }

    /** The peer of a connection that is over still knows the keys, and may have other connections. */
    @Test
    void shouldNotLetTheFormerPeerWrite() throws Exception {
        Link first = ended(CONFIG);
        Link l = link(Role.PASSIVE);
        long address = first.peer().stream.dataAddr();
        assertEquals(address, l.peer().stream.dataAddr());
        first.peer().post(SendBatch.RDMA_WRITE, 0, address, first.peer().stream.dataKey(), bytes(50));
        Link another = link(Role.PASSIVE);
        another.peer()
                .post(SendBatch.RDMA_WRITE, 0, address, first.peer().stream.dataKey(), bytes(50));
        assertThrows(SocketException.class, () -> another.stream().read(new byte[1], 0, 1, PATIENCE));
        l.peer().data(new byte[10]);
        assertArrayEquals(new byte[10], read(l.stream(), 10));
        assertEquals(0, NativeMemory.view(address, 50).getLong(20));
    }

    /**
     * A peer that announces what it wrote elsewhere has whatever stands in the ring read; that must not be the former
     * peer's.
     */
    @Test
    void shouldNotShowTheFormerPeersBytes() throws Exception {
        ended(CONFIG);
        Link l = link(Role.PASSIVE);
        RawPeer peer = l.peer();
        peer.post(
                SendBatch.RDMA_WRITE_WITH_IMM,
                Imm.data(1000),
                peer.position() + 5000,
                peer.positionKey(),
                new byte[1000]);
        assertArrayEquals(new byte[1000], read(l.stream(), 1000));
    }

    /** The copy out of a mapped file breaks off where the file has ended, and what stood there may be sent. */
    @Test
    void shouldClearWhatItHadSent() throws Exception {
        Link first = link(Role.PASSIVE);
        first.stream().write(bytes(4000), 0, 4000, PATIENCE);
        first.stream().write(bytes(40), 0, 40, PATIENCE);
        RawPeer.await(
                () -> first.peer().dataBytes() == 4040,
                () -> "came only " + first.peer().dataBytes());
        first.peer().ctrl(Imm.CTRL_DISCONNECT);
        first.stream().close();
        freed();
        Link l = link(Role.PASSIVE);
        assertEquals(first.peer().stream.dataAddr(), l.peer().stream.dataAddr());
        StreamCore core = l.stream().core();
        Slab slab = core.connection.sendMemory().slab();
        for (ByteBuffer memory : List.of(((RegisteredSlab) slab).bytes, core.queues.payload())) {
            byte[] left = new byte[memory.capacity()];
            memory.get(0, left);
            assertArrayEquals(new byte[left.length], left);
        }
    }

    /** A peer that vanished may have written without saying so. */
    @Test
    void shouldClearTheWholeRingAfterAPeerThatVanished() throws Exception {
        Link gone = link(Role.PASSIVE);
        long address = gone.peer().stream.dataAddr();
        gone.peer()
                .post(
                        SendBatch.RDMA_WRITE,
                        0,
                        address + 9000,
                        gone.peer().stream.dataKey(),
                        bytes(50));
        gone.peer().close();
        peers.remove(gone.peer());
        assertThrows(SocketException.class, () -> gone.stream().read(new byte[1], 0, 1, PATIENCE));
        gone.stream().close();
        freed();
        assertEquals(address, link(Role.PASSIVE).peer().stream.dataAddr());
        assertEquals(0, NativeMemory.view(address + 9000, 50).getLong(20));
    }

    /**
     * C does not keep an application from sending after its own shutdown; that is dropped, but it stands in the ring.
     */
    @Test
    void shouldClearWhatAPeerSentAfterItsEnd() throws Exception {
        Link l = link(Role.PASSIVE);
        long address = l.peer().stream.dataAddr();
        l.peer().ctrl(Imm.CTRL_SHUTDOWN);
        l.peer().data(bytes(1000));
        // and this it never announced
        l.peer().post(SendBatch.RDMA_WRITE, 0, address + 9000, l.peer().stream.dataKey(), bytes(50));
        assertEquals(-1, l.stream().read(new byte[1], 0, 1, PATIENCE));
        l.stream().close();
        freed();
        assertEquals(address, link(Role.PASSIVE).peer().stream.dataAddr());
        assertEquals(0, NativeMemory.view(address, 1000).getLong(500));
        assertEquals(0, NativeMemory.view(address + 9000, 50).getLong(20));
    }

    /** Grants that nobody used must not be taken for the next peer's. */
    @Test
    void shouldForgetTheFormerPeersGrants() throws Exception {
        Link first = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        first.peer()
                .post(
                        SendBatch.RDMA_WRITE,
                        0,
                        first.peer().stream.targetAddr(),
                        first.peer().stream.targetKey(),
                        bytes(32));
        first.stream().close();
        freed();
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100));
        assertEquals(first.peer().stream.targetAddr(), l.peer().stream.targetAddr());
        l.stream().write(bytes(300), 0, 300, PATIENCE);
        l.peer().credit(l.peer().spec.credits());
        l.stream().poll();
        assertEquals(100, l.peer().dataBytes());
        l.peer().grantRing(100, 100);
        l.stream().poll();
        assertEquals(200, l.peer().dataBytes());
    }

    /** It may have put anything anywhere; and its stream is freed while a selector may still have the descriptor. */
    @Test
    void shouldNotUseAgainWhatAHostilePeerLeaves() throws Exception {
        Link l = link(Role.PASSIVE);
        int domains = verbs.liveObjects().pds();
        l.peer().bare(3 << 29);
        l.stream().poll();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> "not freed");
        assertEquals(domains - 1, verbs.liveObjects().pds());
    }

    @Test
    void shouldNotUseAgainWhatAPeerLeavesThatBreaksTheRulesDuringTheClose() throws Exception {
        Link l = link(Role.PASSIVE);
        int domains = verbs.liveObjects().pds();
        l.stream().close(); // and waits for the peer's end
        l.peer().bare(3 << 29);
        RawPeer.await(() -> verbs.liveObjects().pds() == domains - 1, () -> "not freed: " + verbs.liveObjects());
    }

    @Test
    void shouldFreeWhatNobodyTakes() throws Exception {
        keepFor(1_000_000);
        ended(CONFIG);
        RawPeer.await(() -> verbs.liveObjects().pds() == peers.size(), () -> "still there: " + verbs.liveObjects());
        assertArrayEquals(bytes(10), echo(link(Role.ACTIVE)));
    }

    private static byte[] echo(Link l) throws IOException {
        l.peer().data(bytes(10));
        return read(l.stream(), 10);
    }

    @Test
    void shouldKeepABoundedNumber() throws Exception {
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 80; i++) {
            links.add(link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), SMALL));
        }
        links.forEach(l -> l.stream().close());
        freed();
        RawPeer.await(
                () -> verbs.liveObjects().pds() == peers.size() + 64, () -> "not 64 are kept: " + verbs.liveObjects());
        transport.freeIdle();
        assertEquals(peers.size(), verbs.liveObjects().pds());
    }

    @Test
    void shouldKeepBoundedMemory() throws Exception {
        StreamConfig large = CONFIG.withBuffers(8 << 20, 16 << 20).withReceiveSlab(8 << 20);
        long before = NativeMemory.allocatedBytes();
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            links.add(link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), large));
        }
        links.forEach(l -> l.stream().close());
        freed();
        RawPeer.await(
                () -> verbs.liveObjects().pds() == peers.size() + 1,
                () -> "16 MiB and a bit go once into 32 MiB: " + verbs.liveObjects());
        for (RawPeer peer : peers) {
            peer.close();
        }
        assertTrue(NativeMemory.allocatedBytes() - before <= 32 << 20);
    }

    /** What is kept must not keep a connection from being made. */
    @Test
    void shouldGiveUpWhatIsKeptWhenMemoryIsShort() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("short").maxRegistered(600 << 10), there);
        RdmaListener listener = listen(CONFIG);
        for (StreamConfig config : List.of(CONFIG, SMALL.withBuffers(200 << 10, 200 << 10), CONFIG)) {
            RdmaStream client = transport
                    .connect(new InetSocketAddress(there, 0), listener.localAddress(), config)
                    .await(PATIENCE);
            RdmaStream server = StreamPair.accept(listener);
            client.close();
            server.close();
            freed();
        }
    }

    @Test
    void shouldBlameTheLimitOnLockedMemoryOnlyWhereItApplies() throws Exception {
        InetAddress there = InetAddress.getByName("127.0.0.9");
        verbs.addDevice(new LoopbackConfig().name("short").maxRegistered(4 << 10), there);
        RdmaListener listener = listen(CONFIG);
        RdmaConnectException e = assertThrows(RdmaConnectException.class, () -> transport
                .connect(new InetSocketAddress(there, 0), listener.localAddress(), CONFIG)
                .await(PATIENCE));
        MemlockLimit limit = MemlockLimit.ofThisProcess();
        String remedy = limit.mayApply() ? "ulimit -l is " + limit + ": raise it .*" : ".* does not apply here: .*";
        String expected = "no memory for another connection on short \\(.*\\); " + remedy;
        assertTrue(e.getMessage().matches(expected), e.getMessage());
    }

    /** The hook's methods declare no exception, and what makes a queue pair throws this one. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> void refuse(int errno) throws E {
        throw (E) new ErrnoException("rdma_create_qp", "for this test", errno);
    }

    /** Nor from having its queue pair, when it has what it needs besides. EAGAIN: a cgroup's limit, for example. */
    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOMEM, Errno.EAGAIN})
    void shouldGiveUpWhatIsKeptWhenThereIsNoMemoryForAQueuePair(int errno) throws Exception {
        ended(CONFIG);
        link(Role.PASSIVE, RawPeer.Spec.DEFAULT, SMALL).stream().close();
        freed();
        int both = verbs.liveObjects().pds();
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP && verbs.liveObjects().pds() >= both) {
                BundlesTest.<RuntimeException>refuse(errno);
            }
        };
        assertArrayEquals(bytes(10), echo(link(Role.ACTIVE)));
    }

    @Test
    void shouldNameTheCgroupThatMayAllowNoMoreObjects() throws Exception {
        RdmaListener listener = listen(CONFIG);
        hooked.hook = (at, cookie) -> {
            if (at == Point.BEFORE_QP) {
                BundlesTest.<RuntimeException>refuse(Errno.EAGAIN);
            }
        };
        RdmaConnectException e = assertThrows(
                RdmaConnectException.class,
                () -> transport.connect(null, listener.localAddress(), CONFIG).await(PATIENCE));
        assertEquals(RdmaConnectException.Reason.RESOURCES, e.reason());
        assertEquals(
                "no room for another connection on lo0 (rdma_create_qp (for this test): Resource temporarily"
                        + " unavailable); the device, or rdma.max of this process's cgroup (hca_object), allows no more",
                e.getMessage());
    }

    /** Nor a stream from getting more. */
    @Test
    void shouldGiveUpWhatIsKeptWhenAStreamWantsMore() throws Exception {
        keepFor(PATIENCE);
        ended(CONFIG);
        RdmaStream stream = link(Role.PASSIVE, RawPeer.Spec.DEFAULT, SMALL).stream();
        long kept = transport.registeredMemory() - stream.registeredBytes();
        transport.limitMemory(transport.registeredMemory());
        ByteBuffer memory = ByteBuffer.allocateDirect(100_000);
        assertTrue(kept > memory.capacity());
        assertThrows(IOException.class, () -> stream.register(memory));
        RawPeer.await(
                () -> transport.registeredMemory() == stream.registeredBytes(),
                () -> "kept: " + (transport.registeredMemory() - stream.registeredBytes()));
        stream.register(memory).close();
    }

    @Test
    void shouldGiveUpWhatIsKeptWhenAStreamGrows() throws Exception {
        keepFor(PATIENCE);
        ended(CONFIG);
        Link l = link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), SMALL.withBuffers(64 << 10, 8192));
        transport.limitMemory(transport.registeredMemory());
        l.stream().write(ByteBuffer.allocate(64 << 10));
        RawPeer.await(
                () -> transport.registeredMemory() == l.stream().registeredBytes(),
                () -> "kept: " + (transport.registeredMemory() - l.stream().registeredBytes()));
    }

    /** What is kept is for later; what is bounded is wanted now. */
    @Test
    void shouldKeepNoMoreThanAQuarterOfWhatMayBeRegistered() throws Exception {
        keepFor(PATIENCE);
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            links.add(link(Role.PASSIVE, RawPeer.Spec.DEFAULT.half(100), SMALL));
        }
        long most = transport.registeredMemory();
        transport.limitMemory(most);
        links.forEach(l -> l.stream().close());
        freed();
        RawPeer.await(
                () -> transport.registeredMemory() == most / 4,
                () -> "kept: " + transport.registeredMemory() + " of " + most);
    }

    @Test
    void shouldKeepNothingOfADeviceThatIsGone() throws Exception {
        ended(CONFIG);
        link(Role.PASSIVE);
        verbs.faults().removeDevice(verbs.device());
        // nor of a connection that nobody has closed: see DeviceRemovalTest
        RawPeer.await(() -> verbs.liveObjects().pds() == peers.size(), () -> "still there: " + verbs.liveObjects());
    }
}
