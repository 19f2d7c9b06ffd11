/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.endpoint.Slabs;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.LoopbackQp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.simple.SimpleLogger;
import org.slf4j.spi.LocationAwareLogger;

/** What fails on the way, loggers included, ends nobody else's connection and makes nobody wait for ever. */
@Timeout(120)
class TroubleOnTheWayTest extends RawPeerTests {

    /** A logger that is to print it fails as well. */
    static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("cannot be printed");
        }
    }

    private HookedVerbs hooked;

    @Override
    VerbsProvider wrap(LoopbackProvider provider) {
        hooked = new HookedVerbs(provider);
        return hooked;
    }

    /** The event that says so does not come again. */
    @Test
    void shouldEndAReaderWhosePeerIsGoneThoughThatIsHardToHear() throws Exception {
        StreamPair pair =
                StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT.withSpinNanos(0));
        AtomicBoolean met = new AtomicBoolean();
        StreamCore core = pair.client.core();
        CompletableFuture<Integer> reading = CompletableFuture.supplyAsync(() -> {
            try {
                return pair.client.read(new byte[1], 0, 1, 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        StreamBehaviour.awaitInside("read", 1);
        hooked.hook = (point, clock) -> {
            if (point == HookedVerbs.Point.BEFORE_POLL
                    && isHandlingAnEvent()
                    && core.isHeld()
                    && !met.getAndSet(true)) {
                throw new OutOfMemoryError("as the test wants");
            }
        };
        // Its process dies: its kernel says so, and its DISCONNECT never comes.
        for (LoopbackQp qp : verbs.qps()) {
            if (qp.number() == ((LoopbackQp) pair.server.core().endpoint.qp()).number()) {
                verbs.faults().breakQp(qp);
            }
        }
        pair.server.abort();
        ExecutionException told = assertThrows(ExecutionException.class, () -> reading.get(60, TimeUnit.SECONDS));
        assertNotNull(StreamFailure.of(told.getCause().getCause()), told::toString);
        assertTrue(met.get(), "no event was handled");
        hooked.hook = (point, clock) -> {};
        pair.client.abort();
    }

    private static boolean isHandlingAnEvent() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("peerDisconnected")));
    }

    private void assertServed() throws Exception {
        try (StreamPair pair = StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT)) {
            pair.client.write(bytes(1), 0, 1, PATIENCE);
            assertEquals(1, pair.server.read(new byte[1], 0, 1, PATIENCE));
        }
    }

    @Test
    void shouldServeOthersThoughNobodyCanBeToldWhatFailed() throws Exception {
        transport.service().execute(() -> {
            throw new Unprintable();
        });
        assertServed();
    }

    /** As a logger's appender does that connects anew, when the service thread has something to log. */
    @Test
    void shouldNotHaveTheServiceThreadWaitForAConnectionThatItWouldHaveToMake() throws Exception {
        try (RdmaListener listener =
                transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1, StreamConfig.DEFAULT)) {
            CompletableFuture<Reason> met = new CompletableFuture<>();
            transport.service().execute(() -> {
                try {
                    transport
                            .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                            .await(Long.MAX_VALUE);
                    met.complete(null);
                } catch (RdmaConnectException e) {
                    met.complete(e.reason());
                } catch (IOException | RuntimeException e) {
                    met.completeExceptionally(e);
                }
            });
            assertEquals(Reason.RESOURCES, met.get(60, TimeUnit.SECONDS));
        }
        assertServed();
    }

    @Test
    void shouldEndAStreamWhoseCloseMeetsTrouble() throws Exception {
        transport.onPathLost((local, peer) -> {
            throw new IllegalStateException("as the test wants");
        });
        StreamPair pair = StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT);
        verbs.faults().breakAfter(0);
        pair.client.write(bytes(1), 0, 1, PATIENCE);
        assertThrows(IllegalStateException.class, pair.client::close);
        assertThrows(SocketException.class, () -> pair.client.read(new byte[1], 0, 1, PATIENCE));
        pair.server.abort();
        RawPeer.await(() -> transport.liveStreams() == 0, () -> transport.liveStreams() + " streams are left");
    }

    /** The logger may wait for somebody who writes to this very stream. */
    @Test
    void shouldHoldNoLockOfAStreamWhileItLogsWhatThePeerDidWrong() throws Exception {
        Link l = link(Role.ACTIVE, RawPeer.Spec.DEFAULT.ours());
        AtomicBoolean held = new AtomicBoolean();
        ByteArrayOutputStream said = new ByteArrayOutputStream() {
            @Override
            public synchronized void write(byte[] bytes, int offset, int length) {
                held.compareAndSet(false, l.stream().core().isHeld());
                super.write(bytes, offset, length);
            }
        };
        PrintStream before = System.err;
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            l.peer().credit(385);
            assertThrows(SocketException.class, () -> l.stream().read(new byte[1], 0, 1, PATIENCE));
        } finally {
            System.setErr(before);
        }
        assertTrue(said.toString(StandardCharsets.UTF_8).contains(" WARN "), said::toString);
        assertFalse(held.get(), "a logger was called with the lock of the stream");
    }

    @Test
    void shouldHoldNoLockOfAStreamWhileItLogsThatMemoryWasRefused() throws Exception {
        StreamPair pair = StreamPair.connect(transport, HERE, CONFIG);
        CompletableFuture<Boolean> held = new CompletableFuture<>();
        PrintStream before = System.err;
        Object level = level(Slabs.class, LocationAwareLogger.DEBUG_INT);
        System.setErr(new PrintStream(OutputStream.nullOutputStream()) {
            @Override
            public void println(String line) {
                if (line.contains("cannot add ")) {
                    held.complete(pair.client.core().isHeld());
                }
            }
        });
        try {
            transport.limitMemory(1);
            assertTrue(pair.client.write(ByteBuffer.allocate(1 << 20)) < 1 << 20, "there is memory for all of it");
            assertFalse(held.get(60, TimeUnit.SECONDS), "a logger was called with the lock of the stream");
        } finally {
            System.setErr(before);
            level(Slabs.class, level);
            pair.client.abort();
            pair.server.abort();
        }
    }

    /** As an appender does that connects with its lock held: all else that the service thread has to do waits. */
    @Test
    void shouldHandOverAConnectionBeforeItIsLogged() throws Exception {
        CompletableFuture<Boolean> logged = new CompletableFuture<>();
        CountDownLatch handedOver = new CountDownLatch(1);
        PrintStream before = System.err;
        try (RdmaListener listener = transport.listen(new InetSocketAddress(HERE, 0), 1, StreamConfig.DEFAULT)) {
            String client = ":" + listener.localAddress().getPort() + " over "; // the address that it is connected to
            System.setErr(new PrintStream(OutputStream.nullOutputStream()) {
                @Override
                public void println(String line) {
                    if (line.contains("connected ") && line.contains(client)) {
                        try {
                            logged.complete(handedOver.await(PATIENCE, TimeUnit.NANOSECONDS));
                        } catch (InterruptedException e) {
                            logged.completeExceptionally(e);
                        }
                    }
                }
            });
            Object level = level(RdmaTransport.class, LocationAwareLogger.DEBUG_INT);
            try (RdmaStream stream = transport
                    .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(Long.MAX_VALUE)) {
                assertNotNull(stream);
                handedOver.countDown();
                assertTrue(logged.get(60, TimeUnit.SECONDS), "the logger waited in vain");
            } finally {
                level(RdmaTransport.class, level);
            }
        } finally {
            System.setErr(before);
        }
    }

    /** Sets the level of a class's logger, and returns the one before. */
    static Object level(Class<?> named, Object level) throws ReflectiveOperationException {
        Field field = SimpleLogger.class.getDeclaredField("currentLogLevel");
        field.setAccessible(true);
        Logger logger = LoggerFactory.getLogger(named);
        Object before = field.get(logger);
        field.set(logger, level);
        return before;
    }
}
