/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes through what the JDK has on top of channels: streams of a channel, transfers from and to files. */
abstract class JdkHelpersSuite extends NioSuite {

    @TempDir
    Path directory;

    @Test
    void shouldServeStreamsFromChannels() throws Exception {
        Pair p = pair();
        OutputStream out = Channels.newOutputStream(p.client());
        InputStream in = Channels.newInputStream(p.server());
        Future<?> writer = background(() -> {
            out.write(bytes(200_000).array());
            out.close();
        });
        assertArrayEquals(bytes(200_000).array(), in.readAllBytes());
        get(writer);
        assertFalse(p.client().isOpen());
    }

    @Test
    void shouldRefuseStreamsOfANonBlockingChannel() throws IOException {
        Pair p = nonBlockingPair();
        assertThrows(IllegalBlockingModeException.class, () -> Channels.newInputStream(p.client())
                .read());
        assertThrows(IllegalBlockingModeException.class, () -> Channels.newOutputStream(p.client())
                .write(1));
    }

    @Test
    void shouldSendAFile() throws Exception {
        Pair p = pair();
        Path file = directory.resolve("out");
        int size = 3 << 20;
        try (FileChannel f = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            f.write(bytes(size));
        }
        Future<Boolean> reader = background(() -> {
            ByteBuffer in = ByteBuffer.allocate(size);
            while (in.hasRemaining()) {
                p.server().read(in);
            }
            return in.flip().equals(bytes(size));
        });
        try (FileChannel f = FileChannel.open(file, StandardOpenOption.READ)) {
            for (long at = 0; at < size; ) {
                at += f.transferTo(at, size - at, p.client());
            }
        }
        assertTrue(get(reader));
    }

    @Test
    void shouldReceiveAFile() throws Exception {
        Pair p = pair();
        int size = 3 << 20;
        Future<?> writer = background(() -> {
            p.client().write(bytes(size));
            p.client().shutdownOutput();
        });
        try (FileChannel f = FileChannel.open(
                directory.resolve("in"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.READ)) {
            long at = 0;
            for (long n = f.transferFrom(p.server(), 0, size); n > 0; n = f.transferFrom(p.server(), at, size - at)) {
                at += n;
            }
            assertEquals(size, at);
            ByteBuffer in = ByteBuffer.allocate(size);
            while (f.read(in, in.position()) > 0) {
                // until it is complete
            }
            assertEquals(bytes(size), in.flip());
        }
        get(writer);
    }

    @Test
    void shouldSendPartOfAFileWithoutBlocking() throws Exception {
        Pair p = nonBlockingPair();
        Path file = directory.resolve("big");
        try (FileChannel f =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            ByteBuffer mebibyte = bytes(1 << 20); // the pattern repeats after that
            for (int i = 0; i < 64; i++) {
                f.write(mebibyte.rewind());
            }
            long n = f.transferTo(0, 64 << 20, p.client());
            assertTrue(n > 0 && n < 64 << 20, "sent " + n);
            p.client().shutdownOutput();
            p.server().configureBlocking(true);
            ByteBuffer in = ByteBuffer.allocate(64 << 20);
            while (p.server().read(in) >= 0) {
                // until the end
            }
            assertEquals(n, in.position());
            for (int i = 0; i < n; i++) {
                assertEquals(pattern(i), in.get(i), i);
            }
        }
    }
}
