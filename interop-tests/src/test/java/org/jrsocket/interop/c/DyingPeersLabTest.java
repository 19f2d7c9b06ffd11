/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** C peers that die, that never read, and that outlive our process. */
@Tag("lab")
@Tag("c")
@Tag("device")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DyingPeersLabTest extends CPeerTests {

    private static final int BYTES = 1_500_000; // more than all rings between the two take
    private static final int FIRST_GRANT = 65536; // bytes that a C peer takes without reading

    @TempDir
    Path folder;

    @ParameterizedTest(name = "{0}, C listens {1}")
    @CsvSource({"STREAM, false", "STREAM, true", "AGENT, false", "AGENT, true"})
    void shouldFailAReaderWhoseCPeerIsKilled(Api api, boolean cListens) throws Exception {
        JavaEnd java = java(api);
        try (Peer netcat = Peer.netcat(java, cListens, "-1", Program.Builder::keepInput)) {
            java.get(netcat.connection.send(1000, 1));
            CompletableFuture<String> read = netcat.connection.read();
            TimeUnit.SECONDS.sleep(1); // so that it sleeps, most likely
            assertFalse(read.isDone());
            netcat.program.kill();
            assertTrue(java.failure(read).contains("Connection reset"));
            netcat.connection.close();
        }
        delivered.assertAtLeast(1000);
    }

    @ParameterizedTest(name = "{0}, C listens {1}")
    @CsvSource({"STREAM, false", "AGENT, true"})
    void shouldFailAWriterWhoseCPeerIsKilled(Api api, boolean cListens) throws Exception {
        JavaEnd java = java(api);
        try (Peer netcat = Peer.netcat(java, cListens, "-1", Program.Builder::keepInput)) {
            netcat.program.signal("STOP");
            CompletableFuture<String> send = netcat.connection.send(BYTES, 1);
            delivered.awaitAtLeast(FIRST_GRANT, Lab.SOON);
            assertFalse(send.isDone());
            netcat.program.kill();
            assertTrue(java.failure(send).contains("SocketException"));
            netcat.connection.close();
        }
    }

    @ParameterizedTest(name = "{0}, C listens {1}")
    @CsvSource({"STREAM, false", "AGENT, true"})
    void shouldWaitForACPeerThatDoesNotRead(Api api, boolean cListens) throws Exception {
        JavaEnd java = java(api);
        Path output = folder.resolve("output");
        try (Peer netcat =
                Peer.netcat(java, cListens, "-1", builder -> builder.keepInput().output(output))) {
            netcat.program.signal("STOP");
            CompletableFuture<String> send = netcat.connection.send(BYTES, 1);
            TimeUnit.SECONDS.sleep(2);
            assertFalse(send.isDone());
            netcat.program.signal("CONT");
            String sent = java.get(send);
            netcat.connection.close();
            netcat.program.await(Lab.RUN).expectSuccess();
            byte[] data = Files.readAllBytes(output);
            SeededData hash = new SeededData(0);
            hash.update(data, data.length);
            assertEquals(sent, hash.toString());
        }
        delivered.assertAtLeast(BYTES);
    }

    /** Such a peer has minutes, but not where no close may wait for long. */
    @Test
    void shouldLetGoOfACPeerThatNeverReads() throws Exception {
        String hurry = "-Dorg.jrsocket.close.max=0";
        try (JavaEnd stream = new JavaEnd(Api.STREAM, hurry);
                JavaEnd agent = new JavaEnd(Api.AGENT, hurry);
                Peer ofStream = Peer.netcat(stream, false, "-1", Program.Builder::keepInput);
                Peer ofAgent = Peer.netcat(agent, true, "-1", Program.Builder::keepInput)) {
            closeUnread(stream, ofStream, FIRST_GRANT);
            closeUnread(agent, ofAgent, 2 * FIRST_GRANT);
            stream.assertAllClosed();
            agent.assertAllClosed();
        }
    }

    private void closeUnread(JavaEnd java, Peer netcat, long deliveredThen) throws Exception {
        netcat.program.signal("STOP");
        CompletableFuture<String> send = netcat.connection.send(BYTES, 1);
        delivered.awaitAtLeast(deliveredThen, Lab.SOON);
        assertFalse(send.isDone());
        assertTrue(java.live() > 0);
        netcat.connection.close();
        assertTrue(java.failure(send).contains("SocketException"));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldLetGoOfACPeerThatIsStoppedWhileItSends(Api api) throws Exception {
        JavaEnd java = java(api);
        try (Peer netcat = Peer.netcat(java, false, "-1", builder -> builder.input(Path.of("/dev/zero")))) {
            java.get(netcat.connection.receive(BYTES));
            netcat.program.signal("STOP");
            netcat.connection.abort();
            java.assertAllClosed();
        }
        delivered.assertAtLeast(BYTES);
    }

    // ---- our process dies ----

    @ParameterizedTest(name = "{0}, rstream {1}")
    @CsvSource({"STREAM, -T a", "AGENT, -T b -T a"})
    void shouldEndAnRstreamServerThatPollsWhenTheJavaProcessIsKilled(Api api, String modes) throws Exception {
        Lab.assumeProgram("rstream");
        int port = Lab.port();
        String command = "rstream -b " + Lab.address(false) + " -p " + port + " -S 1000 " + modes;
        try (JavaEnd java = new JavaEnd(api);
                Program rstream = Program.of(command.split(" ")).start()) {
            Lab.awaitListener(port, rstream);
            JavaEnd.Connection connection = java.connect(false, port);
            java.get(connection.send(16, 1));
            java.get(connection.receive(16)); // now it waits for the first transfer
            java.program().kill();
            Program.Result result = rstream.await(Lab.SOON);
            assertEquals(1, result.out().size(), () -> "no test has completed: " + result);
        }
        delivered.assertAtLeast(32);
    }

    /**
     * After a blocking connect librdmacm 44 does not watch the connection, and a dead server hangs such clients:
     * rstream connects without blocking.
     */
    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldEndAnRstreamClientThatPollsWhenTheJavaProcessIsKilled(Api api) throws Exception {
        Lab.assumeProgram("rstream");
        try (JavaEnd java = new JavaEnd(api)) {
            int port = java.listen(false);
            CompletableFuture<String> accept = java.accept(port);
            String command = "rstream -s " + Lab.address(false) + " -p " + port + " -S 1000 -C 1 -T a";
            try (Program rstream = Program.of(command.split(" ")).start()) {
                JavaEnd.Connection connection = java.accepted(accept);
                java.get(connection.receive(16));
                java.get(connection.send(16, 1));
                java.get(connection.receive(1000)); // now it waits for the answer
                java.program().kill();
                Program.Result result = rstream.await(Lab.SOON);
                assertEquals(1, result.out().size(), () -> "no test has completed: " + result);
            }
        }
        delivered.assertAtLeast(1032);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldEndANetcatServerWhenTheJavaProcessIsKilled(Api api) throws Exception {
        try (JavaEnd java = new JavaEnd(api);
                Peer netcat = Peer.netcat(java, true, "-1", Program.Builder::keepInput)) {
            java.get(netcat.connection.send(1000, 1));
            java.program().kill();
            netcat.program.await(Lab.SOON);
        }
        delivered.assertAtLeast(1000);
    }
}
