/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.RdmaListeners;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.endpoint.QueueLimits;
import org.jrsocket.os.MemlockLimit;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Reports what this host has for RDMA, and what a connection would use. */
final class Doctor {

    /** The exit status if the peer cannot be reached at all. */
    private static final int UNREACHABLE = 3;

    private static final int TCP_MILLIS = 5_000;

    private final Settings settings;
    private final PrintStream out;
    private final TransportHolder holder;

    Doctor(Settings settings, PrintStream out) {
        this(settings, out, TransportHolder.rdmaCore());
    }

    Doctor(Settings settings, PrintStream out, TransportHolder holder) {
        this.settings = settings;
        this.out = out;
        this.holder = holder;
    }

    /**
     * @param peer a peer to try as well, or null
     * @return 0 if RDMA can be used here (and reaches the peer), 1 if not, 3 if the peer cannot be reached at all
     */
    int run(Peer peer) throws ConfigurationException {
        out.println("jrsocket " + Build.VERSION + ", JDK " + Runtime.version() + ", " + System.getProperty("os.name")
                + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"));
        TransportContext context = TransportContext.open(settings, holder);
        out.println("settings: " + context.describeSettings());
        if (context.describeRules() != null) {
            out.println("rules: " + context.describeRules());
        }
        boolean usable = false;
        boolean refuses = false;
        try {
            VerbsProvider provider = holder.provider();
            out.println("verbs: " + provider.description());
            boolean active = false;
            boolean works = false;
            List<DeviceInfo> devices = provider.devices();
            for (DeviceInfo device : devices) {
                print(device);
                active |= isActive(device);
                boolean worksHere = isActive(device) && tryQueuePair(device);
                works |= worksHere;
                usable |= worksHere && context.mayUse(device);
            }
            usable &= context.mayUseRdma();
            refuses = !devices.isEmpty() && devices.stream().noneMatch(context::mayUse);
            out.println("RDMA: " + verdict(context, usable, works, active, devices));
        } catch (VerbsUnavailableException e) {
            out.println("RDMA: cannot be used: " + e.getMessage());
        } catch (IOException e) {
            out.println("RDMA: the devices cannot be read: " + e.getMessage());
        }
        out.println("locked memory: " + LockedMemory.describe(MemlockLimit.ofThisProcess(), settings.streamConfig()));
        out.println("a server here listens over " + listening(context, refuses));
        return peer == null ? usable ? 0 : 1 : tryPeer(context, peer);
    }

    private static String verdict(
            TransportContext context, boolean usable, boolean works, boolean active, List<DeviceInfo> devices) {
        String missing = context.withoutDevices(devices);
        if (usable) {
            return "can be used" + (missing == null ? "" : "; " + missing);
        } else if (!active) {
            return "no port is active; bring a link up";
        } else if (!works) {
            return "cannot be used: no queue pair can be made on any device, see above";
        } else if (!context.mayUseRdma()) {
            return "could be used, but policy and rules leave everything to TCP";
        }
        return "could be used, but the setting devices names no device that is usable here"
                + (missing == null ? "" : " (" + missing + ")");
    }

    private static boolean isActive(DeviceInfo device) {
        return device.ports().stream().anyMatch(DeviceInfo.Port::active);
    }

    /** Returns whether a connection on this device would have what it needs, as far as that can be tried. */
    private boolean tryQueuePair(DeviceInfo device) throws VerbsUnavailableException {
        InetAddress address = device.ports().stream()
                .filter(DeviceInfo.Port::active)
                .flatMap(port -> port.gids().stream())
                .map(DeviceInfo.Gid::address)
                .filter(each -> !each.isLinkLocalAddress())
                .findFirst()
                .orElse(null);
        if (address == null) {
            out.println("  a connection's queue pair: not tried: all addresses of active ports are link-local");
            return true;
        }
        try {
            QueueLimits granted = holder.transport().tryQueuePair(address, settings.streamConfig());
            out.printf(
                    Locale.ROOT,
                    "  a connection's queue pair: %d sends, %d receives, %d bytes inline%n",
                    granted.sendQueue(),
                    granted.receiveQueue(),
                    granted.inline());
            return true;
        } catch (VerbsUnavailableException e) {
            throw e;
        } catch (IOException e) {
            out.println("  a connection's queue pair cannot be made: " + e.getMessage());
            return false;
        }
    }

    /**
     * Returns what a server listens over, found by trying on all addresses and a port of the device's choice.
     *
     * @param refuses whether there are devices, and connections may use none of them
     */
    private String listening(TransportContext context, boolean refuses) {
        try {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 0);
            RdmaListeners.open(context, any, 1).close();
            return "RDMA and TCP" + (refuses ? ", but refuses RDMA: the setting devices excludes every device" : "");
        } catch (IOException e) {
            return "TCP alone: "
                    + (e instanceof VerbsUnavailableException ? "RDMA cannot be used, see above" : e.getMessage());
        }
    }

    private void print(DeviceInfo device) {
        out.printf(
                Locale.ROOT,
                "device %s: %s%s, up to %d queue pairs of %d work requests, %d memory regions%n",
                device.name(),
                device.iwarp() ? "iWARP" : "InfiniBand or RoCE",
                device.firmware().isEmpty() ? "" : ", firmware " + device.firmware(),
                device.maxQp(),
                device.maxQpWr(),
                device.maxMr());
        for (DeviceInfo.Port port : device.ports()) {
            out.printf(
                    Locale.ROOT,
                    "  port %d: %s, %s, MTU %d%n",
                    port.number(),
                    port.state(),
                    port.ethernet() ? "Ethernet" : "InfiniBand",
                    port.activeMtu());
            for (DeviceInfo.Gid gid : port.gids()) {
                out.printf(
                        Locale.ROOT,
                        "    gid %d: %s, %s%n",
                        gid.index(),
                        gid.address().getHostAddress(),
                        gid.type());
            }
        }
    }

    private int tryPeer(TransportContext context, Peer peer) {
        InetSocketAddress address;
        try {
            address = peer.resolve();
        } catch (UnknownHostException e) {
            out.println(peer.text() + ": unknown host");
            return UNREACHABLE;
        }
        return tryRdma(context, peer, address) ? 0 : tryTcp(context, peer, address);
    }

    private boolean tryRdma(TransportContext context, Peer peer, InetSocketAddress address) {
        long start = System.nanoTime();
        try {
            ConnectAttempt attempt = context.connector().attempt(null, address, settings.streamConfig(), 0);
            RdmaStream stream = attempt.await();
            if (stream != null) {
                out.println(peer.text() + ": RDMA, device " + stream.deviceName() + ", from "
                        + stream.localAddress().getAddress().getHostAddress() + ", connected in " + millisSince(start)
                        + " ms");
                stream.close();
                stream.awaitDrained(TimeUnit.SECONDS.toNanos(1));
                return true;
            }
            out.println(peer.text() + ": not RDMA: " + attempt.explanation()
                    + (attempt.isTcp() ? "" : ", after " + millisSince(start) + " ms"));
        } catch (IOException e) {
            out.println(peer.text() + ": not RDMA: " + e.getMessage());
        }
        return false;
    }

    private int tryTcp(TransportContext context, Peer peer, InetSocketAddress address) {
        long start = System.nanoTime();
        try (Socket socket = new Socket()) {
            socket.connect(address, TCP_MILLIS);
            boolean refused = context.policy(Rules.Action.CONNECT, address) == Policy.RDMA;
            out.println(peer.text() + ": TCP, connected in " + millisSince(start) + " ms"
                    + (refused ? "; but the policy wants RDMA, so an application would get an exception" : ""));
            return 1;
        } catch (IOException e) {
            out.println(peer.text() + ": not reachable over TCP either: " + e.getMessage());
            return UNREACHABLE;
        }
    }

    private static String millisSince(long start) {
        return String.format(Locale.ROOT, "%.1f", (System.nanoTime() - start) / 1e6);
    }
}
