/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example of docs/architecture.md. */
@Timeout(120)
class StreamExampleTest {

    private static final String BEGIN = "// The example begins.";
    private static final String END = "// The example ends.";

    @Test
    void shouldCarryWhatIsCopiedAndWhatIsLent() throws Exception {
        LoopbackProvider verbs = new LoopbackProvider();
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        byte[] header = "header".getBytes(US_ASCII);
        byte[] random = new byte[1 << 20];
        new Random(1).nextBytes(random);
        ByteBuffer content = ByteBuffer.allocateDirect(random.length).put(0, random);
        ByteBuffer received = ByteBuffer.allocate(2 * random.length); // a read without room never tells the end
        // The example begins.
        try (RdmaTransport transport = RdmaTransport.over(verbs);
                RdmaListener listener = transport.listen(address, 50, StreamConfig.DEFAULT);
                RdmaStream client = transport
                        .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                        .await(0);
                RdmaStream server = StreamPair.accept(listener)) {
            client.write(header, 0, header.length, 0);
            try (LentMemory memory = client.register(content)) {
                long end = client.writeLent(memory, 0, content.capacity());
                client.shutdownOutput();
                int n = 0;
                while (n >= 0 && server.awaitReadable(0)) {
                    try (BorrowedBytes borrowed = server.borrow(65536)) {
                        if (borrowed != null) {
                            received.put(borrowed.bytes());
                        } else {
                            n = server.read(received);
                        }
                    }
                }
                client.awaitAcknowledged(end, 0);
            }
        }
        // The example ends.
        assertEquals(header.length + random.length, received.position());
        assertEquals(ByteBuffer.wrap(header), received.slice(0, header.length));
        assertEquals(ByteBuffer.wrap(random), received.slice(header.length, random.length));
        verbs.assertClean();
        verbs.close();
    }

    @Test
    void shouldBeTheExampleOfTheDocumentation() throws Exception {
        String source = read("core-tests/src/test/java/org/jrsocket/stream/StreamExampleTest.java");
        String code = source.substring(source.lastIndexOf(BEGIN) + BEGIN.length(), source.lastIndexOf(END));
        String page = read("docs/architecture.md").replaceAll(" +// .*", "");
        assertTrue(squeezed(page).contains(squeezed(code)), () -> "not in docs/architecture.md:" + code);
    }

    private static String read(String file) throws Exception {
        Path here = Path.of(file);
        return Files.readString(Files.exists(here) ? here : Path.of("..").resolve(here));
    }

    private static String squeezed(String text) {
        return text.replaceAll("\\s+", "");
    }
}
