/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.Sysfs;
import org.jrsocket.stream.RdmaListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a socket whose port somebody else has over RDMA waits for it: for ever if it shares the port, because its
 * holder may hand it over at any time. Otherwise the holder may be a process that is ending, which takes a minute at
 * most. After that it is either an outgoing connection, which has the port by chance and gives it back some day, or a
 * server, whose port must not be taken while it is started again. The kernel does not say which, but it gives outgoing
 * connections only ports of a certain range. So the socket waits on for a port in that range, and for no other.
 */
final class PortPatience implements RdmaListener.Patience {

    private static final Logger LOG = LoggerFactory.getLogger("org.jrsocket");

    private static final long ENDING_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** The range for TCP is that of the RDMA connection manager too, but that ignores the ports that are reserved. */
    private static final Path RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    private static final int USUALLY_FIRST = 32768;
    private static final int USUALLY_LAST = 60999;

    private final TransportContext context;
    private final InetSocketAddress local;
    private final boolean shared;
    private final LongSupplier clock;
    private final Supplier<String> range;
    private final long since;
    private boolean waitsOn; // used by the service thread

    PortPatience(TransportContext context, InetSocketAddress local, boolean shared) {
        this(context, local, shared, NanoClock.SYSTEM, () -> Sysfs.text(RANGE));
    }

    /**
     * @param clock nanoseconds, as {@link System#nanoTime}
     * @param range returns the first and the last port of outgoing connections, as the kernel's file has them
     */
    PortPatience(
            TransportContext context,
            InetSocketAddress local,
            boolean shared,
            LongSupplier clock,
            Supplier<String> range) {
        this.context = context;
        this.local = local;
        this.shared = shared;
        this.clock = clock;
        this.range = range;
        this.since = clock.getAsLong();
    }

    /**
     * Returns whether the port may become this socket's. A listener at a specific address, beside one at the wildcard
     * address, would take the port from all other addresses as soon as the wildcard's is opened again.
     */
    static boolean isWorthwhile(InetSocketAddress local, IOException e) {
        return TcpReason.ofListening(e) == TcpReason.IN_USE
                && (((ErrnoException) e).errno() == Errno.EADDRINUSE
                        || local.getAddress().isAnyLocalAddress());
    }

    @Override
    public Next next() {
        boolean late = !shared && clock.getAsLong() - since > ENDING_NANOS;
        if (late && !waitsOn) {
            if (!mayBeOutgoing()) {
                return Next.GIVE_UP;
            }
            waitsOn = true;
            LOG.warn(
                    "listening on {} over TCP alone: somebody else still has the port over RDMA, perhaps an outgoing"
                            + " connection ('rdma resource show cm_id' lists it); the RDMA listener goes on looking"
                            + " whether it is free",
                    local);
        }
        if (context.policy(Rules.Action.BIND, local) == Policy.TCP) {
            return Next.NOT_NOW;
        }
        return late ? Next.TRY_RARELY : Next.TRY;
    }

    private boolean mayBeOutgoing() {
        int first = USUALLY_FIRST;
        int last = USUALLY_LAST;
        String[] ports = range.get().split("\\s+");
        try {
            if (ports.length == 2) {
                first = Integer.parseInt(ports[0]);
                last = Integer.parseInt(ports[1]);
            }
        } catch (NumberFormatException e) {
            LOG.debug("the range of outgoing ports is not two numbers: {}", String.join(" ", ports));
        }
        return local.getPort() >= first && local.getPort() <= last;
    }
}
