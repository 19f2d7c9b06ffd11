/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.os.Sysfs;

/**
 * The addresses of those RDMA devices of this host whose ports are up, read from sysfs and the network interfaces at
 * most once a second (see {@link Refreshed}). Safe for use by many threads.
 */
final class Adapters {

    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A GID table has up to 1024 entries, filled from the first. After this many empty ones no more are expected. */
    private static final int GAP = 8;

    /** An address from which connections may leave through a device, and the network that it is on. */
    record Local(String device, InetAddress address, LocalNetworks.Prefix network) {}

    private static final class OfThisHost implements Refreshed.Source<Local> {

        @Override
        public List<Local> read() throws IOException {
            return Adapters.read(Sysfs.DEVICES);
        }
    }

    private final Refreshed<Local> locals;

    Adapters() {
        this(new OfThisHost(), NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    Adapters(Refreshed.Source<Local> source, LongSupplier clock) {
        locals = new Refreshed<>("the addresses of the RDMA devices", source, FRESH_NANOS, clock);
    }

    /** Returns the addresses, in alphabetical order of the devices. */
    List<Local> locals() {
        return locals.get();
    }

    static List<Local> read(Path sys) throws IOException {
        List<Local> locals = new ArrayList<>();
        for (String name : Sysfs.names(sys)) {
            Path device = sys.resolve(name);
            if (!Sysfs.hasConnections(device)) {
                continue;
            }
            for (Path port : Sysfs.ports(device)) {
                if (Sysfs.isActive(Sysfs.state(port))) {
                    for (String each : interfaces(device, port)) {
                        addAddresses(locals, name, each);
                    }
                }
            }
        }
        return locals;
    }

    /** Returns the network interfaces whose addresses a port has, including those of VLANs. */
    static Set<String> interfaces(Path device, Path port) {
        Set<String> found = new LinkedHashSet<>();
        Path all = Sysfs.gidAttributes(port, "ndevs");
        int empty = 0;
        for (int i = 0; empty < GAP; i++) {
            String name = Sysfs.text(all.resolve(Integer.toString(i)));
            if (name.isEmpty()) { // the entry does not exist or is empty
                empty++;
            } else {
                found.add(name);
                empty = 0;
            }
        }
        if (found.isEmpty()) { // IP over InfiniBand
            found.addAll(Sysfs.interfaces(device));
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
