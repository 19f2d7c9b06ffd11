/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The transport's threads outlive whoever happened to use a socket first or to close one: a web application that is
 * unloaded, a thread group that is destroyed. They take nothing along from there.
 */
class ThreadOriginTest {

    private final LoopbackProvider verbs = new LoopbackProvider();
    private RdmaTransport transport;

    @AfterEach
    void close() {
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    @Test
    void shouldKeepNoClassLoaderOfWhoeverUsedItFirst() throws Exception {
        WeakReference<ClassLoader> loader = useFromAnApplication();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (loader.get() != null && System.nanoTime() - deadline < 0) {
            System.gc();
            Thread.sleep(10);
        }
        assertNull(loader.get(), "the application's class loader can be collected");
    }

    @Test
    void shouldHaveThreadsOfNobody() throws Exception {
        useFromAnApplication();
        List<Thread> threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("jrsocket-"))
                .toList();
        assertFalse(threads.isEmpty());
        for (Thread thread : threads) {
            ThreadGroup group = thread.getThreadGroup();
            if (group != null) { // it has not ended
                assertNull(group.getParent(), () -> thread + " is in " + group);
                assertNull(thread.getContextClassLoader(), thread::toString);
                assertEquals(Thread.NORM_PRIORITY, thread.getPriority(), thread::toString);
                assertSame(true, thread.isDaemon(), thread::toString);
            }
        }
    }

    /**
     * Opens the transport and ends a connection, from code of a class loader, and on a thread, that are gone when this
     * returns.
     */
    private WeakReference<ClassLoader> useFromAnApplication() throws Exception {
        ClassLoader loader = new ApplicationLoader();
        Class<?> type = loader.loadClass(Application.class.getName());
        assertNotSame(Application.class, type);
        @SuppressWarnings("unchecked")
        Callable<RdmaTransport> application = (Callable<RdmaTransport>)
                type.getDeclaredConstructor(LoopbackProvider.class).newInstance(verbs);
        FutureTask<RdmaTransport> task = new FutureTask<>(application);
        Thread thread = new Thread(new ThreadGroup("application"), task, "application");
        thread.setContextClassLoader(loader);
        thread.setPriority(Thread.MIN_PRIORITY);
        thread.start();
        transport = task.get();
        thread.join();
        return new WeakReference<>(loader);
    }

    /** Defines {@link Application} itself, and nothing else. */
    private static final class ApplicationLoader extends ClassLoader {

        ApplicationLoader() {
            super(ThreadOriginTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Application.class.getName())) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Used from another class loader, so it may touch only what is public. */
    public static final class Application implements Callable<RdmaTransport> {

        private final LoopbackProvider verbs;

        public Application(LoopbackProvider verbs) {
            this.verbs = verbs;
        }

        @Override
        public RdmaTransport call() throws Exception {
            RdmaTransport opened = RdmaTransport.over(verbs);
            InetAddress here = InetAddress.getLoopbackAddress();
            try (RdmaListener listener = opened.listen(new InetSocketAddress(here, 0), 1, StreamConfig.DEFAULT)) {
                PendingConnect connect = opened.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
                connect.await(TimeUnit.SECONDS.toNanos(60)).abort();
            }
            return opened;
        }
    }
}
