/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.loopback.LiveObjects;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** 10,000 connections, ended in each way there is, and nothing of them stays. */
@Tag("slow")
class ConnectionLeakTest {

    private static final int CONNECTIONS = 10_000;
    private static final int WARM_UP = 200;
    private static final StreamConfig CONFIG =
            StreamConfig.DEFAULT.withBuffers(4096, 8192).withQueues(16, 16);
    private static final long PATIENCE = StreamPair.PATIENCE;

    private record Use(LiveObjects objects, long memory, long descriptors, List<String> threads) {}

    private final LoopbackProvider verbs = new LoopbackProvider();

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldKeepNothingOfTenThousandConnections() throws Exception {
        RdmaTransport transport = RdmaTransport.over(verbs);
        try (RdmaListener listener =
                transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50, CONFIG)) {
            for (int i = 0; i < WARM_UP; i++) {
                connection(transport, listener, i);
            }
            Use before = settled(transport);
            for (int i = 0; i < CONNECTIONS; i++) {
                connection(transport, listener, i);
            }
            Use after = settled(transport);
            assertEquals(before.objects, after.objects);
            // Not more: other tests of this JVM may have left something to the collector.
            assertTrue(
                    after.memory <= before.memory
                            && after.descriptors <= before.descriptors
                            && after.threads.size() <= before.threads.size(),
                    () -> before + " before, " + after + " after");
        } finally {
            transport.close();
        }
        verbs.assertClean();
        verbs.close();
    }

    /** Ends in one of six ways. */
    private static void connection(RdmaTransport transport, RdmaListener listener, int number) throws IOException {
        PendingConnect pending = transport.connect(null, listener.localAddress(), CONFIG);
        if (number % 6 == 0) {
            pending.cancel(); // whichever stage it has come to
            return;
        }
        RdmaStream client = pending.await(PATIENCE);
        RdmaStream server = StreamPair.accept(listener);
        while (!server.remoteAddress().equals(client.localAddress())) {
            server.close(); // a cancelled one's
            server = StreamPair.accept(listener);
        }
        client.write(new byte[] {1}, 0, 1, PATIENCE);
        byte[] one = new byte[1];
        switch (number % 6) {
            case 1 -> { // each in its turn
                assertEquals(1, server.read(one, 0, 1, PATIENCE));
                server.write(one, 0, 1, PATIENCE);
                assertEquals(1, client.read(one, 0, 1, PATIENCE));
                client.close();
                assertEquals(-1, server.read(one, 0, 1, PATIENCE));
                server.close();
            }
            case 2 -> { // by half closes
                client.shutdownOutput();
                assertEquals(1, server.read(one, 0, 1, PATIENCE));
                assertEquals(-1, server.read(one, 0, 1, PATIENCE));
                server.shutdownOutput();
                server.close();
                client.close();
            }
            case 3 -> { // with data unread
                server.close();
                client.close();
            }
            case 4 -> client.abort();
            default -> { // with data on its way
                server.close();
                client.abort();
            }
        }
        if (number % 6 == 4) {
            server.close();
        }
    }

    private Use settled(RdmaTransport transport) throws Exception {
        long deadline = System.nanoTime() + PATIENCE;
        Use last = null;
        for (Use now = use(transport); transport.liveStreams() > 0 || !now.equals(last); now = use(transport)) {
            assertTrue(System.nanoTime() - deadline < 0, transport.liveStreams() + " streams, " + now);
            last = now;
            Thread.sleep(500); // what was cancelled is freed in the background
        }
        return last;
    }

    /** Without the makers and the reapers, which come and go. */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("jrsocket")
                        && !name.startsWith("jrsocket-maker")
                        && !name.startsWith("jrsocket-reaper"))
                .sorted()
                .collect(Collectors.toList());
    }

    /** The JVM opens files of its own when it likes: a jar of the class path for the first class that is in it. */
    private static boolean isNoFile(Path descriptor) {
        try {
            return !Files.readSymbolicLink(descriptor).isAbsolute();
        } catch (IOException e) {
            return false; // it has been closed meanwhile
        }
    }

    private Use use(RdmaTransport transport) throws IOException {
        transport.freeIdle();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            long ours = descriptors.filter(ConnectionLeakTest::isNoFile).count();
            return new Use(verbs.liveObjects(), NativeMemory.allocatedBytes(), ours, threads());
        }
    }
}
