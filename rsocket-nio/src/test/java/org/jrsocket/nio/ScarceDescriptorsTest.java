/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A process that has no descriptor left hears so in the exceptions that the methods declare. */
@Tag("slow")
@Timeout(120)
class ScarceDescriptorsTest {

    @TempDir
    private Path folder;

    @Test
    void shouldFailWithAnIoException() throws Exception {
        FewDescriptors.run(Program.class, folder);
    }

    /** What the new JVM does. */
    static final class Program {

        private final NioKind.OverLoopback kind = (NioKind.OverLoopback) NioKind.loopback();
        private final InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

        private Program() throws Exception {}

        public static void main(String[] arguments) throws Exception {
            Program program = new Program();
            SocketChannel first = program.accepted();
            SocketChannel second = program.accepted();
            program.tryAll(first, (type, call) -> { // so that all classes are loaded
                try {
                    call.execute();
                } catch (Throwable e) {
                    assertNotNull(e.toString());
                }
            });
            assertThrows(SocketException.class, () -> {
                throw new SocketException();
            });
            assertNotNull(new ErrnoException("classes", "loaded", Errno.EMFILE).getMessage());
            assertNotNull(Class.forName("org.jrsocket.os.Fds")); // needed only by who really has to sleep
            Waiting early = program.waiting();
            early.reader.start();
            early.awaitAndServe();
            List<Waiting> waiting = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                waiting.add(program.waiting());
            }
            List<FileInputStream> hogs = new ArrayList<>();
            try {
                hogs.addAll(FewDescriptors.hogAll());
                for (Waiting each : waiting) {
                    each.reader.start();
                }
                for (Waiting each : waiting) {
                    each.awaitAndServe();
                }
                program.tryAll(second, (type, call) -> {
                    hogs.addAll(
                            FewDescriptors
                                    .hogAll()); // also what the garbage collector or a reaper has given back meanwhile
                    assertEquals(type, assertThrows(type, call).getClass());
                });
            } finally {
                for (FileInputStream hog : hogs) {
                    hog.close();
                }
            }
            program.kind.close();
        }

        /** More than have slept before, whose descriptors are kept. */
        private static final int READERS = 10;

        /** A thread that reads from an established connection. */
        private record Waiting(SocketChannel client, Thread reader, CompletableFuture<Integer> outcome) {
            void awaitAndServe() throws Exception {
                Thread.sleep(10); // it waits, and not by polling any more
                assertEquals(1, client.write(ByteBuffer.allocate(1)));
                assertEquals(1, outcome.get(60, TimeUnit.SECONDS));
            }
        }

        private Waiting waiting() throws IOException {
            try (ServerSocketChannel listener =
                    kind.provider().openServerSocketChannel().bind(any)) {
                SocketChannel client = kind.provider().openSocketChannel();
                client.connect(listener.getLocalAddress());
                SocketChannel server = listener.accept();
                CompletableFuture<Integer> outcome = new CompletableFuture<>();
                Thread reader = new Thread(() -> {
                    try {
                        outcome.complete(server.read(ByteBuffer.allocate(1)));
                    } catch (Throwable e) {
                        outcome.completeExceptionally(e);
                    }
                });
                reader.setDaemon(true);
                return new Waiting(client, reader, outcome);
            }
        }

        private interface Check {
            void fails(Class<? extends IOException> type, Executable call);
        }

        private SocketChannel accepted() throws IOException {
            try (ServerSocketChannel listener =
                    kind.provider().openServerSocketChannel().bind(any)) {
                SocketChannel client = kind.provider().openSocketChannel();
                client.connect(listener.getLocalAddress());
                kind.check(client);
                return listener.accept();
            }
        }

        private void tryAll(SocketChannel accepted, Check check) throws IOException {
            accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
            assertTrue(accepted.getOption(StandardSocketOptions.TCP_NODELAY));
            assertTrue(accepted.supportedOptions().size() > 7);
            check.fails(SocketException.class, () -> accepted.setOption(StandardSocketOptions.IP_TOS, 8));
            check.fails(SocketException.class, () -> accepted.getOption(StandardSocketOptions.SO_REUSEPORT));
            check.fails(SocketException.class, () -> accepted.socket().setTrafficClass(8));
            check.fails(SocketException.class, () -> accepted.socket().setOOBInline(true));
            check.fails(SocketException.class, () -> accepted.socket().getOOBInline());
            check.fails(SocketException.class, () -> kind.provider().openSocketChannel());
            check.fails(SocketException.class, () -> kind.provider().openServerSocketChannel());
            accepted.close();
            check.fails(ClosedChannelException.class, () -> accepted.bind(any));
            boolean looksFirst = Runtime.version().feature() >= 24; // as the JDK's
            check.fails(
                    looksFirst ? ClosedChannelException.class : AsynchronousCloseException.class,
                    () -> accepted.connect(any));
            check.fails(
                    AsynchronousCloseException.class, () -> accepted.socket().connect(any, 1000));
            check.fails(
                    looksFirst ? ClosedChannelException.class : AsynchronousCloseException.class,
                    accepted::finishConnect);
            check.fails(
                    ClosedChannelException.class, () -> accepted.setOption(StandardSocketOptions.TCP_NODELAY, true));
            check.fails(ClosedChannelException.class, accepted::getLocalAddress);
            check.fails(ClosedChannelException.class, () -> accepted.configureBlocking(false));
        }
    }
}
