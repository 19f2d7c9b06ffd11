/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.threads.ServiceThread;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A transport that is closed while it is in use leaves nothing behind, and makes nothing more. */
@Timeout(120)
class TransportCloseTest {

    private final LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(3_600_000));
    private final RdmaTransport transport;
    private final InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    TransportCloseTest() throws IOException {
        transport = RdmaTransport.over(verbs);
    }

    @AfterEach
    void nothingIsLeft() {
        transport.close();
        assertEquals(0, transport.liveStreams());
        verbs.assertClean();
        verbs.close();
    }

    private PendingConnect connectToNobody() throws IOException {
        InetAddress silent = InetAddress.getByName("192.0.2.1");
        verbs.place(silent, Reachability.SILENT);
        return transport.connect(null, new InetSocketAddress(silent, 7), StreamConfig.DEFAULT);
    }

    @Test
    void shouldEndListenersAndWhatTheyHaveNotHandedOver() throws Exception {
        RdmaListener listener = transport.listen(any, 4, StreamConfig.DEFAULT);
        RdmaStream stream = transport
                .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                .await(TimeUnit.SECONDS.toNanos(60));
        transport.close();
        assertFalse(stream.isOpen());
        verbs.assertClean();
        listener.close(); // harmless
    }

    @Test
    void shouldEndAttemptsToConnect() throws Exception {
        PendingConnect connect = connectToNobody();
        transport.close();
        assertTrue(connect.isDone());
        assertNotNull(connect.failure());
    }

    @Test
    void shouldEndAllTheSameIfTheThreadIsInterrupted() throws Exception {
        RdmaListener listener = transport.listen(any, 4, StreamConfig.DEFAULT);
        transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT).await(TimeUnit.SECONDS.toNanos(60));
        Thread.currentThread().interrupt();
        transport.close();
        assertTrue(Thread.interrupted());
        verbs.assertClean();
    }

    @Test
    void shouldEndAttemptsThatWereGivenUp() throws Exception {
        connectToNobody().cancel();
        transport.close();
    }

    @Test
    void shouldRefuseWhatIsAskedForLater() {
        transport.close();
        assertThrows(IOException.class, () -> transport.listen(any, 4, StreamConfig.DEFAULT));
        PendingConnect connect = transport.connect(null, new InetSocketAddress("127.0.0.1", 7), StreamConfig.DEFAULT);
        assertTrue(connect.isDone());
        assertNotNull(connect.failure());
    }

    /** It takes until the memory is given back that another stream has lent, and the server answers meanwhile. */
    @Test
    void shouldMakeNoStreamWhileItEnds() throws Exception {
        try (RdmaTransport server = RdmaTransport.over(verbs)) {
            RdmaListener listener = server.listen(any, 1, StreamConfig.DEFAULT);
            RdmaStream first = connect(listener);
            RdmaStream accepted = StreamPair.accept(listener);
            accepted.write(new byte[8192], 0, 8192, StreamPair.PATIENCE);
            while (first.available() < 8192) {
                Thread.sleep(1);
            }
            BorrowedBytes borrowed = first.borrow(4096);
            assertNotNull(borrowed);
            connect(listener); // the backlog is full
            PendingConnect held = transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
            Thread closing = new Thread(transport::close);
            closing.start();
            while (first.isOpen()) {
                Thread.sleep(1);
            }
            StreamPair.accept(listener); // makes room for the one that is held
            borrowed.close();
            closing.join();
            assertTrue(held.isDone());
            assertNotNull(held.failure());
            assertEquals(0, transport.liveStreams());
        }
    }

    /** The interrupt saves the time for which it would wait. */
    @Test
    void shouldSayThatBorrowedBytesWereNotGivenBack() throws Exception {
        RdmaListener listener = transport.listen(any, 1, StreamConfig.DEFAULT);
        RdmaStream reader = connect(listener);
        RdmaStream writer = StreamPair.accept(listener);
        writer.write(new byte[4096], 0, 4096, StreamPair.PATIENCE);
        assertTrue(reader.awaitReadable(StreamPair.PATIENCE));
        BorrowedBytes borrowed = reader.borrow(4096);
        assertNotNull(borrowed);
        List<String> warnings = RawPeerTests.warningsIn(() -> {
            Thread closing = new Thread(transport::close);
            closing.start();
            while (!reader.core().freeing.waitsForBorrowed() || transport.liveStreams() > 1) {
                Thread.sleep(1);
            }
            closing.interrupt();
            closing.join();
        });
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(
                warnings.get(0).contains("not freed: 1, of which 1 wait for received bytes to be given back"),
                warnings::toString);
        borrowed.close();
        RawPeer.await(reader::isFreed, () -> "not freed");
        RawPeer.await(() -> verbs.liveObjects().isEmpty(), () -> "left: " + verbs.liveObjects());
    }

    @Test
    void shouldFirstDeliverWhatWasWrittenToClosedStreamsWhenItFinishes() throws Exception {
        int size = 300_000;
        try (RdmaTransport server = RdmaTransport.over(verbs)) {
            RdmaListener listener = server.listen(any, 4, StreamConfig.DEFAULT);
            RdmaStream closed = connect(listener);
            RdmaStream reader = StreamPair.accept(listener);
            RdmaStream open = connect(listener);
            closed.write(new byte[size], 0, size, StreamPair.PATIENCE);
            closed.close();
            Thread finishing = new Thread(transport::finish);
            finishing.start();
            while (open.isOpen()) {
                Thread.sleep(1);
            }
            byte[] bytes = new byte[size];
            int read = 0;
            for (int n = 0; n >= 0; n = reader.read(bytes, 0, size, StreamPair.PATIENCE)) {
                read += n;
            }
            assertEquals(size, read);
            finishing.join();
        }
    }

    private RdmaStream connect(RdmaListener listener) throws IOException {
        return transport
                .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                .await(StreamPair.PATIENCE);
    }

    @Test
    void shouldCloseTheEventChannelThoughTheLastStreamGoesAtTheSameMoment() throws Exception {
        Cm cm = verbs.openCm();
        CmChannel channel = cm.createEventChannel();
        ServiceThread service = new ServiceThread("test", Threads::daemon);
        CmEvents events = new CmEvents(cm, channel, service, transport.services().devices);
        String before = verbs.liveObjects().toString();
        events.end();
        assertTrue(service.stop(StreamPair.PATIENCE));
        events.over(true, () -> {
            events.forgotten(0);
            return 1;
        });
        assertNotEquals(before, verbs.liveObjects().toString());
    }
}
