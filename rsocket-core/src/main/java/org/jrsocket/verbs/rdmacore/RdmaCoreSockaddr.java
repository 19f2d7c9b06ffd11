/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.UnsupportedAddressTypeException;

/**
 * Turns socket addresses into the C structs {@code sockaddr_in} (16 bytes) and {@code sockaddr_in6} (28 bytes) and
 * back. Never looks up a name.
 */
final class RdmaCoreSockaddr {

    static final int MAX_SIZE = 28;

    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int IN_SIZE = 16;

    private RdmaCoreSockaddr() {}

    /** @throws UnknownHostException for an address without an IP address */
    static byte[] encode(SocketAddress address) throws UnknownHostException {
        InetSocketAddress inet = inet(address);
        byte[] ip = inet.getAddress().getAddress();
        boolean v4 = ip.length == 4;
        ByteBuffer out = ByteBuffer.allocate(v4 ? IN_SIZE : MAX_SIZE);
        out.order(ByteOrder.nativeOrder()).putShort((short) (v4 ? AF_INET : AF_INET6));
        out.order(ByteOrder.BIG_ENDIAN).putShort((short) inet.getPort());
        if (v4) {
            out.put(ip);
        } else {
            out.putInt(0).put(ip); // the flow label is not ours to choose
            out.order(ByteOrder.nativeOrder()).putInt(((Inet6Address) inet.getAddress()).getScopeId());
        }
        return out.array();
    }

    /** @return null for any other family */
    static InetSocketAddress decode(byte[] bytes, int length) {
        if (length < IN_SIZE) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        int family = in.getShort();
        int port = in.order(ByteOrder.BIG_ENDIAN).getShort() & 0xffff;
        try {
            if (family == AF_INET) {
                byte[] ip = new byte[4];
                in.get(ip);
                return new InetSocketAddress(InetAddress.getByAddress(ip), port);
            }
            if (family != AF_INET6 || length < MAX_SIZE) {
                return null;
            }
            byte[] ip = new byte[16];
            in.getInt();
            in.get(ip);
            int scope = in.order(ByteOrder.nativeOrder()).getInt();
            InetAddress plain = InetAddress.getByAddress(ip); // IPv4 if it is mapped
            boolean scoped = scope != 0 && plain instanceof Inet6Address;
            return new InetSocketAddress(scoped ? Inet6Address.getByAddress(null, ip, scope) : plain, port);
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are an address", e);
        }
    }

    /**
     * Returns the source address to resolve with. A wildcard becomes the wildcard of the destination's family, because
     * Java's wildcard is IPv6 if the JVM has both families, and librdmacm wants a single one.
     */
    static byte[] encodeSource(SocketAddress source, SocketAddress destination) throws UnknownHostException {
        InetSocketAddress from = inet(source);
        InetAddress to = inet(destination).getAddress();
        if (from.getAddress().isAnyLocalAddress() && from.getAddress().getClass() != to.getClass()) {
            return encode(
                    new InetSocketAddress(InetAddress.getByAddress(new byte[to.getAddress().length]), from.getPort()));
        }
        return encode(from);
    }

    private static InetSocketAddress inet(SocketAddress address) throws UnknownHostException {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (inet.isUnresolved()) {
            throw new UnknownHostException(inet.getHostString());
        }
        return inet;
    }
}
