/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jrsocket.stream.Threads;

/**
 * Says that a program uses a native transport of Netty all the same, which {@link NettyNatives} does not know: its
 * connections are TCP, and nothing else would tell why. It changes no class; it hears of those that the JVM loads.
 */
final class NettyBypass implements ClassFileTransformer {

    private static final String EPOLL = "epoll";
    private static final String URING = "io_uring";

    private final Consumer<String> log;
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    /** @param log is given lines on a thread of its own: a class loader's lock may be held where a class is loaded. */
    NettyBypass(Consumer<String> log) {
        this.log = log;
    }

    @Override
    public byte[] transform(
            Module module, ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        String transport = name == null ? null : transport(name);
        if (transport != null) {
            notice(name, transport);
        }
        return null;
    }

    /** The transport whose event loops are of this class, else null. Called for each class that is loaded. */
    private static String transport(String name) {
        if (name.endsWith("/channel/epoll/EpollEventLoop") || name.endsWith("/channel/epoll/EpollIoHandler")) {
            return EPOLL;
        }
        if (name.endsWith("/channel/uring/IOUringEventLoop") || name.endsWith("/channel/uring/IoUringIoHandler")) {
            return URING;
        }
        return null;
    }

    private void notice(String name, String transport) {
        String netty = name.substring(0, name.indexOf("/channel/")).replace('/', '.');
        String property = netty + NettyNatives.SUFFIX;
        if (isSet(property) || !told.add(netty)) {
            return; // the user's choice, or ours, or known
        }
        InstalledSockets.bypassed(netty, transport);
        String line = netty + " uses " + transport + ", which bypasses the JDK, so its connections are TCP; -D"
                + property + "=true has it use NIO, unless the program insists on " + transport;
        Threads.daemon("jrsocket-bypass", () -> log.accept(line)).start();
    }

    // under a security manager this runs with whatever rights the code has that needs the class
    @SuppressWarnings("removal")
    private static boolean isSet(String property) {
        return AccessController.doPrivileged((PrivilegedAction<String>) () -> System.getProperty(property)) != null;
    }
}
