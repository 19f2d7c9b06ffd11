/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.stream.RawPeer;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SleeperTest {

    private static final int NO_DESCRIPTOR = 1 << 28;

    /** Else its owner would try again and again, as fast as it can. */
    @Test
    void shouldSayWhenItCannotSleep() throws IOException {
        Sleeper sleeper = SleeperPool.COMMON.acquire();
        try {
            SocketException e = assertThrows(SocketException.class, () -> sleeper.sleep(NO_DESCRIPTOR, 1_000_000_000));
            assertTrue(
                    e.getMessage().startsWith("waiting for the events of an RDMA connection failed"), e.getMessage());
        } finally {
            SleeperPool.COMMON.release(sleeper);
        }
    }

    private static final int SLEEPERS = 100;

    private static int eventFds() throws IOException {
        int count = 0;
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : fds) {
                try {
                    count += Files.readSymbolicLink(fd).toString().contains("eventfd") ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // closed meanwhile
                }
            }
        }
        return count;
    }

    private static List<Sleeper> acquire(SleeperPool pool) throws IOException {
        List<Sleeper> sleepers = new ArrayList<>();
        for (int i = 0; i < SLEEPERS; i++) {
            sleepers.add(pool.acquire());
        }
        return sleepers;
    }

    /** A container may start and stop applications that have it, each with a class loader of its own. */
    @Test
    void shouldKeepNoDescriptorWhenTheLastTransportHasEnded() throws IOException {
        SleeperPool pool = new SleeperPool();
        pool.begin();
        pool.begin();
        int before = eventFds();
        List<Sleeper> sleepers = acquire(pool);
        List<Sleeper> late = sleepers.subList(SLEEPERS / 2, SLEEPERS);
        sleepers.subList(0, SLEEPERS / 2).forEach(pool::release);
        pool.end();
        assertEquals(SLEEPERS, eventFds() - before, 10, "there is another transport");
        pool.end();
        assertEquals(late.size(), eventFds() - before, 10, "those that are in use");
        late.forEach(pool::release);
        assertEquals(0, eventFds() - before, 10, "nobody uses any");
    }

    @Test
    void shouldBeKeptForAsLongAsThereIsATransport() throws IOException {
        int before = SleeperPool.COMMON.users();
        LoopbackProvider verbs = new LoopbackProvider();
        RdmaTransport transport = RdmaTransport.over(verbs);
        RawPeer.await(() -> SleeperPool.COMMON.users() == before + 1, () -> "the transport does not count");
        transport.finish();
        assertEquals(before, SleeperPool.COMMON.users());
        verbs.close();
    }

    @Test
    void shouldSleepNoLongerThanItIsTold() throws IOException {
        Sleeper sleeper = SleeperPool.COMMON.acquire();
        sleeper.sleep(-1, 1_000_000);
        sleeper.wake();
        sleeper.sleep(-1, -1);
        SleeperPool.COMMON.release(sleeper);
    }
}
