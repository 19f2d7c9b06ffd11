/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * What a container has for a web application: the application's own copies of this project, Netty and DiSNI. Once it is
 * closed it finds no class that it has not loaded before.
 */
final class ApplicationLoader extends ClassLoader implements AutoCloseable {

    private volatile boolean closed;

    ApplicationLoader() {
        super(ApplicationLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("org.jrsocket.") && !name.startsWith("io.netty.") && !name.startsWith("com.ibm.disni.")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = closed ? null : getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = in.readAllBytes();
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Runs its copy of {@code application} on a thread that ends with it; what that returns. */
    String run(Class<? extends Callable<String>> application, String... arguments) throws Exception {
        Constructor<?> copy = loadClass(application.getName()).getDeclaredConstructor(String[].class);
        copy.setAccessible(true);
        @SuppressWarnings("unchecked")
        FutureTask<String> task = new FutureTask<>((Callable<String>) copy.newInstance((Object) arguments));
        Thread thread = new Thread(task, "application");
        thread.setContextClassLoader(this);
        thread.start();
        String said = task.get(ChannelTests.PATIENCE, TimeUnit.SECONDS);
        thread.join();
        return said;
    }

    @Override
    public void close() {
        closed = true;
    }
}
