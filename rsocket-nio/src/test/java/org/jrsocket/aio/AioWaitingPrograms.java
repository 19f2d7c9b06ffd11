/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.testkit.programs.RandomPrograms;

/** The random calls: writes that wait for room, and what is done with futures. */
final class AioWaitingPrograms {

    private static final int FILL = 64 * 1024;

    private AioWaitingPrograms() {}

    static void into(RandomPrograms<AioWorld> programs) {
        AioPrograms.add(programs, 2, "fill", AioWaitingPrograms::fill);
        AioPrograms.add(programs, 2, "drain", AioWaitingPrograms::drain);
        AioPrograms.add(programs, 6, "future", AioWaitingPrograms::future);
    }

    // ---- writes that wait ----

    /** Writes until a write waits, with futures, or until a time limit ends it. */
    static String fill(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        boolean timed = chance.nextInt(3) == 0;
        if (end.peer == null
                || !end.peer.channel.isOpen()
                || !end.channel.isOpen()
                || end.full
                || w.isHeld()
                || end.peer.shutIn
                || !w.mayHandle(true)) {
            return "not filled";
        }
        if (timed && w.isRead(end)) {
            return "left alone"; // with the JDK's the read may then never hear of anything again
        }
        end.full = true;
        w.changes();
        for (int i = 0; i < 10_000; i++) {
            ByteBuffer source = ByteBuffer.allocate(FILL);
            if (timed) {
                Operation one = new Operation("write", w, end, some(w, end), null, Operation.Then.NOTHING, 0);
                end.channel.write(source, 20, TimeUnit.MILLISECONDS, "filling", one.handler());
                String outcome = one.outcome.get(30, TimeUnit.SECONDS);
                if (!outcome.startsWith("completed")) {
                    return outcome;
                }
            } else {
                Future<Integer> write = end.channel.write(source);
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(w.patient());
                while (!write.isDone() && System.nanoTime() < deadline) {
                    Thread.sleep(1);
                }
                if (!write.isDone()) {
                    return w.begun("fill", end, write, some(w, end));
                }
                some(w, end).accountOnce(write);
            }
        }
        return "never full";
    }

    /** How much of it is nobody's business. */
    private static Operation.Told some(AioWorld w, End end) {
        return new Operation.Told() {
            @Override
            String text(Object n) {
                end.sent.addAndGet(((Number) n).intValue());
                w.changes();
                return n.getClass().getSimpleName() + (((Number) n).intValue() > 0 ? " some" : " " + n);
            }
        };
    }

    /** Reads what a full direction has, and what its writer still had to write. */
    static String drain(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        if (end.peer == null || !end.peer.full) {
            return "not full";
        }
        ByteBuffer target = ByteBuffer.allocate(1 << 20);
        while (true) {
            target.clear();
            Future<Integer> read = end.channel.read(target);
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10 * w.patient());
            while (!read.isDone() && System.nanoTime() < deadline) {
                Thread.sleep(1);
            }
            if (!read.isDone()) {
                end.peer.full = false;
                return w.begun("drain", end, read, AioPrograms.received(w, end, target));
            }
            int n = read.get();
            if (n <= 0) {
                end.peer.full = false;
                return "drained: " + n;
            }
            end.received.addAndGet(n);
        }
    }

    // ---- futures ----

    static String future(AioWorld w, Random chance) throws Exception {
        if (w.futures.isEmpty()) {
            return "none";
        }
        int from = chance.nextInt(3) == 0 ? 0 : Math.max(0, w.futures.size() - 2);
        AioWorld.Begun one = w.futures.get(from + chance.nextInt(w.futures.size() - from));
        Future<?> future = one.future();
        String name = one.name() + " ";
        return name
                + switch (chance.nextInt(7)) {
                    case 0, 1 -> cancel(w, chance, one);
                    case 2 -> future.isDone() + " " + future.isCancelled();
                    case 3 -> "get " + w.waitFor(one);
                    case 4 -> getSoon(chance, future);
                    case 5 -> future.isDone() ? "get " + got(future) : "later";
                    default -> "cancelled " + future.isCancelled();
                };
    }

    private static String cancel(AioWorld w, Random chance, AioWorld.Begun one) {
        if (!one.future().isDone() && one.end() != null) {
            one.end().unclear = true;
            w.changes();
        }
        boolean hard =
                chance.nextInt(3) == 0 && (one.end() == null || !one.end().isDeaf());
        return "cancel " + hard + " " + one.future().cancel(hard);
    }

    private static String getSoon(Random chance, Future<?> future) {
        TimeUnit unit = chance.nextInt(4) == 0 ? null : TimeUnit.NANOSECONDS;
        long timeout = chance.nextInt(3) - 1L;
        boolean was = AioPrograms.interrupted(chance);
        String got;
        try {
            got = String.valueOf(future.get(timeout, unit) == null);
        } catch (Exception e) {
            got = AioPrograms.name(e);
        }
        return "get soon " + got + (Thread.interrupted() && !was ? " interrupted" : "");
    }

    private static String got(Future<?> future) throws InterruptedException {
        try {
            return String.valueOf(future.get() == null);
        } catch (ExecutionException | CancellationException e) {
            return AioPrograms.name(e);
        }
    }
}
