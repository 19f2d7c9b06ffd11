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
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jrsocket.connect.LocalNetworks.Prefix;
import org.jrsocket.os.Sysfs;

/**
 * Reads from sysfs and the network interfaces which addresses of this host RDMA devices have.
 *
 * <p>A port's GID table has up to 1024 entries, each of them a file, and there may be holes between those that are
 * filled. A search takes milliseconds. So the tables are searched only at first and when the addresses of this host or
 * the ports that are up have changed, once more after that, because the kernel fills them a little later, and otherwise
 * once a minute.
 *
 * <p>Safe for use by many threads.
 */
final class GidTables implements Refreshed.Source<GidTables.Local> {

    static final long SEARCH_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** An address from which connections may leave through a device, and the network that it is on. */
    record Local(String device, InetAddress address, Prefix network) {}

    /** Reads the addresses of this host and the lengths of their prefixes, by interface. */
    interface Interfaces {
        Map<String, Map<InetAddress, Integer>> read() throws IOException;
    }

    /** A port that is up. */
    private record Port(String device, Path deviceFolder, Path folder) {}

    /** @param again whether the next look searches whatever it sees */
    private record Search(
            Map<String, Map<InetAddress, Integer>> interfaces,
            List<Port> ports,
            List<Local> found,
            long at,
            boolean again) {}

    private final Path sys;
    private final Interfaces interfaces;
    private final LongSupplier clock;
    private Search last; // guarded by this

    GidTables() {
        this(Sysfs.DEVICES, GidTables::ofThisHost, NanoClock.SYSTEM);
    }

    /** @param clock nanoseconds, as {@link System#nanoTime} */
    GidTables(Path sys, Interfaces interfaces, LongSupplier clock) {
        this.sys = sys;
        this.interfaces = interfaces;
        this.clock = clock;
    }

    /** Returns the addresses, in alphabetical order of the devices. */
    @Override
    public synchronized List<Local> read() throws IOException {
        Map<String, Map<InetAddress, Integer>> now = interfaces.read();
        List<Port> ports = activePorts();
        long time = clock.getAsLong();
        boolean changed = last == null || !last.interfaces.equals(now) || !last.ports.equals(ports);
        if (changed || last.again || time - last.at >= SEARCH_NANOS) {
            last = new Search(now, ports, search(ports, now), time, changed);
        }
        return last.found;
    }

    private List<Port> activePorts() {
        List<Port> active = new ArrayList<>();
        for (String name : Sysfs.names(sys)) {
            Path device = sys.resolve(name);
            if (Sysfs.hasConnections(device)) {
                for (Path port : Sysfs.ports(device)) {
                    if (Sysfs.isActive(Sysfs.state(port))) {
                        active.add(new Port(name, device, port));
                    }
                }
            }
        }
        return active;
    }

    private static List<Local> search(List<Port> ports, Map<String, Map<InetAddress, Integer>> interfaces) {
        Map<String, InetAddress> gids = new HashMap<>();
        for (Map<InetAddress, Integer> addresses : interfaces.values()) {
            addresses.keySet().forEach(address -> gids.put(Sysfs.gid(address), address));
        }
        List<Local> found = new ArrayList<>();
        for (Port port : ports) {
            int before = found.size();
            // Of RoCE. The name alone says nothing: it may be that of an interface in another network namespace.
            table(port, gids).forEach((name, addresses) -> interfaces
                    .getOrDefault(name, Map.of())
                    .forEach((address, length) -> {
                        if (addresses.contains(address)) {
                            add(found, port, address, length);
                        }
                    }));
            if (found.size() == before) { // of IP over InfiniBand or iWARP, whose GIDs are no IP addresses
                for (String name : interfaces(port)) {
                    interfaces
                            .getOrDefault(name, Map.of())
                            .forEach((address, length) -> add(found, port, address, length));
                }
            }
        }
        return List.copyOf(found);
    }

    /** Returns those of this host's addresses that are in a port's table, with the names of the interfaces there. */
    private static Map<String, Set<InetAddress>> table(Port port, Map<String, InetAddress> gids) {
        Map<String, Set<InetAddress>> found = new LinkedHashMap<>();
        Path table = Sysfs.gids(port.folder);
        Path names = Sysfs.gidAttributes(port.folder, "ndevs");
        int entries = Sysfs.names(table).size();
        for (int i = 0; i < entries; i++) {
            String index = Integer.toString(i);
            InetAddress address = gids.get(Sysfs.text(table.resolve(index)));
            if (address != null) {
                found.computeIfAbsent(Sysfs.text(names.resolve(index)), name -> new LinkedHashSet<>())
                        .add(address);
            }
        }
        return found;
    }

    /** Returns the interfaces of a port's adapter. A software device (siw) has none, but one entry that names it. */
    private static List<String> interfaces(Port port) {
        List<String> names = Sysfs.interfaces(port.deviceFolder);
        return names.isEmpty() && Sysfs.isIwarp(port.deviceFolder)
                ? List.of(Sysfs.text(Sysfs.gidAttributes(port.folder, "ndevs").resolve("0")))
                : names;
    }

    private static void add(List<Local> found, Port port, InetAddress address, int length) {
        found.add(new Local(port.device, address, new Prefix(address.getAddress(), length)));
    }

    /** Reads all interfaces in one pass: each look at one of them by its name would be a pass, too. */
    private static Map<String, Map<InetAddress, Integer>> ofThisHost() throws IOException {
        Map<String, Map<InetAddress, Integer>> all = new HashMap<>();
        Enumeration<NetworkInterface> interfaces = NetworkInterface.getNetworkInterfaces();
        while (interfaces != null && interfaces.hasMoreElements()) {
            NetworkInterface each = interfaces.nextElement();
            Map<InetAddress, Integer> addresses = new LinkedHashMap<>();
            for (InterfaceAddress one : each.getInterfaceAddresses()) {
                byte[] bytes = one.getAddress().getAddress();
                InetAddress address = InetAddress.getByAddress(bytes); // without a scope
                int length = one.getNetworkPrefixLength();
                if (!address.isLinkLocalAddress() && Prefix.isOne(bytes, length)) {
                    addresses.put(address, length);
                }
            }
            all.put(each.getName(), addresses);
        }
        return all;
    }
}
