/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.SpinBudget;
import org.jrsocket.stream.Threads;

/**
 * How a selector finds the keys that are ready, and waits until there is one.
 *
 * <p>It looks only at keys that may be ready: those found ready the last time (readiness is a level, not an event),
 * those in the {@link UpdateQueue}, where anybody puts a key whose state changed, and the {@link BusyPollSet}. Any
 * other key's stream is <em>armed</em>: the next thing to happen to it makes its descriptor readable. So a selection
 * costs as much as is ready, however many keys there are.
 *
 * <p>The descriptors are in an epoll set of ours, together with the JDK selector's own epoll set. Every selection takes
 * what that set has, also one that does not sleep, because it must not or because something else is ready already. That
 * is one system call, and none while no stream is armed and no other channel has an interest. The selector of an event
 * loop does so every {@value #YIELD_NANOS} ns at most: its thread selects again and again, so nothing is late by more
 * than that, and a busy loop makes next to no system calls.
 *
 * <p>With nothing ready it polls the hot keys for a while, and the epoll set now and then. Then it arms the hot ones
 * too, and sleeps: in the JDK's selector when there are no streams, else in the epoll set. No wake-up is lost: a
 * sleeper says where it sleeps, then looks at the queue and at the wake-up flag once more; others change those first,
 * and then look whether anybody sleeps. The wake-up flag is taken before a look: what happened before the wake-up is
 * seen.
 *
 * <p>One thread at a time selects, with the selector's lock; what says "any thread" takes none.
 */
final class Selection {

    private static final int AWAKE = 0;
    private static final int IN_JDK = 1;
    private static final int IN_EPOLL = 2;

    /** How long one call into native code polls the hot keys: nothing else is seen meanwhile. */
    private static final long SLICE_NANOS = 5_000;
    /** How long only the hot keys are polled, before a look at the epoll set, and a yield. */
    static final long YIELD_NANOS = 50_000;

    private final RSelector selector;
    private final RSelectorProvider provider;
    private final AbstractSelector jdk;
    private final UpdateQueue queue = new UpdateQueue();
    private final SelectorEpollSet descriptors;
    private final AtomicInteger tcpInterested = new AtomicInteger(); // keys in the JDK's selector with any interest
    private volatile boolean tcpChanged; // the JDK's selector has something to take over
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile int asleep = AWAKE; // written by the selecting thread
    private Thread selecting; // written by the thread that selects alone, so that it knows itself

    // The selecting thread's.
    private final ReadyKeys ready = new ReadyKeys(queue);
    private final Consumer<SelectionKey> collector = this::collect;
    private final SpinBudget budget;
    private final long lookAfterNanos; // a look at the epoll set is omitted when the last one is not so long ago
    private long lookedAt; // by the clock, if lookAfterNanos counts
    private long looks; // that were system calls

    Selection(
            RSelector selector, RSelectorProvider provider, AbstractSelector jdk, long spinNanos, long lookAfterNanos) {
        this.selector = selector;
        this.provider = provider;
        this.jdk = jdk;
        this.descriptors = new SelectorEpollSet(JdkChannels.epollDescriptor(jdk));
        this.budget = new SpinBudget(spinNanos);
        this.lookAfterNanos = lookAfterNanos;
        this.lookedAt = lookAfterNanos > 0 ? System.nanoTime() - lookAfterNanos : 0;
    }

    /**
     * Finds what is ready, and waits for it.
     *
     * @param nanos 0 does not wait, negative waits for ever
     * @return what was found, until it is {@link #over}
     */
    ReadyKeys find(long nanos) throws IOException {
        selecting = Thread.currentThread();
        try {
            findReady(nanos);
        } finally {
            selecting = null;
        }
        return ready;
    }

    /** Forgets what was found. */
    void over() {
        ready.clear();
    }

    private void findReady(long nanos) throws IOException {
        long start = nanos > 0 ? System.nanoTime() : 0;
        long waitStart = 0;
        boolean over = nanos == 0;
        boolean slept = false; // and took what the epoll set had
        for (; ; ) {
            boolean ended = takeWakeup() || Thread.currentThread().isInterrupted(); // before it looks, see above
            over |= ended;
            ready.lookAround();
            if (ended || !slept && isLookDue()) {
                lookAtDescriptors();
            }
            slept = false;
            if (over || !ready.isEmpty()) {
                break;
            }
            long left = nanos < 0 ? -1 : nanos - (System.nanoTime() - start);
            if (nanos > 0 && left <= 0) {
                break;
            }
            if (!descriptors.isEmpty()) {
                if (waitStart == 0) {
                    waitStart = nanos > 0 ? start : System.nanoTime();
                }
                if (spin(left)) {
                    if (!ready.isEmpty()) {
                        break; // what else there is, the next selection sees
                    }
                    continue;
                }
                if (!ready.armHot()) {
                    continue;
                }
            }
            boolean inEpoll = !descriptors.isEmpty() && descriptors.coverJdk() && !Threads.isVirtual();
            slept = inEpoll ? sleepInEpoll(left) : sleepInJdk(left);
        }
        if (waitStart != 0) {
            budget.waited(System.nanoTime() - waitStart);
        }
    }

    private boolean isLookDue() {
        return lookAfterNanos == 0 || tcpChanged || System.nanoTime() - lookedAt >= lookAfterNanos;
    }

    private boolean takeWakeup() {
        return woken.get() && woken.getAndSet(false);
    }

    // ---- polling ----

    /** Polls for a while; whether there is something to look at. */
    private boolean spin(long left) throws IOException {
        if (!ready.hasHot()) {
            return false;
        }
        long time = budget.begin(left);
        if (time == 0) {
            return false;
        }
        try {
            long start = System.nanoTime();
            long yield = start + YIELD_NANOS;
            long last = start;
            for (; ; ) {
                if (ready.pollHot(false, SLICE_NANOS) || !queue.isEmpty() || woken.get()) {
                    return true;
                }
                long now = System.nanoTime();
                if (budget.passed(now - last) || now - start >= time) {
                    return false;
                }
                last = now;
                if (now - yield >= 0) {
                    if (lookAtDescriptors()) {
                        return true;
                    }
                    if (budget.mayGiveWay()) {
                        Thread.yield(); // whoever else wants this CPU, perhaps the very one we wait for, gets it
                    }
                    last = System.nanoTime();
                    if (budget.gaveWay(last - now)) {
                        return false;
                    }
                    yield = last + YIELD_NANOS;
                }
            }
        } finally {
            budget.end();
        }
    }

    // ---- the epoll set, TCP and the rest ----

    /** Takes what the epoll set and the JDK's selector have by now; whether there was anything to take. */
    private boolean lookAtDescriptors() throws IOException {
        boolean streams = !descriptors.isEmpty();
        boolean covered = streams && descriptors.coverJdk();
        if (!covered || tcpChanged) {
            selectTcpNow();
        }
        int n = 0;
        if (streams && ready.hasArmed() || covered && tcpInterested.get() > 0) {
            looks++;
            n = descriptors.await(0);
            takeEvents(n);
        }
        if (lookAfterNanos > 0) {
            lookedAt = System.nanoTime();
        }
        return n > 0 || !ready.isEmpty();
    }

    /** For tests: how many looks have asked the kernel. */
    long looks() {
        return looks;
    }

    private void collect(SelectionKey inner) {
        try {
            ready.found((RSelectionKey) inner.attachment(), inner.readyOps());
        } catch (CancelledKeyException e) {
            // cancelled since: nothing to report
        }
    }

    /** Has the JDK's selector take over what was changed in it, and take what is ready there. */
    void selectTcpNow() throws IOException {
        if (tcpChanged || tcpInterested.get() > 0) {
            tcpChanged = false;
            jdk.selectNow(collector);
        }
    }

    /** A key in the JDK's selector has got another interest. Any thread. */
    void innerInterest(int before, int now) {
        if (before == 0 && now != 0) {
            tcpInterested.incrementAndGet();
        } else if (before != 0 && now == 0) {
            tcpInterested.decrementAndGet();
        }
        tcpChanged = true;
    }

    // ---- sleeping ----

    /** Returns whether it slept. */
    private boolean sleepInEpoll(long left) throws IOException {
        int n;
        asleep = IN_EPOLL;
        try {
            if (somethingCame()) {
                return false;
            }
            selector.beginSleep();
            try {
                n = descriptors.await(left);
            } finally {
                selector.endSleep();
            }
        } finally {
            asleep = AWAKE;
        }
        takeEvents(n);
        return true;
    }

    private boolean somethingCame() {
        return woken.get() || tcpChanged || !queue.isEmpty();
    }

    private void takeEvents(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (descriptors.isJdk(i)) {
                tcpChanged = false;
                jdk.selectNow(collector);
            } else {
                RSelectionKey key = descriptors.take(i);
                if (key != null) {
                    key.member.eventsTaken(key);
                    ready.look(key, false);
                }
            }
        }
    }

    /** With streams, the service thread watches their descriptors for us. Returns whether it slept. */
    private boolean sleepInJdk(long left) throws IOException {
        boolean streams = !descriptors.isEmpty();
        asleep = IN_JDK;
        try {
            if (woken.get() || !queue.isEmpty()) {
                return false;
            }
            if (streams) {
                descriptors.watch(provider.holder().transport().service(), () -> {
                    if (asleep == IN_JDK) {
                        jdk.wakeup();
                    }
                });
            }
            tcpChanged = false;
            jdk.select(collector, left < 0 ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(left + 999_999)));
        } finally {
            asleep = AWAKE;
        }
        if (streams) {
            takeEvents(descriptors.await(0));
        }
        return true;
    }

    /** Ends the selection under way, or the next one. Any thread. */
    void wakeUp() {
        if (!woken.getAndSet(true)) {
            wakeSleeper();
        }
    }

    private void wakeSleeper() {
        int where = asleep;
        if (where == IN_JDK) {
            jdk.wakeup();
        } else if (where == IN_EPOLL) {
            descriptors.signal();
        }
    }

    /** Whether the calling thread is looking for ready keys here: what its polls bring it sees by itself. */
    boolean isLooking() {
        return selecting == Thread.currentThread();
    }

    /** The key may have become ready, or its interest changed. Any thread; must not block. */
    void lookAt(RSelectionKey key) {
        if (queue.add(key)) {
            wakeSleeper();
        }
    }

    /** The key's channel is a stream from now on. Any thread. */
    void watch(RSelectionKey key, RdmaStream stream) {
        descriptors.add(key, stream);
        lookAt(key);
    }

    /** Before a stream closes. Any thread. */
    void unwatch(RSelectionKey key) {
        descriptors.remove(key);
    }

    /** The key has ended. */
    void forget(RSelectionKey key) {
        descriptors.remove(key);
        ready.disarmed(key);
    }

    void close() {
        descriptors.close();
        ready.close();
    }
}
