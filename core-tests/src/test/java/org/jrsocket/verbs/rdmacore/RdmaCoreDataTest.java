/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jrsocket.os.Epoll;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Fds;
import org.jrsocket.verbs.CqSet;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.SendBatch;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.rdmacore.RdmaCoreLink.End;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/** Posting, polling and completion events on a real device. */
@Tag("device")
@Tag("lab")
@Timeout(60)
public class RdmaCoreDataTest {

    private RdmaCoreProvider provider;

    @BeforeEach
    void open() {
        provider = RdmaCoreLink.provider();
    }

    private static RdmaCoreLink link() throws IOException {
        return new RdmaCoreLink(RdmaCoreLink.address4());
    }

    /** Appends a write of {@code length} bytes, all at the start of the two rings plus {@code offset}. */
    private static void write(RdmaCoreLink link, int imm, int flags, long offset, int length) {
        End from = link.client;
        from.sends.add(
                imm,
                SendBatch.RDMA_WRITE_WITH_IMM,
                flags,
                imm,
                link.server.memory.address() + offset,
                link.server.mr.getRkey());
        if (length > 0) {
            from.sends.sge(from.memory.address() + offset, length, from.mr.getLkey());
        }
    }

    @Test
    void shouldWriteWithImmediateData() throws Exception {
        try (RdmaCoreLink link = link()) {
            byte[] text = "one sided".getBytes(StandardCharsets.US_ASCII);
            link.client.memory.buffer().put(100, text);
            write(link, 0x1234_5678, SendBatch.SIGNALED, 100, text.length);
            link.client.post();
            int wc = link.server.completion();
            assertEquals(WcBatch.SUCCESS, link.server.wcs.status(wc));
            assertEquals(WcBatch.OP_RECV_RDMA_WITH_IMM, link.server.wcs.opcode(wc));
            assertEquals(0x1234_5678, link.server.wcs.imm(wc));
            assertEquals(text.length, link.server.wcs.byteLength(wc));
            assertEquals(WcBatch.WITH_IMM, link.server.wcs.flags(wc) & WcBatch.WITH_IMM);
            assertEquals(link.server.qp.getQp_num(), link.server.wcs.qpNumber(wc));
            byte[] arrived = new byte[text.length];
            link.server.memory.buffer().get(100, arrived);
            assertEquals("one sided", new String(arrived, StandardCharsets.US_ASCII));
            wc = link.client.completion();
            assertEquals(WcBatch.SUCCESS, link.client.wcs.status(wc));
            assertEquals(0x1234_5678, link.client.wcs.id(wc));
        }
    }

    @Test
    void shouldPostAChainInOneCall() throws Exception {
        try (RdmaCoreLink link = link()) {
            for (int i = 0; i < 20; i++) {
                link.client.memory.buffer().putInt(8 * i, i);
                link.client.memory.buffer().putInt(8 * i + 4, -i);
            }
            for (int i = 0; i < 20; i++) { // two scatter entries each, every fourth signalled, every other inline
                int flags = (i % 4 == 3 ? SendBatch.SIGNALED : 0) | (i % 2 == 1 ? SendBatch.INLINE : 0);
                write(link, i, flags, 8L * i, 4);
                link.client.sends.sge(link.client.memory.address() + 8L * i + 4, 4, link.client.mr.getLkey());
            }
            link.client.post();
            for (int i = 0; i < 20; i++) {
                int wc = link.server.completion();
                assertEquals(WcBatch.SUCCESS, link.server.wcs.status(wc));
                assertEquals(i, link.server.wcs.imm(wc));
                assertEquals(8, link.server.wcs.byteLength(wc));
                assertEquals(i, link.server.memory.buffer().getInt(8 * i));
                assertEquals(-i, link.server.memory.buffer().getInt(8 * i + 4));
            }
            for (int i = 3; i < 20; i += 4) {
                assertEquals(i, link.client.wcs.id(link.client.completion()));
            }
        }
    }

    @Test
    void shouldSendIntoReceivesWithMemory() throws Exception {
        try (RdmaCoreLink link = link()) {
            End server = link.server;
            assertEquals(0, server.qp.postReceives(0));
            assertEquals(
                    4,
                    link.client.qp.postReceives(4, link.client.memory.address() + 1024, 64, link.client.mr.getLkey()));
            // The link posted receives without memory, which come first; empty messages use them up.
            for (int i = 0; i < RdmaCoreLink.DEPTH / 2 + 2; i++) {
                boolean bare = i < RdmaCoreLink.DEPTH / 2;
                server.sends.add(i, SendBatch.SEND_WITH_IMM, SendBatch.SIGNALED, i, 0, 0);
                if (!bare) {
                    server.memory.buffer().putInt(0, i);
                    server.sends.sge(server.memory.address(), 4, server.mr.getLkey());
                }
                server.post();
                int wc = link.client.completion();
                assertEquals(WcBatch.SUCCESS, link.client.wcs.status(wc));
                assertEquals(i, link.client.wcs.imm(wc));
                assertEquals(bare ? 0 : 4, link.client.wcs.byteLength(wc));
                assertEquals(i, server.wcs.id(server.completion()));
            }
            assertEquals(RdmaCoreLink.DEPTH / 2, link.client.memory.buffer().getInt(1024));
            assertEquals(RdmaCoreLink.DEPTH / 2 + 1, link.client.memory.buffer().getInt(1024 + 64));
        }
    }

    @Test
    void shouldSayHowManyFitTheQueue() throws Exception {
        try (RdmaCoreLink link = link()) {
            int room = link.client.attr.cap().getMax_send_wr();
            assertTrue(room >= RdmaCoreLink.DEPTH);
            int many = 2 * RdmaCoreLink.DEPTH;
            assertTrue(room < many, "queue of " + room);
            for (int i = 0; i < many; i++) {
                write(link, i, SendBatch.SIGNALED, 0, 0);
            }
            int posted = link.client.qp.postSend(link.client.sends);
            assertTrue(posted > 0 && posted < many, "posted " + posted + " of " + many);
            assertEquals(Errno.ENOMEM, link.client.qp.postError());

            int receives = link.client.qp.postReceives(many);
            assertTrue(receives > 0 && receives < many, "posted " + receives);
            assertEquals(Errno.ENOMEM, link.client.qp.postError());
            assertEquals(0, link.client.qp.postReceives(1, link.client.memory.address(), 8, link.client.mr.getLkey()));
        }
    }

    @Test
    void shouldRefuseWritesOutsideTheRegion() throws Exception {
        try (RdmaCoreLink link = link()) {
            write(link, 1, SendBatch.SIGNALED, RdmaCoreLink.RING - 8, 8);
            link.client.post();
            assertEquals(WcBatch.SUCCESS, link.client.wcs.status(link.client.completion()));
            link.client.sends.add(
                    2,
                    SendBatch.RDMA_WRITE_WITH_IMM,
                    SendBatch.SIGNALED,
                    2,
                    link.server.memory.address() + RdmaCoreLink.RING - 4,
                    link.server.mr.getRkey());
            link.client.sends.sge(link.client.memory.address(), 8, link.client.mr.getLkey());
            link.client.post();
            assertEquals(WcBatch.REMOTE_ACCESS, link.client.wcs.status(link.client.completion()));
            // The queue pair is in error now: what was posted to it comes back.
            int wc = link.client.completion();
            assertEquals(WcBatch.FLUSHED, link.client.wcs.status(wc));
        }
    }

    @Test
    void shouldRefuseTheKeyOfAFreedRegion() throws Exception {
        try (RdmaCoreLink link = link()) {
            provider.openVerbs().deregisterMr(link.server.mr);
            write(link, 1, SendBatch.SIGNALED, 0, 8);
            link.client.post();
            assertEquals(WcBatch.REMOTE_ACCESS, link.client.wcs.status(link.client.completion()));
        }
    }

    @Test
    void shouldRefuseARegionWithoutTheRightToWrite() throws Exception {
        try (RdmaCoreLink link = link()) {
            Mr local = provider.openVerbs()
                    .registerMr(link.server.pd, link.server.memory.address(), 4096, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            link.client.sends.add(
                    2, SendBatch.RDMA_WRITE, SendBatch.SIGNALED, 0, link.server.memory.address(), local.getRkey());
            link.client.sends.sge(link.client.memory.address(), 8, link.client.mr.getLkey());
            link.client.post();
            assertEquals(WcBatch.REMOTE_ACCESS, link.client.wcs.status(link.client.completion()));
            provider.openVerbs().deregisterMr(local);
        }
    }

    @Test
    void shouldSignalCompletionsThroughTheChannel() throws Exception {
        try (RdmaCoreLink link = link();
                Epoll epoll = new Epoll(4)) {
            End server = link.server;
            epoll.add(server.channel.getFd(), Epoll.IN, 99);
            assertEquals(-1, server.channel.takeEvent());
            assertEquals(0, server.cq.poll(server.wcs));
            assertEquals(0, epoll.await(0));
            for (int i = 0; i < 3; i++) {
                assertEquals(0, server.cq.arm());
                write(link, i, 0, 0, 4);
                link.client.post();
                assertEquals(1, epoll.await(5_000_000_000L));
                assertEquals(99, epoll.data(0));
                assertEquals(End.COOKIE, server.channel.takeEvent());
                assertEquals(-1, server.channel.takeEvent());
                assertEquals(i, server.wcs.imm(server.completion()));
            }
            // Not armed: nothing is signalled.
            write(link, 7, 0, 0, 4);
            link.client.post();
            assertEquals(7, server.wcs.imm(server.completion()));
            assertEquals(0, epoll.await(20_000_000));
        }
    }

    @Test
    void shouldNotWaitForAnybodyWhenDestroyedAfterAnEvent() throws Exception {
        RdmaCoreLink link = link();
        assertEquals(0, link.server.cq.arm());
        write(link, 1, 0, 0, 4);
        link.client.post();
        assertEquals(1, Fds.waitReadable(link.server.channel.getFd(), -1, 5_000_000_000L));
        assertEquals(End.COOKIE, link.server.channel.takeEvent());
        link.close();
    }

    @Test
    void shouldSpinForTheTimeAsked() throws Exception {
        try (RdmaCoreLink link = link()) {
            long start = System.nanoTime();
            assertFalse(link.client.cq.spin(2_000_000));
            long nanos = System.nanoTime() - start;
            assertTrue(nanos >= 2_000_000 && nanos < 1_000_000_000, nanos + " ns");
            assertFalse(link.client.cq.spin(0));
        }
    }

    @Test
    void shouldLeaveToPollsInOrderWhatASpinHasFound() throws Exception {
        try (RdmaCoreLink link = link()) {
            End server = link.server;
            WcBatch one = new WcBatch(1);
            for (int i = 0; i < 5; i++) {
                write(link, i, 0, 0, 4);
            }
            link.client.post();
            for (int i = 0; i < 5; i++) {
                assertTrue(server.cq.spin(5_000_000_000L));
                assertTrue(server.cq.spin(0), "a look takes nothing");
                assertEquals(1, server.cq.poll(one));
                assertEquals(i, one.imm(0));
                assertEquals(WcBatch.SUCCESS, one.status(0));
            }
            assertFalse(server.cq.spin(0));
            assertEquals(0, server.cq.poll(one));
            one.free();
        }
    }

    @Test
    void shouldTakeWhatASpinHasFoundAndWhatCameLaterAtOnce() throws Exception {
        try (RdmaCoreLink link = link()) {
            End server = link.server;
            write(link, 0, 0, 0, 4);
            link.client.post();
            assertTrue(server.cq.spin(5_000_000_000L));
            for (int i = 1; i < 4; i++) {
                write(link, i, SendBatch.SIGNALED, 0, 4);
            }
            link.client.post();
            link.client.completion();
            link.client.completion();
            link.client.completion(); // acknowledged, so they have arrived
            for (int i = 0; i < 4; i++) {
                assertEquals(i, server.wcs.imm(server.completion()));
            }
        }
    }

    @Test
    void shouldTellWhichQueuesOfASetHaveSomething() throws Exception {
        try (RdmaCoreLink link = link();
                RdmaCoreLink other = link()) {
            CqSet set = provider.openVerbs().createCqSet(3);
            set.add(link.client.cq);
            set.add(link.server.cq);
            set.add(other.server.cq);
            assertEquals(0, set.spin(1_000_000));
            write(other, 7, 0, 0, 4);
            other.client.post();
            assertEquals(1, set.spin(5_000_000_000L));
            assertEquals(2, set.found(0));
            set.remove(0); // the last one gets its number
            assertEquals(1, set.spin(0));
            assertEquals(0, set.found(0));
            assertEquals(7, other.server.wcs.imm(other.server.completion()));
            assertEquals(0, set.spin(0));
            set.free();
        }
    }

    @Test
    void shouldFlushWhatIsPostedOnError() throws Exception {
        try (RdmaCoreLink link = link()) {
            link.client.qp.toError();
            link.client.qp.toError();
            for (int i = 0; i < RdmaCoreLink.DEPTH / 2; i++) {
                assertEquals(WcBatch.FLUSHED, link.client.wcs.status(link.client.completion()));
            }
        }
    }

    @Test
    void shouldTakeTheTimer() throws Exception {
        try (RdmaCoreLink link = link()) {
            link.client.qp.setMinRnrTimer(1);
            assertEquals(1, link.client.qp.minRnrTimer());
        }
    }

    /** With the timer at 10 us, a missing receive costs little; with the connection manager's 0 it costs 655 ms. */
    @Test
    void shouldRetrySoonAfterAMissingReceive(TestReporter reporter) throws Exception {
        try (RdmaCoreLink link = link()) {
            link.server.qp.setMinRnrTimer(1);
            int receives = RdmaCoreLink.DEPTH / 2;
            for (int i = 0; i <= receives; i++) {
                write(link, i, SendBatch.SIGNALED, 0, 4);
            }
            link.client.post();
            for (int i = 0; i < receives; i++) {
                assertEquals(i, link.client.wcs.id(link.client.completion()));
            }
            Thread.sleep(20);
            assertEquals(0, link.client.cq.poll(link.client.wcs));
            long start = System.nanoTime();
            assertEquals(1, link.server.qp.postReceives(1));
            assertEquals(receives, link.client.wcs.id(link.client.completion()));
            long millis = (System.nanoTime() - start) / 1_000_000;
            reporter.publishEntry("retry", millis + " ms after the receive was posted");
        }
    }

    @Test
    void shouldDescribeTheDevice() throws Exception {
        try (RdmaCoreLink link = link()) {
            Device device = link.clientId.getVerbs();
            DeviceInfo info = provider.devices().stream()
                    .filter(d -> d.name().equals(device.name()))
                    .findFirst()
                    .orElseThrow();
            assertEquals(info.maxCqe(), device.maxCqe());
            assertEquals(info.maxQpWr(), device.maxQpWr());
            assertEquals(info.iwarp(), device.isIwarp());
            assertTrue(info.ports().get(0).active());
            assertFalse(info.ports().get(0).gids().isEmpty());
            assertTrue(device.asyncFd() > 0);
            assertEquals(-1, device.takeAsyncEvent());
            assertTrue(provider.description().matches("rdma-core \\(.*librdmacm \\d.*\\)"), provider.description());
        }
    }

    @Test
    void shouldRefuseUseAfterDestruction() throws Exception {
        RdmaCoreLink link = link();
        End end = link.client;
        WcBatch wcs = new WcBatch(1);
        SendBatch sends = new SendBatch(1);
        sends.add(1, SendBatch.SEND, 0, 0, 0, 0);
        Verbs verbs = provider.openVerbs();
        assertThrows(ErrnoException.class, end.cq::destroyCQ, "a queue pair uses it");
        assertEquals(0, end.cq.poll(wcs), "and it still works");
        assertThrows(ErrnoException.class, end.channel::destroy, "a queue uses it");
        link.close();
        assertEquals(-Errno.EINVAL, end.cq.poll(wcs));
        assertTrue(end.cq.spin(1), "the next poll fails");
        assertEquals(-Errno.EINVAL, end.cq.arm());
        assertEquals(0, end.qp.postSend(sends));
        assertEquals(Errno.EINVAL, end.qp.postError());
        assertEquals(0, end.qp.postReceives(1));
        assertThrows(IllegalStateException.class, end.qp::toError);
        assertThrows(IllegalStateException.class, () -> verbs.registerMr(end.pd, 4096, 1, 0));
        assertThrows(IllegalStateException.class, () -> verbs.createCq(link.clientId.getVerbs(), end.channel, 1, 0));
        assertEquals(-1, end.channel.takeEvent());
        end.cq.destroyCQ();
        end.channel.destroy();
        end.pd.dealloc();
        verbs.deregisterMr(end.mr);
        wcs.free();
        sends.free();
    }
}
