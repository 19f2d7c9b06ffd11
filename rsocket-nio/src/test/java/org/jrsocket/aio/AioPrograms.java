/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrsocket.testkit.programs.RandomPrograms;

/** The random calls: those that move data. */
final class AioPrograms {

    private static final int MOST_UNREAD = 4000; // so that the sizes of buffers do not matter

    private AioPrograms() {}

    static void into(RandomPrograms<AioWorld> programs) {
        add(programs, 8, "read", AioPrograms::read);
        add(programs, 8, "read with handler", AioPrograms::readHandled);
        add(programs, 4, "scatter", AioPrograms::scatter);
        add(programs, 8, "write", AioPrograms::write);
        add(programs, 8, "write with handler", AioPrograms::writeHandled);
        add(programs, 4, "gather", AioPrograms::gather);
        add(programs, 1, "interrupt", (w, c) -> w.interrupt());
        AioWaitingPrograms.into(programs);
        AioChannelPrograms.into(programs);
        AioGroupPrograms.into(programs);
    }

    static void add(RandomPrograms<AioWorld> to, int weight, String name, RandomPrograms.Step<AioWorld> step) {
        to.with(weight, name, (world, chance) -> {
            world.arrive();
            String outcome;
            try {
                outcome = step.run(world, chance);
            } catch (Exception e) {
                outcome = name(e);
            }
            world.settle();
            return world.masked(outcome);
        });
    }

    // ---- what is compared ----

    /** A failure, and what caused it. */
    static String name(Throwable e) {
        String own = e.getClass().getName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
        return e instanceof ExecutionException ? own + " by " + name(e.getCause()) : own;
    }

    private static String content(ByteBuffer[] buffers, int[] from) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < buffers.length; i++) {
            ByteBuffer each = buffers[i];
            if (each == null) {
                continue;
            }
            for (int at = from[i]; at < each.position(); at++) {
                text.append((char) each.get(at));
            }
            text.append('/').append(each.remaining());
        }
        return text.toString();
    }

    private static int[] positions(ByteBuffer... buffers) {
        int[] positions = new int[buffers.length];
        for (int i = 0; i < buffers.length; i++) {
            positions[i] = buffers[i] == null ? 0 : buffers[i].position();
        }
        return positions;
    }

    static Operation.Told received(AioWorld w, End end, ByteBuffer... buffers) {
        int[] from = positions(buffers);
        return new Operation.Told() {
            @Override
            String text(Object n) {
                int many = Math.max(0, ((Number) n).intValue());
                end.received.addAndGet(many);
                w.data.addAndGet(many);
                end.filled = hasNoRoom(buffers, 0, buffers.length);
                return n.getClass().getSimpleName() + " " + n + " " + content(buffers, from);
            }
        };
    }

    private static Operation.Told sent(AioWorld w, End end, ByteBuffer... buffers) {
        return new Operation.Told() {
            @Override
            String text(Object n) {
                end.sent.addAndGet(((Number) n).intValue());
                w.changes();
                StringBuilder text = new StringBuilder(n.getClass().getSimpleName() + " " + n);
                for (ByteBuffer each : buffers) {
                    text.append('/').append(each == null ? "" : each.remaining());
                }
                return text.toString();
            }
        };
    }

    // ---- arguments ----

    private static ByteBuffer space(Random chance, int size) {
        return switch (chance.nextInt(5)) {
            case 0 -> ByteBuffer.allocateDirect(size);
            case 1 -> ByteBuffer.allocate(size + 7).position(3).limit(3 + size);
            case 2 -> ByteBuffer.allocateDirect(size + 5).position(5).slice();
            default -> ByteBuffer.allocate(size);
        };
    }

    /** Of all kinds; rarely one that is refused. */
    static ByteBuffer target(Random chance) {
        return switch (chance.nextInt(24)) {
            case 0 -> null;
            case 1 -> ByteBuffer.allocate(4).asReadOnlyBuffer();
            case 2, 3 -> ByteBuffer.allocate(0);
            case 4 -> ByteBuffer.allocate(0).asReadOnlyBuffer();
            default -> space(chance, 1 + chance.nextInt(chance.nextBoolean() ? 8 : 3000));
        };
    }

    static ByteBuffer source(Random chance) {
        if (chance.nextInt(20) == 0) {
            return null;
        }
        int size = chance.nextInt(6) == 0 ? 0 : 1 + chance.nextInt(chance.nextInt(8) == 0 ? 1500 : 12);
        ByteBuffer filled = space(chance, size);
        for (int at = filled.position(); at < filled.limit(); at++) {
            filled.put(at, (byte) ('a' + chance.nextInt(26)));
        }
        return chance.nextInt(5) == 0 ? filled.asReadOnlyBuffer() : filled;
    }

    /** @param mayBeShort whether one that passes soon has one outcome alone */
    private static long timeout(Random chance, boolean mayBeShort) {
        long rare = new long[] {0, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 100_000_000_000L, 0, 0}[chance.nextInt(8)];
        boolean brief = chance.nextInt(3) == 0;
        return brief && mayBeShort ? 1 : rare;
    }

    private static TimeUnit unit(Random chance, long timeout) {
        if (timeout == 1) {
            return TimeUnit.values()[chance.nextInt(3)];
        }
        return timeout == 100_000_000_000L ? TimeUnit.MICROSECONDS : TimeUnit.DAYS;
    }

    private static Object attachment(Random chance) {
        return chance.nextInt(3) == 0 ? null : "attachment " + chance.nextInt(100);
    }

    static Operation.Then then(AioWorld w, Random chance) {
        return chance.nextInt(2) == 0 || !w.mayHandle(true)
                ? Operation.Then.NOTHING
                : Operation.Then.values()[chance.nextInt(Operation.Then.values().length)];
    }

    /** The calling thread is interrupted in some calls, which is none of their business. */
    static boolean interrupted(Random chance) {
        boolean is = chance.nextInt(12) == 0;
        if (is) {
            Thread.currentThread().interrupt();
        }
        return is;
    }

    private static String flag(boolean wasInterrupted) {
        return Thread.interrupted() == wasInterrupted ? "" : " the interrupt is lost";
    }

    // ---- reading ----

    private static boolean isFilling(End end) {
        return end.peer != null && end.peer.full && end.channel.isOpen();
    }

    static String read(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer target = target(chance);
        if (isFilling(end)) {
            return "left to be drained";
        }
        boolean was = interrupted(chance);
        Future<Integer> future;
        String flag;
        try {
            future = end.channel.read(target);
        } finally {
            flag = flag(was);
        }
        return w.begun("read", end, future, received(w, end, target)) + flag;
    }

    static String readHandled(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer target = target(chance);
        long timeout = timeout(chance, end.isQuiet());
        TimeUnit unit = unit(chance, timeout);
        Object with = attachment(chance);
        Operation.Then then = then(w, chance);
        boolean plain = chance.nextInt(3) == 0;
        boolean none = chance.nextInt(25) == 0;
        if (isFilling(end) || w.isHeld() && !end.isQuiet() || !w.mayHandle(end.isQuiet())) {
            return "left alone";
        }
        if (timeout == 1 && then != Operation.Then.NOTHING) {
            timeout = 0; // the next may have what to read
        }
        long limit = timeout;
        if (none) {
            end.channel.read(target, limit, unit, with, null);
        }
        Operation.Start start = handler -> {
            if (plain) {
                end.channel.read(target, with, handler.handler());
            } else {
                end.channel.read(target, limit, unit, with, handler.handler());
            }
        };
        return new Operation("read", w, end, received(w, end, target), start, then, 2)
                .timed(limit == 1)
                .run();
    }

    static String scatter(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer[] targets = chance.nextInt(30) == 0 ? null : new ByteBuffer[chance.nextInt(5)];
        for (int i = 0; targets != null && i < targets.length; i++) {
            targets[i] = target(chance);
        }
        int offset = targets == null ? 0 : within(chance, targets); // JDK 17 looks at a negative one first
        int length = targets == null ? 0 : chance.nextInt(4) == 0 ? within(chance, targets) : targets.length - offset;
        long timeout = timeout(chance, end.isQuiet());
        TimeUnit unit = unit(chance, timeout);
        Object with = attachment(chance);
        if (isFilling(end) || w.isHeld() && !end.isQuiet() || !w.mayHandle(end.isQuiet())) {
            return "left alone";
        }
        if (w.isFixed() && hasNoRoom(targets, offset, length)) {
            return "left alone"; // the JDK's then wait until there is something to read, with a fixed pool alone
        }
        Operation.Start start =
                handler -> end.channel.read(targets, offset, length, timeout, unit, with, handler.handler());
        ByteBuffer[] shown = targets == null ? new ByteBuffer[0] : targets;
        return new Operation("read", w, end, received(w, end, shown), start, Operation.Then.NOTHING, 0)
                .timed(timeout == 1)
                .run();
    }

    private static boolean hasNoRoom(ByteBuffer[] targets, int offset, int length) {
        if (targets == null || offset < 0 || length < 0 || offset + length > targets.length) {
            return false;
        }
        for (int i = offset; i < offset + length; i++) {
            if (targets[i] == null || targets[i].hasRemaining()) {
                return false;
            }
        }
        return true;
    }

    private static int within(Random chance, ByteBuffer[] buffers) {
        int length = buffers == null ? 0 : buffers.length;
        return chance.nextInt(6) == 0 ? chance.nextInt(8) - 3 : chance.nextInt(length + 1);
    }

    // ---- writing ----

    /** What came after a read of a part may be left to a later read over RDMA, as a read may. */
    private static boolean mayWrite(End end) {
        if (end.peer != null && end.peer.filled && end.peer.unread() > 0 && end.channel.isOpen()) {
            return false;
        }
        return end.sent.get() < MOST_UNREAD || end.peer != null && end.peer.unread() < MOST_UNREAD;
    }

    static String write(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer source = source(chance);
        if (!mayWrite(end)) {
            return "enough";
        }
        boolean was = interrupted(chance);
        Future<Integer> future;
        String flag;
        try {
            future = end.channel.write(source);
        } finally {
            flag = flag(was);
        }
        return w.begun("write", end, future, sent(w, end, source)) + flag;
    }

    static String writeHandled(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer source = source(chance);
        long timeout = timeout(chance, false);
        TimeUnit unit = unit(chance, timeout);
        Object with = attachment(chance);
        Operation.Then then = then(w, chance);
        boolean plain = chance.nextInt(3) == 0;
        if (!mayWrite(end) || w.isHeld()) {
            return "left alone";
        }
        if (w.isRead(end.peer)) {
            then = Operation.Then.NOTHING; // the read may find what one write wrote, or all of them
        }
        Operation.Start start = handler -> {
            if (source != null) {
                source.rewind();
            }
            if (plain) {
                end.channel.write(source, with, handler.handler());
            } else {
                end.channel.write(source, timeout, unit, with, handler.handler());
            }
        };
        return new Operation("write", w, end, sent(w, end, source), start, then, 2).run();
    }

    static String gather(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        ByteBuffer[] sources = chance.nextInt(30) == 0 ? null : new ByteBuffer[chance.nextInt(5)];
        for (int i = 0; sources != null && i < sources.length; i++) {
            sources[i] = source(chance);
        }
        int offset = sources == null ? 0 : within(chance, sources); // JDK 17 looks at a negative one first
        int length = sources == null ? 0 : chance.nextInt(4) == 0 ? within(chance, sources) : sources.length - offset;
        long timeout = timeout(chance, false);
        TimeUnit unit = unit(chance, timeout);
        Object with = attachment(chance);
        if (!mayWrite(end) || w.isHeld()) {
            return "left alone";
        }
        Operation.Start start =
                handler -> end.channel.write(sources, offset, length, timeout, unit, with, handler.handler());
        ByteBuffer[] shown = sources == null ? new ByteBuffer[0] : sources;
        return new Operation("write", w, end, sent(w, end, shown), start, Operation.Then.NOTHING, 0).run();
    }
}
