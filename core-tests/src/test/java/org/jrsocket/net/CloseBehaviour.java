/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Closing a Socket, by halves and wholly. */
abstract class CloseBehaviour extends SocketBehaviour {

    private static final int BACKLOG = 200;
    private static final int UNTIL_COMPILED = 20_000;

    CloseBehaviour(SocketKind kind) {
        super(kind);
    }

    // ---- half close ----

    @Test
    void shouldEndTheOutputAndStillRead() throws IOException {
        Pair pair = pair();
        pair.clientOut().write(1);
        pair.client().shutdownOutput();
        assertEquals(1, pair.serverIn().read());
        assertEquals(-1, pair.serverIn().read());
        pair.serverOut().write(2);
        assertEquals(2, pair.clientIn().read());
        assertTrue(pair.client().isOutputShutdown());
        assertFalse(pair.client().isInputShutdown());
        assertFalse(pair.client().isClosed());
    }

    @Test
    void shouldDeliverEverythingBeforeTheEndOfTheOutput() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> {
            pair.clientOut().write(new byte[3_000_000]);
            pair.client().shutdownOutput();
            return null;
        });
        assertEquals(3_000_000, pair.serverIn().readAllBytes().length);
        writer.get();
        pair.serverOut().write(1);
        assertEquals(1, pair.clientIn().read());
    }

    @Test
    void shouldCloseBothHalvesOneByOne() throws IOException {
        Pair pair = pair();
        pair.client().shutdownOutput();
        assertEquals(-1, pair.serverIn().read());
        pair.server().shutdownOutput();
        assertEquals(-1, pair.clientIn().read());
        pair.client().close();
        pair.server().close();
    }

    @Test
    void shouldNotWriteToAnOutputThatIsShut() throws IOException {
        Pair pair = pair();
        OutputStream out = pair.clientOut();
        pair.client().shutdownOutput();
        assertSocketException("Broken pipe", () -> out.write(1));
        assertSocketException("Socket output is shutdown", pair.client()::getOutputStream);
    }

    @Test
    void shouldEndAWriteByShuttingTheOutput() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> {
            OutputStream out = pair.clientOut();
            while (true) {
                out.write(new byte[1 << 16]);
            }
        });
        awaitWaiting(writer);
        pair.client().shutdownOutput();
        assertSocketException("Broken pipe", writer::get);
    }

    @Test
    void shouldReadNoMoreWhenTheInputIsShut() throws IOException {
        Pair pair = pair();
        InputStream in = pair.clientIn();
        pair.client().shutdownInput();
        assertEquals(-1, in.read());
        assertEquals(0, in.available());
        assertTrue(pair.client().isInputShutdown());
        assertSocketException("Socket input is shutdown", pair.client()::getInputStream);
        pair.clientOut().write(3);
        assertEquals(3, pair.serverIn().read());
    }

    @Test
    void shouldWakeAReaderByShuttingTheInput() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.clientIn().read());
        awaitWaiting(reader);
        pair.client().shutdownInput();
        assertEquals(-1, reader.get());
        assertFalse(pair.client().isClosed());
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldWakeAVirtualReaderByShuttingTheInput() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = startVirtual(() -> pair.clientIn().read());
        awaitWaiting(reader);
        pair.client().shutdownInput();
        assertEquals(-1, reader.get());
    }

    @Test
    void shouldNotDisturbThePeerByShuttingTheInput() throws IOException {
        Pair pair = pair();
        pair.client().shutdownInput();
        pair.serverOut().write(new byte[1000]);
        pair.serverOut().write(new byte[1000]);
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
    }

    @Test
    void shouldShutEachHalfOnlyOnce() throws IOException {
        Socket client = pair().client();
        client.shutdownInput();
        assertSocketException("Socket input is already shutdown", client::shutdownInput);
        client.shutdownOutput();
        assertSocketException("Socket output is already shutdown", client::shutdownOutput);
    }

    @Test
    void shouldNotShutWhatIsNotConnected() throws IOException {
        Socket socket = newSocket();
        assertSocketException("Socket is not connected", socket::shutdownInput);
        assertSocketException("Socket is not connected", socket::shutdownOutput);
    }

    @Test
    void shouldNotShutWhatIsClosed() throws IOException {
        Socket client = pair().client();
        client.close();
        assertSocketException("Socket is closed", client::shutdownInput);
        assertSocketException("Socket is closed", client::shutdownOutput);
    }

    @Test
    void shouldNotShutAHalfThatThePeerHasClosed() throws Exception {
        Pair pair = pair();
        pair.server().close();
        assertEquals(-1, pair.clientIn().read());
        pair.client().shutdownInput();
        pair.client().shutdownOutput();
        pair.client().close();
    }

    // ---- close ----

    @Test
    void shouldCloseTwice() throws IOException {
        Socket client = pair().client();
        client.close();
        client.close();
        assertTrue(client.isClosed());
    }

    @Test
    void shouldCloseWhatIsNotConnected() throws IOException {
        Socket fresh = newSocket();
        fresh.close();
        assertTrue(fresh.isClosed());
        Socket bound = newSocket();
        bound.bind(null);
        bound.close();
        assertTrue(bound.isBound());
    }

    @Test
    void shouldCloseByItsInput() throws IOException {
        Pair pair = pair();
        pair.clientIn().close();
        assertTrue(pair.client().isClosed());
        assertEquals(-1, pair.serverIn().read());
    }

    @Test
    void shouldCloseByItsOutput() throws IOException {
        Pair pair = pair();
        pair.clientOut().close();
        assertTrue(pair.client().isClosed());
        assertEquals(-1, pair.serverIn().read());
    }

    @Test
    void shouldLetThePeerReadTheEnd() throws IOException {
        Pair pair = pair();
        pair.server().close();
        assertEquals(-1, pair.clientIn().read());
    }

    /** A byte that nobody reads makes of the close a reset, but the end comes before it. */
    @Test
    void shouldLetThePeerReadTheEndWhateverItSendsMeanwhile() throws Exception {
        try (ServerSocket server = listening()) {
            for (int i = 0; i < 300; i++) {
                Pair pair = new Pair(connectTo(server), accept(server));
                CyclicBarrier both = new CyclicBarrier(2);
                Work<Void> writer = start(() -> {
                    both.await();
                    pair.clientOut().write(1);
                    return null;
                });
                both.await();
                pair.server().close();
                assertEquals(-1, pair.clientIn().read());
                ended(writer);
                pair.client().close();
            }
        }
    }

    /** Whether the write came too late is not of interest. */
    private static void ended(Work<Void> writer) throws Exception {
        try {
            writer.get();
        } catch (SocketException e) {
            // the peer was gone
        }
    }

    @Test
    void shouldRefuseEverythingOnceClosed() throws IOException {
        Socket client = pair().client();
        client.close();
        assertSocketException("Socket is closed", () -> client.setTcpNoDelay(true));
        assertSocketException("Socket is closed", client::getTcpNoDelay);
        assertSocketException("Socket is closed", () -> client.setSoTimeout(1));
        assertSocketException("Socket is closed", client::getSoTimeout);
        assertSocketException("Socket is closed", client::getSoLinger);
        assertSocketException("Socket is closed", client::getKeepAlive);
        assertSocketException("Socket is closed", client::getSendBufferSize);
        assertSocketException("Socket is closed", client::getReceiveBufferSize);
        assertSocketException("Socket is closed", client::getReuseAddress);
        assertSocketException("Socket is closed", client::getOOBInline);
        assertThrows(SocketException.class, client::getTrafficClass);
        assertThrows(SocketException.class, () -> client.sendUrgentData(1));
    }

    // ---- close by another thread ----

    /** What had been written is the peer's, however late it reads, and then comes the end. */
    @Test
    void shouldLetThePeerReadOnAndReachTheEndWhenAWriterWasBlocked() throws Exception {
        Pair pair = pair();
        AtomicLong written = new AtomicLong();
        Work<Void> writer = start(() -> {
            OutputStream out = pair.clientOut();
            while (true) {
                out.write(new byte[1 << 16]);
                written.addAndGet(1 << 16);
            }
        });
        long before;
        do {
            before = written.get();
            awaitWaiting(writer);
        } while (written.get() > before);
        pair.client().close();
        assertSocketException("Socket closed", writer::get);
        int read = pair.serverIn().readAllBytes().length;
        assertTrue(read >= written.get(), read + " of at least " + written + " bytes");
    }

    @Test
    void shouldLetThePeerReadTheEndWhenAReaderWasBlocked() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.clientIn().read());
        awaitWaiting(reader);
        pair.client().close();
        assertEquals(-1, pair.serverIn().read());
        assertSocketException("Socket closed", reader::get);
    }

    @Tag("jdk21")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @Test
    void shouldLetThePeerReadTheEndWhenAVirtualReaderWasBlocked() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = startVirtual(() -> pair.clientIn().read());
        awaitWaiting(reader);
        pair.client().close();
        assertEquals(-1, pair.serverIn().read());
        assertSocketException("Socket closed", reader::get);
    }

    // ---- linger ----

    @Test
    void shouldResetWhenItDoesNotLinger() throws IOException {
        Pair pair = pair();
        pair.server().setSoLinger(true, 0);
        pair.server().close();
        assertSocketException("Connection reset", () -> pair.clientIn().read());
    }

    @Test
    void shouldDeliverWhileItLingers() throws Exception {
        Pair pair = pair();
        pair.client().setSoLinger(true, 20);
        Work<Void> writer = start(() -> {
            pair.clientOut().write(new byte[1_000_000]);
            pair.client().close();
            return null;
        });
        assertEquals(1_000_000, pair.serverIn().readAllBytes().length);
        writer.get();
    }

    @Test
    void shouldNotLingerLongWhenEverythingIsDelivered() throws IOException {
        Pair pair = pair();
        pair.client().setSoLinger(true, 50);
        pair.clientOut().write(1);
        assertEquals(1, pair.serverIn().read());
        long start = System.nanoTime();
        pair.server().close();
        pair.client().close();
        assertTrue(System.nanoTime() - start < 25_000_000_000L);
    }

    @Test
    void shouldLingerOnlyAsLongAsItSays() throws Exception {
        Pair pair = pair();
        Work<Void> writer = start(() -> {
            OutputStream out = pair.clientOut();
            while (true) {
                out.write(new byte[1 << 16]);
            }
        });
        awaitWaiting(writer);
        pair.client().setSoLinger(true, 1);
        long start = System.nanoTime();
        pair.client().close();
        assertTrue(System.nanoTime() - start < 9_000_000_000L);
        assertSocketException("Socket closed", writer::get);
    }

    /** A server's housekeeper closes slow clients, each with a thread in a read: it cannot wait for each in turn. */
    @Test
    void shouldNotLingerWhereAnotherThreadIsInside() throws Exception {
        Pair pair = pair();
        Work<Integer> reader = start(() -> pair.client().getInputStream().read());
        awaitWaiting(reader);
        pair.clientOut().write(new byte[500_000]); // which nobody reads
        pair.client().setSoLinger(true, 8);
        long start = System.nanoTime();
        pair.client().close();
        long took = System.nanoTime() - start;
        assertTrue(took < 6_000_000_000L, took + " ns");
        assertSocketException("Socket closed", reader::get);
    }

    /** As close(2) does: what a thread has written is not to be lost because somebody wants the thread. */
    @Test
    void shouldLingerWhenItIsInterrupted() throws Exception {
        try (ServerSocket server = newServer()) {
            server.setReceiveBufferSize(4096);
            server.bind(new InetSocketAddress(host(), 0));
            Socket client = newSocket();
            client.setSendBufferSize(1 << 20);
            client.connect(server.getLocalSocketAddress());
            accept(server);
            client.getOutputStream().write(new byte[100_000]); // more than the peer takes, less than would block
            client.setSoLinger(true, 2);
            Thread.currentThread().interrupt();
            long start = System.nanoTime();
            client.close();
            long took = System.nanoTime() - start;
            assertTrue(Thread.interrupted());
            assertTrue(took >= 1_500_000_000L, took + " ns");
        }
    }

    @Test
    void shouldRememberItsLinger() throws IOException {
        Socket socket = newSocket();
        assertEquals(-1, socket.getSoLinger());
        socket.setSoLinger(true, 5);
        assertEquals(5, socket.getSoLinger());
        socket.setSoLinger(true, 100_000);
        assertEquals(65535, socket.getSoLinger());
        socket.setSoLinger(false, 5);
        assertEquals(-1, socket.getSoLinger());
        assertThrows(IllegalArgumentException.class, () -> socket.setSoLinger(true, -1));
    }

    // ---- nobody closes ----

    @Test
    void shouldCloseWhatNobodyUsesAnyMore() throws Exception {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0));
        connectAndDrop(server);
        Socket accepted = accept(server);
        Work<Integer> reader = start(() -> accepted.getInputStream().read());
        for (int i = 0; i < 500 && !reader.isDone(); i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(-1, reader.get());
    }

    private void connectAndDrop(ServerSocket server) throws IOException {
        Socket dropped = kind().socket();
        dropped.connect(server.getLocalSocketAddress());
        dropped.getOutputStream();
    }

    /** Whose frame, once compiled, does not refer to the socket any more. */
    @Test
    void shouldNotCloseInTheMiddleOfTheLastRead() throws Exception {
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0));
        AtomicReference<InputStream> only = new AtomicReference<>();
        inputOfDropped(server, only);
        Socket accepted = accept(server);
        Work<Integer> reader = start(() -> {
            for (int i = 0; i < UNTIL_COMPILED; i++) {
                only.get().read();
            }
            return only.getAndSet(null).read();
        });
        for (int i = 0; i < UNTIL_COMPILED; i++) {
            accepted.getOutputStream().write(i);
        }
        collectWhileItWaits(reader);
        accepted.getOutputStream().write(7);
        assertEquals(7, reader.get());
    }

    private void inputOfDropped(ServerSocket server, AtomicReference<InputStream> only) throws IOException {
        Socket dropped = kind().socket();
        dropped.connect(server.getLocalSocketAddress());
        only.set(dropped.getInputStream());
    }

    private static void collectWhileItWaits(Work<?> work) throws InterruptedException {
        awaitWaiting(work);
        for (int i = 0; i < 20; i++) {
            System.gc();
            Thread.sleep(10);
        }
    }

    @Test
    void shouldNotCloseInTheMiddleOfTheLastWrite() throws Exception {
        byte[] rest = new byte[30_000_000];
        ServerSocket server = newServer();
        server.bind(new InetSocketAddress(host(), 0));
        AtomicReference<OutputStream> only = new AtomicReference<>();
        outputOfDropped(server, only);
        Socket accepted = accept(server);
        Work<Void> writer = start(() -> {
            for (int i = 0; i < UNTIL_COMPILED; i++) {
                only.get().write(rest, i, 1);
            }
            only.getAndSet(null).write(rest, 0, rest.length);
            return null;
        });
        assertEquals(UNTIL_COMPILED, accepted.getInputStream().readNBytes(UNTIL_COMPILED).length);
        collectWhileItWaits(writer);
        assertEquals(rest.length, accepted.getInputStream().readNBytes(rest.length).length);
        writer.get();
    }

    /** A known way to have a thread that reads a socket heed interrupts. Then both threads may close it at once. */
    private static final class ClosingReader extends Thread {
        private final Socket socket;

        ClosingReader(Socket socket) {
            this.socket = socket;
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            super.interrupt();
            try {
                socket.shutdownOutput();
                socket.close();
            } catch (IOException e) {
                // the other thread has closed it
            }
        }

        @Override
        public void run() {
            try {
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // closed
            }
        }
    }

    @Test
    void shouldCloseWhereTheReadersOwnInterruptCloses() throws Exception {
        for (int round = 0; round < 100; round++) {
            Pair pair = pair();
            ClosingReader reader = new ClosingReader(pair.server());
            reader.start();
            Work<Void> writer = start(() -> {
                OutputStream out = pair.clientOut();
                while (true) {
                    out.write(new byte[100]);
                }
            });
            Thread.sleep(1 + round % 3);
            Work<Void> interrupter = start(() -> {
                reader.interrupt();
                return null;
            });
            interrupter.get();
            reader.join(30_000);
            assertFalse(reader.isAlive());
            assertThrows(SocketException.class, writer::get);
            pair.client().close();
        }
    }

    private void outputOfDropped(ServerSocket server, AtomicReference<OutputStream> only) throws IOException {
        Socket dropped = kind().socket();
        dropped.connect(server.getLocalSocketAddress());
        only.set(dropped.getOutputStream());
    }

    @Test
    void shouldStopListeningWhereNobodyAcceptsAnyMore() throws Exception {
        SocketAddress address = listenAndDrop();
        assertThrows(
                SocketException.class,
                () -> { // refused, or reset if it closes just then
                    for (int i = 0; i < BACKLOG; i++) {
                        System.gc();
                        try (Socket client = kind().socket()) {
                            client.connect(address, 10_000);
                        }
                        Thread.sleep(10);
                    }
                });
    }

    private SocketAddress listenAndDrop() throws IOException {
        ServerSocket dropped = kind().serverSocket();
        dropped.bind(new InetSocketAddress(host(), 0), BACKLOG);
        return dropped.getLocalSocketAddress();
    }
}
