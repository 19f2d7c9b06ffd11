/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("lab")
public class RdmaCoreSockaddrTest {

    private static InetSocketAddress roundTrip(InetSocketAddress address) throws UnknownHostException {
        byte[] bytes = RdmaCoreSockaddr.encode(address);
        return RdmaCoreSockaddr.decode(bytes, bytes.length);
    }

    private static InetAddress v6(int scope) throws UnknownHostException {
        byte[] ip = HexFormat.of().parseHex("fe800000000000000000000000000abc");
        return scope == 0 ? InetAddress.getByAddress(ip) : Inet6Address.getByAddress(null, ip, scope);
    }

    @Test
    void shouldLayOutIpv4AsTheCStruct() throws Exception {
        byte[] bytes = RdmaCoreSockaddr.encode(
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) 200}), 0x1234));
        assertEquals(16, bytes.length);
        assertEquals(2, ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getShort(0));
        assertEquals("12340a0000c8" + "0000000000000000", HexFormat.of().formatHex(bytes, 2, 16));
    }

    @Test
    void shouldLayOutIpv6AsTheCStruct() throws Exception {
        byte[] bytes = RdmaCoreSockaddr.encode(new InetSocketAddress(v6(7), 0xfffe));
        assertEquals(28, bytes.length);
        ByteBuffer struct = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        assertEquals(10, struct.getShort(0));
        assertEquals(7, struct.getInt(24));
        assertEquals(
                "fffe" + "00000000" + "fe800000000000000000000000000abc",
                HexFormat.of().formatHex(bytes, 2, 24));
    }

    @Test
    void shouldReadBackWhatItWrote() throws Exception {
        for (InetAddress address : new InetAddress[] {
            v6(0),
            v6(3),
            InetAddress.getByAddress(new byte[4]),
            InetAddress.getByAddress(new byte[16]),
            InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1})
        }) {
            InetSocketAddress read = roundTrip(new InetSocketAddress(address, 65535));
            assertEquals(new InetSocketAddress(address, 65535), read);
            if (address instanceof Inet6Address six) {
                assertEquals(six.getScopeId(), ((Inet6Address) read.getAddress()).getScopeId());
            }
        }
    }

    @Test
    void shouldReadAMappedAddressAsIpv4() throws Exception {
        byte[] bytes = RdmaCoreSockaddr.encode(new InetSocketAddress(v6(0), 9));
        System.arraycopy(HexFormat.of().parseHex("00000000000000000000ffff0a000001"), 0, bytes, 8, 16);
        InetSocketAddress read = RdmaCoreSockaddr.decode(bytes, bytes.length);
        assertEquals(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), read.getAddress());
    }

    @Test
    void shouldReadNothingFromOtherFamilies() {
        assertNull(RdmaCoreSockaddr.decode(new byte[28], 0));
        assertNull(RdmaCoreSockaddr.decode(new byte[28], 16));
        byte[] ib = new byte[28];
        ib[0] = 27;
        ib[1] = 27;
        assertNull(RdmaCoreSockaddr.decode(ib, 28));
    }

    @Test
    void shouldNeverLookUpAName() throws Exception {
        byte[] ip = {127, 0, 0, 2};
        InetSocketAddress read = roundTrip(new InetSocketAddress(InetAddress.getByAddress("named", ip), 1));
        assertEquals("127.0.0.2", read.getHostString());
        assertThrows(
                UnknownHostException.class,
                () -> RdmaCoreSockaddr.encode(InetSocketAddress.createUnresolved("localhost", 1)));
    }

    @Test
    void shouldTurnAWildcardSourceIntoTheDestinationsFamily() throws Exception {
        InetSocketAddress any6 = new InetSocketAddress(InetAddress.getByAddress(new byte[16]), 5);
        InetSocketAddress any4 = new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 5);
        InetSocketAddress to4 = new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), 1);
        InetSocketAddress to6 = new InetSocketAddress(v6(0), 1);
        assertEquals(any4, decoded(RdmaCoreSockaddr.encodeSource(any6, to4)));
        assertEquals(any6, decoded(RdmaCoreSockaddr.encodeSource(any4, to6)));
        assertEquals(any6, decoded(RdmaCoreSockaddr.encodeSource(any6, to6)));
        assertEquals(
                to6,
                decoded(RdmaCoreSockaddr.encodeSource(to6, to4)),
                "a real mismatch is the caller's, and librdmacm says so");
        assertTrue(decoded(RdmaCoreSockaddr.encodeSource(any6, to4)).getAddress() instanceof Inet4Address);
        assertFalse(decoded(RdmaCoreSockaddr.encodeSource(any4, to6)).getAddress() instanceof Inet4Address);
    }

    private static InetSocketAddress decoded(byte[] bytes) {
        return RdmaCoreSockaddr.decode(bytes, bytes.length);
    }

    @Test
    void shouldRefuseOtherKindsOfAddress() {
        SocketAddress other = new SocketAddress() {};
        assertThrows(UnsupportedAddressTypeException.class, () -> RdmaCoreSockaddr.encode(other));
    }
}
