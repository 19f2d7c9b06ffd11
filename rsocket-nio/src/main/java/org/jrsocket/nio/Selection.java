/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.SpinBudget;
import org.jrsocket.threads.Threads;
import org.jrsocket.verbs.VerbsUnavailableException;

/**
 * The part of a selector that finds the keys that are ready, and waits until there is one.
 *
 * <p>It looks only at keys that may be ready: those found ready the last time (readiness is a level, not an event),
 * those in the {@link UpdateQueue}, to which any thread adds a key whose state has changed, and those in the
 * {@link BusyPollSet}. The stream of any other key is <em>armed</em>: its next event makes its descriptor readable. So
 * the cost of a selection depends on the number of ready keys, not on how many keys there are.
 *
 * <p>The descriptors are in an epoll set of ours, together with the JDK selector's own epoll set. Every selection takes
 * the events of our set, even one that does not sleep because it must not, or because something else is ready already.
 * That takes one system call, and none while no stream is armed and no other channel has an interest. The selector of
 * an event loop does so at most once every {@value #YIELD_NANOS} ns: its thread selects again and again, so no event is
 * late by more than that, and a busy loop makes hardly any system calls.
 *
 * <p>If nothing is ready, it polls the hot keys for a while, and the epoll set now and then. Then it arms the hot keys
 * too, and sleeps: in the JDK's selector if there are no streams, otherwise in the epoll set. No wake-up is lost: a
 * sleeper says where it sleeps, and then checks the queue and the wake-up flag once more; other threads change those
 * first, and then check whether it sleeps. The wake-up flag is taken before a look, so whatever happened before the
 * wake-up is seen.
 *
 * <p>One thread at a time selects, with the selector's lock held. Methods that any thread may call do not take that
 * lock.
 */
final class Selection implements RSelectionKey.Watcher {

    /** The selector, which is told of the sleep in the epoll set: only a selector can tell the JDK of it. */
    interface Sleeper {

        /** Lets an interrupt wake the selecting thread from now on. */
        void beginSleep();

        void endSleep();
    }

    private static final int AWAKE = 0;
    private static final int IN_JDK = 1;
    private static final int IN_EPOLL = 2;

    /** How long one call into native code polls the hot keys: nothing else is seen in that time. */
    private static final long SLICE_NANOS = 5_000;
    /** How long only the hot keys are polled before a look at the epoll set and a yield. */
    static final long YIELD_NANOS = 50_000;

    private final Sleeper sleeper;
    private final ProviderServices services;
    private final AbstractSelector jdk;
    private final UpdateQueue queue = new UpdateQueue();
    private final SelectorEpollSet descriptors;
    private final AtomicInteger tcpInterested = new AtomicInteger(); // keys in the JDK's selector with any interest
    private volatile boolean tcpChanged; // the JDK's selector has something to take over
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile int asleep = AWAKE; // written by the selecting thread
    private Thread selecting; // written only by the selecting thread, so that it recognises itself

    // Used only by the selecting thread.
    private final ReadyKeys ready = new ReadyKeys(queue);
    private final Consumer<SelectionKey> collector = this::collect;
    private final SpinBudget budget;
    private final long lookAfterNanos; // a look at the epoll set is omitted if the last one was more recent
    private long lookedAt; // the time of the last look, if lookAfterNanos is set
    private long looks; // only those that were system calls

    Selection(Sleeper sleeper, ProviderServices services, AbstractSelector jdk, long spinNanos, long lookAfterNanos) {
        this.sleeper = sleeper;
        this.services = services;
        this.jdk = jdk;
        this.descriptors = new SelectorEpollSet(JdkChannels.epollDescriptor(jdk));
        this.budget = new SpinBudget(spinNanos);
        this.lookAfterNanos = lookAfterNanos;
        this.lookedAt = lookAfterNanos > 0 ? System.nanoTime() - lookAfterNanos : 0;
    }

    /**
     * Finds the keys that are ready, and waits until there is one.
     *
     * @param nanos 0 does not wait, negative waits for ever
     * @return what was found; valid until {@link #over}
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
        boolean slept = false; // and took the events of the epoll set
        for (; ; ) {
            boolean ended = takeWakeup() || Thread.currentThread().isInterrupted(); // before the look, see above
            over |= ended;
            ready.lookAtAll();
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
                        break; // the next selection sees what else there is
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

    /** Polls for a while, and returns whether there is something to look at. */
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
                        Thread.yield(); // lets others have this CPU, perhaps the very thread we wait for
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

    /** Takes the events that the epoll set and the JDK's selector have by now, and returns whether there were any. */
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

    /** Returns how many looks have asked the kernel. For tests. */
    long looks() {
        return looks;
    }

    private void collect(SelectionKey inner) {
        try {
            ready.found((RSelectionKey) inner.attachment(), inner.readyOps());
        } catch (CancelledKeyException e) {
            // cancelled in the meantime: nothing to report
        }
    }

    /** Has the JDK's selector take over any changes made in it, and takes what is ready there. */
    void selectTcpNow() throws IOException {
        if (tcpChanged || tcpInterested.get() > 0) {
            selectJdkNow();
        }
    }

    private void selectJdkNow() throws IOException {
        boolean done = false;
        tcpChanged = false; // first: what changes meanwhile is for the next selection
        try {
            jdk.selectNow(collector);
            done = true;
        } finally {
            if (!done) {
                tcpChanged = true;
            }
        }
    }

    @Override
    public Selector jdk() {
        return jdk;
    }

    @Override
    public void innerInterest(int before, int now) {
        if (before == 0 && now != 0) {
            tcpInterested.incrementAndGet();
        } else if (before != 0 && now == 0) {
            tcpInterested.decrementAndGet();
        }
        tcpChanged = true;
    }

    // ---- sleeping ----

    /** Sleeps in the epoll set. Returns whether it slept. */
    private boolean sleepInEpoll(long left) throws IOException {
        int n;
        asleep = IN_EPOLL;
        try {
            if (somethingCame()) {
                return false;
            }
            sleeper.beginSleep();
            try {
                n = descriptors.await(left);
            } finally {
                sleeper.endSleep();
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
                selectJdkNow();
            } else {
                RSelectionKey key = descriptors.take(i);
                if (key != null) {
                    key.member.eventsTaken(key);
                    ready.look(key, false);
                }
            }
        }
    }

    /** Sleeps in the JDK's selector, while the service thread watches any streams. Returns whether it slept. */
    private boolean sleepInJdk(long left) throws IOException {
        boolean streams = !descriptors.isEmpty();
        asleep = IN_JDK;
        try {
            if (woken.get() || !queue.isEmpty()) {
                return false;
            }
            if (streams) {
                watchStreams();
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

    private void watchStreams() throws IOException {
        RdmaTransport transport;
        try {
            transport = services.holder().transport();
        } catch (VerbsUnavailableException e) {
            return; // RDMA has ended, and these streams with it: nothing comes on their descriptors
        }
        descriptors.watch(transport.service(), () -> {
            if (asleep == IN_JDK) {
                jdk.wakeup();
            }
        });
    }

    /** Ends the current selection, or the next one. Any thread may call this. */
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

    @Override
    public boolean isLooking() {
        return selecting == Thread.currentThread();
    }

    @Override
    public void lookAt(RSelectionKey key) {
        if (queue.add(key)) {
            wakeSleeper();
        }
    }

    @Override
    public void watch(RSelectionKey key, RdmaStream stream) {
        descriptors.add(key, stream);
        lookAt(key);
    }

    @Override
    public void unwatch(RSelectionKey key) {
        descriptors.remove(key);
    }

    /** Forgets a key that has ended. */
    void forget(RSelectionKey key) {
        descriptors.remove(key);
        ready.disarmed(key);
    }

    void close() {
        descriptors.close();
        ready.close();
    }
}
