/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jrsocket.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
public class NativeFdsTest {

    private static final long MILLI = 1_000_000;
    private static final long NO_DESCRIPTOR = 100_000;

    @Test
    void shouldSignalAndClear() throws Exception {
        try (EventFd event = new EventFd()) {
            assertFalse(event.clear());
            event.signal();
            event.signal();
            assertTrue(event.clear());
            assertFalse(event.clear());
        }
    }

    /** The system gives out the number of a descriptor that is closed again. */
    @Test
    void shouldCloseOnce() throws Exception {
        EventFd event = new EventFd();
        event.close();
        try (EventFd next = sameNumber(event)) {
            next.signal();
            event.close();
            event.signal();
            assertFalse(event.clear());
            assertTrue(next.clear(), "it is another's by now");
        }
    }

    /** Other threads of this JVM may take it first; then what they had is free, and {@code closed} too, soon. */
    private static EventFd sameNumber(EventFd closed) throws Exception {
        for (int attempts = 0; attempts < 1000; attempts++) {
            EventFd next = new EventFd();
            if (next.fd() == closed.fd()) {
                return next;
            }
            next.close();
            Thread.sleep(1);
        }
        throw new AssertionError("it is not closed");
    }

    @Test
    void shouldTellWhichOfTwoIsReadable() throws Exception {
        try (EventFd a = new EventFd();
                EventFd b = new EventFd()) {
            assertEquals(0, Fds.waitReadable(a.fd(), b.fd(), 0));
            b.signal();
            assertEquals(2, Fds.waitReadable(a.fd(), b.fd(), -1));
            a.signal();
            assertEquals(3, Fds.waitReadable(a.fd(), b.fd(), -1));
            assertEquals(1, Fds.waitReadable(a.fd(), -1, -1));
            assertEquals(2, Fds.waitReadable(-1, b.fd(), 1));
        }
    }

    @Test
    void shouldWaitTheTimeAsked() throws Exception {
        try (EventFd event = new EventFd()) {
            long start = System.nanoTime();
            assertEquals(0, Fds.waitReadable(event.fd(), -1, 3 * MILLI));
            assertTrue(System.nanoTime() - start >= 3 * MILLI);
        }
    }

    @Test
    void shouldReportAClosedDescriptor() throws Exception {
        assertEquals(-9, Fds.waitReadable((int) NO_DESCRIPTOR, -1, 0)); // EBADF
        assertTrue(OsNative.eventFdRead((int) NO_DESCRIPTOR) < 0);
        assertTrue(OsNative.eventFdWrite((int) NO_DESCRIPTOR) < 0);
        assertTrue(Fds.nonBlocking((int) NO_DESCRIPTOR) < 0);
    }

    @Test
    void shouldWakeASleeper() throws Exception {
        try (EventFd event = new EventFd();
                Epoll epoll = new Epoll(1)) {
            epoll.add(event.fd(), Epoll.IN, 1);
            Thread sleeper = Thread.currentThread();
            Thread waker = new Thread(() -> {
                try {
                    Waiting.inside(sleeper, Epoll.class, "await");
                } catch (InterruptedException e) {
                    return;
                }
                event.signal();
            });
            waker.start();
            assertEquals(1, epoll.await(-1));
            waker.join();
        }
    }

    @Test
    void shouldReportDataOfManyEvents() throws Exception {
        int many = 100;
        EventFd[] events = new EventFd[many];
        try (Epoll epoll = new Epoll(many)) {
            for (int i = 0; i < many; i++) {
                events[i] = new EventFd();
                events[i].signal();
                epoll.add(events[i].fd(), Epoll.IN, 0x1234_5678_0000_0000L + i);
            }
            assertEquals(many, epoll.await(0));
            Set<Long> seen = new HashSet<>();
            for (int i = 0; i < many; i++) {
                seen.add(epoll.data(i));
            }
            for (int i = 0; i < many; i++) {
                assertTrue(seen.contains(0x1234_5678_0000_0000L + i));
            }
        } finally {
            for (EventFd event : events) {
                event.close();
            }
        }
    }

    @Test
    void shouldReportNoMoreThanItsCapacity() throws Exception {
        try (Epoll epoll = new Epoll(1);
                EventFd a = new EventFd();
                EventFd b = new EventFd()) {
            a.signal();
            b.signal();
            epoll.add(a.fd(), Epoll.IN, 1);
            epoll.add(b.fd(), Epoll.IN, 2);
            assertEquals(1, epoll.await(0));
        }
    }

    @Test
    void shouldHonourOneShotModificationAndRemoval() throws Exception {
        try (Epoll epoll = new Epoll(4);
                EventFd event = new EventFd()) {
            event.signal();
            epoll.add(event.fd(), Epoll.IN | Epoll.ONESHOT, 5);
            assertEquals(1, epoll.await(0));
            assertEquals(0, epoll.await(0));
            epoll.modify(event.fd(), Epoll.IN | Epoll.ONESHOT, 6);
            assertEquals(1, epoll.await(0));
            assertEquals(6, epoll.data(0));
            assertEquals(0, epoll.await(0));
            epoll.remove(event.fd());
            epoll.remove(event.fd());
            event.signal();
            assertEquals(0, epoll.await(0));
        }
    }

    /** The next set that is made gets the number of the one that was closed. */
    @Test
    void shouldLeaveOthersAloneOnceClosed() throws Exception {
        Epoll closed = new Epoll(1);
        closed.close();
        try (Epoll other = new Epoll(1);
                EventFd event = new EventFd();
                EventFd more = new EventFd()) {
            event.signal();
            more.signal();
            other.add(event.fd(), Epoll.IN, 1);
            assertThrows(IOException.class, () -> closed.add(more.fd(), Epoll.IN, 2));
            closed.modify(event.fd(), Epoll.ONESHOT, 3);
            closed.remove(event.fd());
            assertEquals(1, other.await(0));
            assertEquals(1, other.data(0));
        }
    }

    @Test
    void shouldBeWatchableItself() throws Exception {
        try (Epoll inner = new Epoll(1);
                Epoll outer = new Epoll(1);
                EventFd event = new EventFd()) {
            inner.add(event.fd(), Epoll.IN, 1);
            outer.add(inner.fd(), Epoll.IN, 2);
            assertEquals(0, outer.await(0));
            event.signal();
            assertEquals(1, outer.await(0));
            assertEquals(2, outer.data(0));
        }
    }

    @Test
    void shouldSleepFractionsOfAMillisecond(TestReporter reporter) throws Exception {
        try (Epoll epoll = new Epoll(1)) {
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 20; i++) {
                long start = System.nanoTime();
                assertEquals(0, epoll.await(MILLI / 5));
                long took = System.nanoTime() - start;
                assertTrue(took >= MILLI / 5, took + " ns");
                best = Math.min(best, took);
            }
            reporter.publishEntry("sleep", best + " ns at the least, of " + MILLI / 5);
        }
    }

    @Test
    void shouldNameTheErrorOfAnEpollCall() throws Exception {
        try (Epoll epoll = new Epoll(1)) {
            ErrnoException e = assertThrows(ErrnoException.class, () -> epoll.add((int) NO_DESCRIPTOR, Epoll.IN, 1));
            assertEquals("epoll_ctl (add fd " + NO_DESCRIPTOR + "): errno 9", e.getMessage());
            assertEquals(9, e.errno());
        }
    }
}
