/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;

/** The owners of ports, by the kernel CM's rules. Guarded by the fabric's lock. */
final class Ports {

    private static final int FIRST = 32768;
    private static final int LAST = 60999;

    private final Map<Integer, List<LoopbackId>> owners = new HashMap<>();
    private int next = FIRST;

    /** Gives {@code id} the address, with a free port if it names none. */
    InetSocketAddress bind(LoopbackId id, InetSocketAddress address) throws ErrnoException {
        InetSocketAddress bound = address;
        if (address.getPort() == 0) {
            bound = new InetSocketAddress(address.getAddress(), free());
        } else {
            check("rdma_bind_addr", id, address, id.reuseAddress);
        }
        owners.computeIfAbsent(bound.getPort(), port -> new ArrayList<>()).add(id);
        return bound;
    }

    private int free() throws ErrnoException {
        for (int i = FIRST; i <= LAST; i++) {
            int port = next;
            next = next == LAST ? FIRST : next + 1;
            if (!owners.containsKey(port)) {
                return port;
            }
        }
        throw new ErrnoException("rdma_bind_addr", "no free port", Errno.EADDRNOTAVAIL);
    }

    /**
     * Checks an address against the owners of its port. The kernel's answer for a wildcard that meets another owner is
     * EADDRNOTAVAIL; only for equal addresses is it EADDRINUSE.
     */
    private void check(String call, LoopbackId id, InetSocketAddress address, boolean reuse) throws ErrnoException {
        for (LoopbackId other : owners.getOrDefault(address.getPort(), List.of())) {
            if (other == id || reuse && other.reuseAddress) {
                continue;
            }
            InetAddress theirs = other.source.getAddress();
            if (isFamilyOnly(id, address.getAddress())
                    && isFamilyOnly(other, theirs)
                    && isIpv4(theirs) != isIpv4(address.getAddress())) {
                continue;
            }
            if (theirs.isAnyLocalAddress() || address.getAddress().isAnyLocalAddress()) {
                throw new ErrnoException(call, address.toString(), Errno.EADDRNOTAVAIL);
            }
            if (theirs.equals(address.getAddress())) {
                throw new ErrnoException(call, address.toString(), Errno.EADDRINUSE);
            }
        }
    }

    /** Checks that an id that may share its address now has it to itself, and ends the sharing. */
    void checkListen(LoopbackId id) throws ErrnoException {
        if (id.reuseAddress) {
            check("rdma_listen", id, id.source, false);
            id.reuseAddress = false;
        }
    }

    /** Returns whether an id keeps to its family, as IPv4 ids do without being told. */
    private static boolean isFamilyOnly(LoopbackId id, InetAddress address) {
        return id.familyOnly == null ? isIpv4(address) : id.familyOnly;
    }

    void release(LoopbackId id) {
        if (id.source != null) {
            owners.computeIfPresent(id.source.getPort(), (port, ids) -> ids.remove(id) && ids.isEmpty() ? null : ids);
        }
    }

    /**
     * Returns the listener on this very address, else on the wildcard of its family, else on :: if that takes IPv4. One
     * on the very address is bound to the device that had the address then, and hears nothing of other devices.
     *
     * @param device the device that has the address now; null if none has
     */
    LoopbackId listener(InetSocketAddress address, LoopbackDevice device) {
        LoopbackId best = null;
        int bestRank = 0;
        for (LoopbackId id : owners.getOrDefault(address.getPort(), List.of())) {
            boolean hears = id.state == LoopbackId.State.LISTENING
                    && (id.device == null || device == null || id.device == device);
            int rank = hears ? rank(id, address.getAddress()) : 0;
            if (rank > bestRank) {
                best = id;
                bestRank = rank;
            }
        }
        return best;
    }

    private static int rank(LoopbackId listener, InetAddress address) {
        InetAddress local = listener.source.getAddress();
        if (local.equals(address)) {
            return 3;
        }
        if (!local.isAnyLocalAddress()) {
            return 0;
        }
        if (isIpv4(local) == isIpv4(address)) {
            return 2;
        }
        return !isIpv4(local) && !isFamilyOnly(listener, local) ? 1 : 0;
    }

    static boolean isIpv4(InetAddress address) {
        return address instanceof Inet4Address;
    }
}
