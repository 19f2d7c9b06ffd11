/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Netty's NIO transport. */
@Tag("lab")
@Tag("frameworks")
class NettyLabTest {

    private static final int SIZE = (1 << 20) + 12345;
    private static final int TIMES = 2;

    @TempDir
    private Path folder;

    @Test
    void shouldServeFilesByTransferToNettyAndJavaNet() throws Exception {
        byte[] data = new byte[SIZE];
        new SplittableRandom(System.nanoTime()).nextBytes(data);
        Files.write(folder.resolve("data"), data);
        try (JvmProcess server =
                Programs.under("netty", "FileServer", Site.address(), folder).start()) {
            String port = Programs.port(server, "listening");
            try (Carried carried = Carried.fromNow()) {
                JvmProcess.Result client = Programs.run(
                        Programs.under("netty", "FileClient", Site.address(), port, "data", TIMES), server);
                carried.assertBytes(2L * TIMES * SIZE);
                assertEquals(sum(data), client.value("netty"), client::toString);
                assertEquals(sum(data), client.value("url"), client::toString);
            }
        }
    }

    private static String sum(byte[] data) {
        CRC32C crc = new CRC32C();
        for (int i = 0; i < TIMES; i++) {
            crc.update(data);
        }
        return String.format("%d %08x", (long) TIMES * data.length, crc.getValue());
    }
}
