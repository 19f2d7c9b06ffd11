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
import org.jrsocket.connect.LogLevel;
import org.jrsocket.threads.Threads;

/**
 * Reports that a program uses a native transport of Netty all the same, one that {@link NettyNatives} does not know:
 * its connections are TCP, and nothing else would say why. It changes no class; it only observes those that the JVM
 * loads.
 */
class NettyBypass implements ClassFileTransformer {

    private static final String EPOLL = "epoll";
    private static final String URING = "io_uring";
    private static final String INCUBATOR = ".incubator";

    private final LogLevel level;
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    NettyBypass(LogLevel level) {
        this.level = level;
    }

    /** Prints a line, on a separate thread: where a class is loaded, a class loader's lock may be held. */
    void tell(String line) {
        Notices.warn(level, line);
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

    /** Does the same for classes that are loaded already, for which it may be too late to set a property. */
    void look(Class<?>[] loaded) {
        for (Class<?> each : loaded) {
            String name = each.getName().replace('.', '/');
            String transport = transport(name);
            if (transport != null) {
                notice(name, transport);
            }
        }
    }

    /** Returns the transport whose event loops have this class, or null. Called for each class that is loaded. */
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
        String netty = name.substring(0, name.lastIndexOf("/channel/")).replace('/', '.');
        // the incubator's io_uring reads the property of the Netty that it belongs to
        String property = (netty.endsWith(INCUBATOR) ? netty.substring(0, netty.length() - INCUBATOR.length()) : netty)
                + NettyNatives.SUFFIX;
        if (isSet(property) || !told.add(netty)) {
            return; // the user's choice, or ours, or already reported
        }
        InstalledSockets.bypassed(netty, transport);
        String own = NettyNatives.OWN_SETTINGS.get(netty);
        String line = netty + " uses " + transport + ", which bypasses the JDK, so its connections are TCP; "
                + (own == null
                        ? "-D" + property + "=true has it use NIO, unless the program insists on " + transport
                        : own + " has it use NIO");
        Threads.daemon("jrsocket-bypass", () -> tell(line)).start();
    }

    // under a security manager this runs with the rights of the code that needs the class
    @SuppressWarnings("removal")
    private static boolean isSet(String property) {
        return AccessController.doPrivileged((PrivilegedAction<String>) () -> System.getProperty(property)) != null;
    }
}
