/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import org.junit.jupiter.api.Test;

/** That accepted connections name the interface is checked with a device, by the lab's tests of addresses. */
class LinkLocalTest {

    private static InetSocketAddress address(String text) throws Exception {
        return new InetSocketAddress(InetAddress.getByName(text), 80);
    }

    @Test
    void shouldMissAnInterfaceOnLinkLocalAddressesAlone() throws Exception {
        assertTrue(LinkLocal.isUnscoped(address("fe80::1")));
        assertFalse(LinkLocal.isUnscoped(address("fe80::1%7")));
        assertFalse(LinkLocal.isUnscoped(address("2001:db8::1")));
        assertFalse(LinkLocal.isUnscoped(address("169.254.1.1")));
    }

    @Test
    void shouldAddTheInterfaceWhereOneIsMissing() throws Exception {
        assertEquals(address("fe80::1%7"), LinkLocal.at(7, address("fe80::1")));
        InetSocketAddress complete = address("fe80::1%3");
        assertSame(complete, LinkLocal.at(7, complete));
        InetSocketAddress global = address("2001:db8::1");
        assertSame(global, LinkLocal.at(7, global));
        InetSocketAddress unknown = address("fe80::1");
        assertSame(unknown, LinkLocal.at(0, unknown));
    }

    @Test
    void shouldFindTheOneInterfaceThatHasAnAddress() throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        assertEquals(NetworkInterface.getByInetAddress(here).getIndex(), LinkLocal.scopeOf(here));
        assertEquals(0, LinkLocal.scopeOf(InetAddress.getByName("fe80::dead:beef")));
    }
}
