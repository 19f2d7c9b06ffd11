/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses of this host's RDMA devices whose ports are up, as sysfs and the interfaces say. Read when somebody
 * asks and then at most once a second, by one thread; the others take what was there before. Safe for use by many
 * threads.
 */
final class Adapters {

    private static final Logger LOG = LoggerFactory.getLogger(Adapters.class);

    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A GID table has up to 1024 entries, filled from the first; after so many empty ones there are no more. */
    private static final int GAP = 8;

    /** An address by which connections may leave through a device, and the network that it is on. */
    record Local(String device, InetAddress address, LocalNetworks.Prefix network) {}

    /** How they are read. */
    interface Source {
        List<Local> read() throws IOException;
    }

    private static final class Sysfs implements Source {

        @Override
        public List<Local> read() throws IOException {
            return ofSysfs(Path.of("/sys/class/infiniband"));
        }
    }

    private record Reading(List<Local> locals, long at) {}

    private final Source source;
    private final LongSupplier clock;
    private volatile Reading reading;
    private final AtomicBoolean reads = new AtomicBoolean(); // somebody, again

    Adapters() {
        this(new Sysfs(), NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    Adapters(Source source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
    }

    /** In alphabetical order of the devices. */
    List<Local> locals() {
        Reading last = reading;
        long now = clock.getAsLong();
        if (last != null && (now - last.at < FRESH_NANOS || !reads.compareAndSet(false, true))) {
            return last.locals;
        }
        try {
            List<Local> read = last == null ? List.of() : last.locals;
            try {
                read = List.copyOf(source.read());
            } catch (IOException e) {
                LOG.debug("the addresses of the RDMA devices cannot be read", e);
            }
            reading = new Reading(read, now);
            return read;
        } finally {
            if (last != null) {
                reads.set(false);
            }
        }
    }

    /** With the rights of this project, which an application under a security manager need not have. */
    @SuppressWarnings("removal") // of JDK 17
    private static List<Local> ofSysfs(Path sys) throws IOException {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<List<Local>>) () -> read(sys));
        } catch (PrivilegedActionException e) {
            throw (IOException) e.getException();
        }
    }

    private static List<Local> read(Path sys) throws IOException {
        List<Local> locals = new ArrayList<>();
        for (String device : names(sys)) {
            for (String port : names(sys.resolve(device).resolve("ports"))) {
                if (isUp(sys.resolve(device).resolve("ports").resolve(port))) {
                    for (String each : interfaces(sys.resolve(device), port)) {
                        addAddresses(locals, device, each);
                    }
                }
            }
        }
        return locals;
    }

    private static List<String> names(Path folder) {
        String[] names = folder.toFile().list();
        if (names == null) {
            return List.of(); // gone, or no such device
        }
        Arrays.sort(names);
        return List.of(names);
    }

    private static boolean isUp(Path port) {
        try {
            return Files.readString(port.resolve("state")).startsWith("4:"); // ACTIVE
        } catch (IOException e) {
            return false; // the device went
        }
    }

    /** The network interfaces whose addresses a port has, those of VLANs among them. */
    static Set<String> interfaces(Path device, String port) {
        Set<String> found = new LinkedHashSet<>();
        Path all = device.resolve("ports").resolve(port).resolve("gid_attrs").resolve("ndevs");
        int empty = 0;
        for (int i = 0; empty < GAP; i++) {
            try {
                found.add(Files.readString(all.resolve(Integer.toString(i))).strip());
                empty = 0;
            } catch (IOException e) { // there is no such entry, or nothing in it
                empty++;
            }
        }
        if (found.isEmpty()) { // IP over InfiniBand
            found.addAll(names(device.resolve("device").resolve("net")));
        }
        return found;
    }

    private static void addAddresses(List<Local> locals, String device, String name) throws IOException {
        NetworkInterface found = NetworkInterface.getByName(name);
        if (found == null) {
            return;
        }
        for (InterfaceAddress each : found.getInterfaceAddresses()) {
            byte[] bytes = each.getAddress().getAddress();
            InetAddress address = InetAddress.getByAddress(bytes); // without a scope
            int length = each.getNetworkPrefixLength();
            if (!address.isLinkLocalAddress() && length > 0 && length <= bytes.length * 8) {
                locals.add(new Local(device, address, new LocalNetworks.Prefix(bytes, length)));
            }
        }
    }
}
