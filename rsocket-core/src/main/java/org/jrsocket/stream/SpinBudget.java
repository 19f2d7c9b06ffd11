/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.threads.Threads;

/**
 * Decides whether one waiter polls before it sleeps, and for how long. It learns from the waits. While they are short,
 * whether or not the waiter slept through them, polling pays. After a few long ones in a row it does not, and the
 * waiter sleeps at once for a while, until its waits are short again or it is time for another try. It is the whole
 * wait that counts: a conversation between two ends that both sleep takes two wake-ups per round trip, and no poll
 * shorter than a wake-up would ever change that.
 *
 * <p>A poll that loses the processor for long, because it gave way to others or was made to, has occupied a processor
 * that others need, perhaps the very thread whose message it waits for. When that happens in most of the last waits,
 * polling pays least of all, and short waits are no reason to try again soon. An occasional case says nothing: a
 * hypervisor takes processors away, too.
 *
 * <p>Two ends that poll on one processor and give way to each other in turn stay there for long, although another
 * processor is idle: Linux moves no thread that has just run, and mostly leaves a woken thread where it was. A waiter
 * that has seen several times running that it shares its processor therefore keeps it once, for some milliseconds,
 * without giving way. Meanwhile the other thread waits, and is moved.
 *
 * <p>A virtual thread polls only for about as long as it takes to be woken. Meanwhile it keeps its carrier, which may
 * have the very thread to run that it waits for; and it cannot give way to another carrier, because its yield lets only
 * virtual threads run.
 *
 * <p>At most half of the CPUs that the JVM may use poll at the same time for one process; later waiters sleep at once.
 * So nobody polls with a single one: it is often a container's share, and a thread that polled would use it up, after
 * which the kernel stops the whole process for a while. Each waiter has its own object, used by one thread at a time.
 */
public final class SpinBudget {

    /** A wait is short if it takes up to this many times the configured time. */
    private static final int SHORT_WAITS = 2;
    /** The most that a virtual thread polls. For it, a wait is short if a poll is long enough for all of it. */
    static final long VIRTUAL_NANOS = 20_000;
    /** Long waits in a row after which polling is given up. */
    static final int LONG_IN_A_ROW = 3;
    /** Short waits in a row after which polling is resumed. */
    static final int SHORT_IN_A_ROW = 2;
    /** Waits without polling, at first and at most; their number doubles after each further fruitless try. */
    static final int FIRST_REST = 16;

    static final int LONGEST_REST = 256;
    /** A poll that was without the processor for this long was in the way of others. */
    private static final long CROWDED_NANOS = 1_000_000;
    /** The value of {@link #crowd} if every wait was crowded. */
    private static final int ALL = 1 << 16;
    /** Half of the last waits were crowded: polling is given up. */
    private static final int MANY = ALL / 2;
    /** The value after a rest: two more crowded waits are enough. */
    private static final int SUSPECTED = ALL * 3 / 8;
    /** How many waits count as the last ones, as the exponent of a power of two; later waits have more weight. */
    private static final int LAST_WAITS = 3;

    /** If giving way took this long, another thread had the processor. */
    private static final long SHARED_NANOS = 30_000;
    /** Waits in a row in which that happened, after which the next does not give way. */
    static final int SHARED_IN_A_ROW = 3;
    /** How long it does not give way: Linux looks for threads to move at its ticks, 1 to 10 ms apart, mostly 4. */
    static final long HOLD_NANOS = 8_000_000;
    /**
     * The most waits between two times that it does not give way. Where every wait shares the processor, because there
     * are more threads than processors, holding it helps nobody and should take only a hundredth of it.
     */
    static final int LONGEST_SHARE = 4096;

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final int MAX_SPINNERS = mostSpinners(PROCESSORS);
    private static final AtomicInteger SPINNERS = new AtomicInteger();

    private final long max;
    private final boolean mayHold;
    private int longWaits; // in a row, while it polls
    private int shortWaits; // in a row, while it does not
    private int rest; // waits without polling that are still to come
    private int nextRest = FIRST_REST;
    private int crowd; // how many of the last waits were crowded, a moving average up to ALL
    private boolean wasCrowded; // in this wait
    private boolean crowded; // the reason for the rest
    private boolean wasShared; // in this wait
    private int sharedWaits; // in a row
    private boolean holds; // in this wait, or the next one
    private int share; // waits that are still to come before it holds its processor again
    private int nextShare = FIRST_REST;

    /** @param max the most nanoseconds to poll; 0 never polls */
    public SpinBudget(long max) {
        this(max, PROCESSORS);
    }

    SpinBudget(long max, int processors) {
        this.max = max;
        this.mayHold = processors > 1;
    }

    static int mostSpinners(int processors) {
        return processors / 2;
    }

    /**
     * Returns how long to poll. If the result is not 0, {@link #end} must follow.
     *
     * @param nanos what is left of the whole wait; 0 or less means no limit
     * @return nanoseconds to poll, or 0 if polling would not pay or enough others poll
     */
    public long begin(long nanos) {
        // Reads first: where many threads wait, to write to what all of them write to takes long.
        if (max == 0 || rest > 0 || SPINNERS.get() >= MAX_SPINNERS) {
            return 0;
        }
        if (SPINNERS.incrementAndGet() > MAX_SPINNERS) {
            SPINNERS.decrementAndGet();
            return 0;
        }
        long most = Threads.isVirtual() ? Math.min(max, VIRTUAL_NANOS) : holds ? Math.max(max, HOLD_NANOS) : max;
        return nanos > 0 ? Math.min(nanos, most) : most;
    }

    public void end() {
        SPINNERS.decrementAndGet();
    }

    /** Returns whether this poll may give way to other threads. */
    public boolean mayGiveWay() {
        return !holds;
    }

    /**
     * Records that a poll looked at the clock twice, with nothing in between but a look at the queues and perhaps
     * giving way to other threads.
     *
     * @param nanos the time between the two
     * @return whether the poll had better end now
     */
    public boolean passed(long nanos) {
        if (nanos < CROWDED_NANOS) {
            return false;
        }
        wasCrowded = true;
        return crowdAfter(true) > MANY;
    }

    /**
     * Records that a poll gave way to other threads.
     *
     * @param nanos the time until it had the processor again
     * @return as for {@link #passed}
     */
    public boolean gaveWay(long nanos) {
        wasShared |= nanos >= SHARED_NANOS;
        return passed(nanos);
    }

    private int crowdAfter(boolean crowdedWait) {
        return crowd + ((crowdedWait ? ALL - crowd : -crowd) >> LAST_WAITS);
    }

    /** Records a wait of so many nanoseconds of polling and sleeping, even if its time ran out. */
    public void waited(long nanos) {
        boolean isShort = Threads.isVirtual() ? nanos <= Math.min(max, VIRTUAL_NANOS) : nanos / SHORT_WAITS <= max;
        lookWhoElseIsHere();
        if (rest > 0) {
            rest--;
            shortWaits = isShort ? shortWaits + 1 : 0;
            if (shortWaits >= SHORT_IN_A_ROW && !crowded) {
                rest = 0;
            }
            return;
        }
        crowd = crowdAfter(wasCrowded);
        wasCrowded = false;
        if (crowd > MANY) {
            crowd = SUSPECTED;
            crowded = true;
            giveUp();
        } else if (isShort) {
            longWaits = 0;
            if (crowd < SUSPECTED / 2) {
                crowded = false;
                nextRest = FIRST_REST;
            }
        } else if (++longWaits >= LONG_IN_A_ROW) {
            giveUp();
        }
    }

    private void lookWhoElseIsHere() {
        sharedWaits = wasShared ? sharedWaits + 1 : 0;
        wasShared = false;
        holds = false;
        if (share > 0) {
            share--;
        } else if (sharedWaits >= SHARED_IN_A_ROW) {
            holds = mayHold;
            share = nextShare;
            nextShare = Math.min(2 * nextShare, LONGEST_SHARE);
        } else if (sharedWaits == 0) {
            nextShare = FIRST_REST;
        }
    }

    private void giveUp() {
        rest = nextRest;
        nextRest = Math.min(2 * nextRest, LONGEST_REST);
        longWaits = 0;
        shortWaits = 0;
    }
}
