/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.loopback.RawEndpoint.Sizes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Limits, order of destruction, leaks. */
class ObjectLifetimeTest {

    private static final int REMOTE = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;

    private LoopbackProvider provider = new LoopbackProvider();

    @AfterEach
    void tearDown() {
        provider.assertClean();
        provider.close();
    }

    private void use(LoopbackConfig config) {
        provider.close();
        provider = new LoopbackProvider(config);
    }

    private static void assertErrno(int errno, org.junit.jupiter.api.function.Executable call) {
        assertEquals(errno, assertThrows(ErrnoException.class, call).errno());
    }

    @Test
    void shouldCountWhatLives() throws IOException {
        assertEquals(LiveObjects.NONE, provider.liveObjects());
        RawPair pair = RawPair.connected(provider);
        assertEquals(new LiveObjects(2, 3, 2, 4, 2, 2, 2), provider.liveObjects());
        assertEquals(2, provider.qps().size());
        assertEquals(3, provider.ids().size());
        assertThrows(AssertionError.class, provider::assertClean);
        pair.close();
        assertTrue(provider.liveObjects().isEmpty());
    }

    @Test
    void shouldLeaveNoDescriptorAndNoMemoryBehind() throws IOException, InterruptedException {
        provider.close();
        int before = Fds.openCount();
        long bytes = NativeMemory.allocatedBytes();
        for (int i = 0; i < 20; i++) {
            provider = new LoopbackProvider();
            RawPair.connected(provider).close();
            provider.close();
        }
        // Not more: what other tests of this JVM left to the collector may be given back meanwhile. And the JVM itself
        // opens and closes files now and then.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (Fds.openCount() > before || NativeMemory.allocatedBytes() > bytes) {
            assertTrue(
                    System.nanoTime() - deadline < 0,
                    () -> Fds.openCount() + " descriptors, " + before + " before; " + NativeMemory.allocatedBytes()
                            + " bytes, " + bytes + " before");
            Thread.sleep(10);
        }
    }

    @Test
    void shouldRefuseToDestroyWhatIsInUse() throws IOException {
        RawPair pair = RawPair.connected(provider);
        RawEndpoint end = pair.client;
        assertErrno(Errno.EBUSY, end.pd::dealloc);
        assertErrno(Errno.EBUSY, end.sendCq::destroyCQ);
        assertErrno(Errno.EBUSY, end.channel::destroy);
        assertErrno(Errno.EBUSY, () -> end.cm.destroyEventChannel(end.events));
        end.cm.destroyQP(end.id);
        assertErrno(Errno.EBUSY, end.pd::dealloc); // the region
        assertErrno(Errno.EBUSY, end.channel::destroy); // the completion queues
        pair.close();
    }

    @Test
    void shouldDestroyTheQueuePairWithItsId() throws IOException {
        RawPair pair = RawPair.connected(provider);
        pair.client.id.destroyEp();
        assertEquals(1, provider.liveObjects().qps());
        pair.close();
    }

    @Test
    void shouldNoticeARegionDeregisteredTwice() throws IOException {
        RawPair pair = RawPair.connected(provider);
        Mr mr = pair.client.verbs.registerMr(pair.client.pd, pair.client.memory.address(), 8, REMOTE);
        pair.client.verbs.deregisterMr(mr);
        pair.client.verbs.deregisterMr(mr);
        assertEquals(1, provider.violations().size());
        assertTrue(provider.violations().get(0).contains("ObjectLifetimeTest")
                || provider.violations().get(0).contains("twice"));
        provider.registry().violations().clear();
        pair.close();
    }

    @Test
    void shouldRefuseRegistrationsThatMakeNoSense() throws IOException {
        RawPair pair = RawPair.connected(provider);
        RawEndpoint end = pair.client;
        long address = end.memory.address();
        assertErrno(Errno.EINVAL, () -> end.verbs.registerMr(end.pd, 0, 8, REMOTE));
        assertErrno(Errno.EINVAL, () -> end.verbs.registerMr(end.pd, address, 0, REMOTE));
        assertErrno(Errno.EINVAL, () -> end.verbs.registerMr(end.pd, address, -1, REMOTE));
        // needs LOCAL_WRITE
        assertErrno(Errno.EINVAL, () -> end.verbs.registerMr(end.pd, address, 8, IbvMr.IBV_ACCESS_REMOTE_WRITE));
        assertErrno(Errno.EINVAL, () -> end.verbs.registerMr(end.pd, address, 8, 1 << 20));
        pair.close();
    }

    @Test
    void shouldGiveEachRegionKeysOfItsOwn() throws IOException {
        RawPair pair = RawPair.connected(provider);
        Mr[] all = new Mr[200];
        java.util.Set<Integer> keys = new java.util.HashSet<>();
        for (int i = 0; i < all.length; i++) {
            all[i] = pair.client.verbs.registerMr(pair.client.pd, pair.client.memory.address(), 8, REMOTE);
            assertTrue(keys.add(all[i].getLkey()) && keys.add(all[i].getRkey()));
        }
        assertFalse(keys.contains(0));
        for (Mr mr : all) {
            pair.client.verbs.deregisterMr(mr);
        }
        pair.close();
    }

    @Test
    void shouldLimitWhatCanBeRegistered() throws IOException {
        use(new LoopbackConfig().maxRegistered(3 * 65536));
        RawPair pair = RawPair.connected(provider);
        assertEquals(2 * 65536, provider.device().registeredBytes());
        Mr third = pair.client.verbs.registerMr(pair.client.pd, pair.client.memory.address(), 65536, REMOTE);
        assertErrno(
                Errno.ENOMEM,
                () -> pair.client.verbs.registerMr(pair.client.pd, pair.client.memory.address(), 8, REMOTE));
        pair.client.verbs.deregisterMr(third);
        pair.close();
        assertEquals(0, provider.device().registeredBytes());
    }

    @Test
    void shouldLimitQueuesAndObjects() throws IOException {
        use(new LoopbackConfig().maxQpWr(16).maxCqe(16).maxMr(2).maxQp(2).maxInline(64));
        assertEquals(16, provider.device().maxQpWr());
        assertEquals(16, provider.device().maxCqe());
        RawPair pair = RawPair.connected(provider);
        assertErrno(
                Errno.ENOMEM,
                () -> pair.client.verbs.registerMr(pair.client.pd, pair.client.memory.address(), 8, REMOTE));
        assertErrno(Errno.EINVAL, () -> pair.client.verbs.createCq(provider.device(), pair.client.channel, 17, 0));
        assertErrno(Errno.EINVAL, () -> pair.client.verbs.createCq(provider.device(), pair.client.channel, 0, 0));
        DeviceInfo info = provider.devices().get(0);
        assertEquals(16, info.maxQpWr());
        assertEquals(2, info.ports().get(0).gids().size());
        pair.close();
    }

    /** What a failing constructor of the endpoint leaves is the test's to clean. */
    private void assertQpRefused(int errno, Sizes sizes) throws IOException {
        try (LoopbackProvider own =
                new LoopbackProvider(new LoopbackConfig().maxQpWr(16).maxQp(1).maxInline(64))) {
            RawPair pair = new RawPair(own);
            RawEndpoint first = errno == Errno.ENOMEM ? RawEndpoint.active(own, pair.address(), Sizes.DEFAULT) : null;
            assertErrno(errno, () -> RawEndpoint.active(own, pair.address(), sizes));
            if (first != null) {
                first.close();
            }
            pair.close();
        }
    }

    @Test
    void shouldRefuseQueuePairsBeyondTheLimits() throws IOException {
        assertQpRefused(Errno.EINVAL, Sizes.DEFAULT.queues(17, 16));
        assertQpRefused(Errno.EINVAL, Sizes.DEFAULT.queues(16, 17));
        assertQpRefused(Errno.EINVAL, new Sizes(16, 16, 65, 4096, false, 16, 16));
        assertQpRefused(Errno.ENOMEM, Sizes.DEFAULT);
    }

    @Test
    void shouldGrantLargerQueuesWhenAskedTo() throws IOException {
        use(new LoopbackConfig().roundUp(true));
        RawPair pair = RawPair.connected(provider, Sizes.DEFAULT.queues(10, 10).cqs(16, 16));
        assertEquals(16, pair.client.qp().postReceives(20));
        assertEquals(Errno.ENOMEM, pair.client.qp().postError());
        pair.close();
    }

    @Test
    void shouldRefuseImmediateDataOnIwarp() throws IOException {
        use(new LoopbackConfig().iwarp(true));
        RawPair pair = RawPair.connected(provider);
        RawEndpoint client = pair.client;
        RawEndpoint server = pair.server;
        assertTrue(provider.devices().get(0).iwarp());
        server.qp().postReceives(1, server.memory.address(), 4, server.mr.getLkey());
        for (int opcode : new int[] {SendBatch.RDMA_WRITE_WITH_IMM, SendBatch.SEND_WITH_IMM}) {
            assertThrows(ErrnoException.class, () -> client.prepare(1, opcode, 0, 1, server, 0, 0)
                    .post());
            assertEquals(Errno.EINVAL, client.qp().postError());
        }
        client.prepare(1, SendBatch.RDMA_WRITE, 0, 0, server, 64, 4)
                .append(2, SendBatch.SEND, SendBatch.INLINE, 0, server, 0, 4)
                .post();
        assertEquals(4, server.poll(server.recvCq).get(0).length());
        pair.close();
    }

    @Test
    void shouldNotMixDevices() throws IOException {
        LoopbackDevice other = provider.addDevice(new LoopbackConfig().name("lo1"));
        RawPair pair = RawPair.connected(provider);
        Pd pd = pair.client.verbs.allocPd(other);
        assertErrno(Errno.EINVAL, () -> pair.client.verbs.createCq(other, pair.client.channel, 1, 0));
        pd.dealloc();
        pd.dealloc(); // harmless
        pair.close();
    }

    @Test
    void shouldAnswerDisnisStaticEntryPoints() throws IOException {
        assertSame(provider, RdmaProvider.provider());
        assertEquals(1, provider.getVersion());
        assertTrue(provider.description().contains("loopback"));
        assertEquals("lo0", provider.device().name());
    }

    @Test
    void shouldKeepTheListenersRequestsApartFromOwnedIds() throws IOException {
        RawPair pair = new RawPair(provider);
        RawEndpoint client = RawEndpoint.active(provider, pair.address(), Sizes.DEFAULT);
        client.request(new byte[0]);
        assertEquals(2, provider.liveObjects().ids()); // nobody fetched the request: nobody owns its id
        client.cm.destroyCmId(RawEndpoint.await(client.cm, pair.serverEvents, EventType.RDMA_CM_EVENT_CONNECT_REQUEST)
                .id());
        client.close();
        pair.close();
    }
}
