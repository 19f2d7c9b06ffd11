/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Cleaner;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Makes this project's threads, and hides the differences between threads of JDK 17 and of later JDKs. */
public final class Threads {

    private static final MethodHandle IS_VIRTUAL = find();

    private Threads() {}

    /**
     * Returns a daemon thread that is not started yet. Our threads live as long as the process, whichever thread
     * happens to need the first of them. So they inherit nothing from it: no class loader (a web application could not
     * be unloaded), no access rights (too few, under a security manager), no thread group (it may be destroyed
     * earlier), no thread locals, no priority.
     */
    // programs with a security manager exist, on JDK 17; later doPrivileged just calls the action
    @SuppressWarnings("removal")
    public static Thread daemon(String name, Runnable task) {
        return AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(systemGroup(), task, name, 0, false);
            thread.setDaemon(true);
            thread.setPriority(Thread.NORM_PRIORITY);
            thread.setContextClassLoader(null);
            return thread;
        });
    }

    /** Returns a cleaner that runs on such a thread. */
    @SuppressWarnings("removal")
    public static Cleaner cleaner(String name) {
        return AccessController.doPrivileged(
                (PrivilegedAction<Cleaner>) () -> Cleaner.create(task -> daemon(name, task)));
    }

    private static ThreadGroup systemGroup() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        for (ThreadGroup parent = group.getParent(); parent != null; parent = group.getParent()) {
            group = parent;
        }
        return group;
    }

    private static MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null; // before JDK 21
        }
    }

    /** Waits despite interrupts, after which the thread is interrupted again; returns false when the time is over. */
    public static boolean await(CountDownLatch latch, long nanos) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (true) {
            try {
                boolean open = latch.await(nanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return open;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    /** Returns whether the calling thread is virtual, so that blocking in native code would pin its carrier. */
    public static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            throw new AssertionError("Thread.isVirtual throws nothing", e);
        }
    }
}
