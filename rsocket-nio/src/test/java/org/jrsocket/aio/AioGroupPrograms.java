/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jrsocket.testkit.programs.RandomPrograms;

/** The random calls: those about groups. */
final class AioGroupPrograms {

    private AioGroupPrograms() {}

    static void into(RandomPrograms<AioWorld> programs) {
        AioPrograms.add(programs, 3, "ask group", AioGroupPrograms::ask);
        AioPrograms.add(programs, 1, "shut group down", AioGroupPrograms::shutdown);
        AioPrograms.add(programs, 2, "hold", AioGroupPrograms::hold);
        AioPrograms.add(programs, 2, "release", AioGroupPrograms::release);
        AioPrograms.add(programs, 1, "open oddly", AioGroupPrograms::openOddly);
        AioPrograms.add(programs, 1, "execute", AioGroupPrograms::execute);
    }

    static String ask(AioWorld w, Random chance) throws Exception {
        if (w.group == null) {
            return "the default one";
        }
        return switch (chance.nextInt(5)) {
            case 0 -> "shut down " + w.group.isShutdown();
            case 1 -> "terminated " + w.group.isTerminated();
            case 2 -> "terminated soon " + w.group.awaitTermination(chance.nextInt(3) - 1, TimeUnit.MILLISECONDS);
            case 3 -> "provider " + (w.group.provider() == w.provider);
            default -> "terminates " + w.waits(() -> "" + w.group.awaitTermination(1000, TimeUnit.DAYS));
        };
    }

    static String shutdown(AioWorld w, Random chance) throws Exception {
        boolean now = chance.nextInt(3) == 0;
        if (w.group == null || chance.nextInt(3) == 0 || (now ? w.isRisky() : w.someAreHandled())) {
            return "not now";
        }
        w.changes();
        if (now) {
            w.group.shutdownNow();
        } else {
            w.group.shutdown();
        }
        return "shut down" + (now ? " now" : "");
    }

    static String hold(AioWorld w, Random chance) throws Exception {
        if (w.pool != AioWorld.Pool.ONE || w.isHeld() || w.group.isShutdown()) {
            return "not held";
        }
        w.hold((Executor) w.group);
        return "held";
    }

    static String release(AioWorld w, Random chance) throws Exception {
        w.release();
        Thread.sleep(Math.max(1, w.patient() / 8));
        return "released";
    }

    static String openOddly(AioWorld w, Random chance) throws Exception {
        return switch (chance.nextInt(8)) {
            case 0 -> "" + w.provider.openAsynchronousChannelGroup(chance.nextInt(2) - 1, AioSuite.daemons("odd"));
            case 1 -> "" + w.provider.openAsynchronousChannelGroup(1, null);
            case 2 -> "" + w.provider.openAsynchronousChannelGroup(null, chance.nextInt(3) - 1);
            case 3 -> "" + w.provider.openAsynchronousChannelGroup(0, null);
            case 4 -> "" + w.provider.openAsynchronousSocketChannel(new Strange(w));
            case 5 -> "" + w.provider.openAsynchronousServerSocketChannel(new Strange(w));
            case 6 -> {
                try (AsynchronousSocketChannel one = AsynchronousSocketChannel.open(w.group)) {
                    yield w.group == null ? "opened" : one.toString();
                }
            }
            default -> {
                try (AsynchronousServerSocketChannel one = AsynchronousServerSocketChannel.open(w.group)) {
                    yield w.group == null ? "opened" : one.toString();
                }
            }
        };
    }

    /** As the JDK's groups, ours are executors, too. */
    static String execute(AioWorld w, Random chance) throws Exception {
        if (w.group == null) {
            return "the default one";
        }
        if (w.isHeld()) {
            return "held";
        }
        CompletableFuture<String> by = new CompletableFuture<>();
        ((Executor) w.group).execute(() -> by.complete(Thread.currentThread().getName()));
        return "executed " + w.waits(by::get);
    }

    /** A group of nobody. */
    private static final class Strange extends AsynchronousChannelGroup {
        Strange(AioWorld w) {
            super(w.provider);
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public void shutdown() {}

        @Override
        public void shutdownNow() {}

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
