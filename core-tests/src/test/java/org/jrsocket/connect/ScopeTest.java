/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.connect.LocalNetworks.Prefix;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** For which addresses RDMA is tried where no rule names them. */
class ScopeTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 50);
    private int readings;
    private SocketException failure;
    private List<Prefix> here = List.of(prefix("198.51.100.77", 26), prefix("2001:db8:1:2::3", 60));
    private final LocalNetworks networks = new LocalNetworks(
            () -> {
                readings++;
                if (failure != null) {
                    throw failure;
                }
                return here;
            },
            now::get);

    private static byte[] bytes(String address) {
        return address(address).getAddress();
    }

    private static InetAddress address(String address) {
        return new InetSocketAddress(address, 1).getAddress();
    }

    private static Prefix prefix(String address, int length) {
        return new Prefix(bytes(address), length);
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, true, false",
        "10.255.255.255, true, false",
        "11.0.0.1, false, false",
        "172.15.255.255, false, false",
        "172.16.0.1, true, false",
        "172.31.255.255, true, false",
        "172.32.0.1, false, false",
        "192.168.1.1, true, false",
        "192.169.1.1, false, false",
        "100.63.255.255, false, false",
        "100.64.0.1, true, false",
        "100.127.255.255, true, false",
        "100.128.0.1, false, false",
        "203.0.113.1, false, false",
        "198.51.100.65, true, true",
        "198.51.100.127, true, true",
        "198.51.100.128, false, false",
        "198.51.100.63, false, false",
        "127.0.0.1, true, true",
        "127.1.2.3, true, true",
        "169.254.1.1, true, true",
        "fc00::1, true, false",
        "fdff::1, true, false",
        "fe80::1, true, true",
        "::1, true, true",
        "2001:db8:1:2::9, true, true",
        "2001:db8:1:f::9, true, true",
        "2001:db8:1:10::9, false, false",
        "2001:db8::9, false, false",
        "::ffff:10.0.0.1, true, false"
    })
    void shouldIncludeNearAndPrivateAddresses(String address, boolean byDefault, boolean onLink) {
        assertEquals(byDefault, Scope.PRIVATE.includes(address(address), networks));
        assertEquals(onLink, Scope.ON_LINK.includes(address(address), networks));
        assertTrue(Scope.ANY.includes(address(address), networks));
    }

    @Test
    void shouldReadTheNetworksOnlyForAnAddressThatNeedsItAndSeldom() {
        Scope.PRIVATE.includes(address("10.0.0.1"), networks);
        Scope.ANY.includes(address("203.0.113.1"), networks);
        assertEquals(0, readings);
        for (int i = 0; i < 100; i++) {
            assertFalse(Scope.PRIVATE.includes(address("203.0.113.1"), networks));
        }
        assertEquals(1, readings);
        here = List.of(prefix("203.0.113.9", 24));
        now.addAndGet(LocalNetworks.FRESH_NANOS);
        assertTrue(Scope.PRIVATE.includes(address("203.0.113.1"), networks));
        assertEquals(2, readings);
        failure = new SocketException("no more");
        now.addAndGet(LocalNetworks.FRESH_NANOS);
        assertTrue(Scope.PRIVATE.includes(address("203.0.113.1"), networks));
        assertEquals(3, readings);
    }

    /** A prefix of no bits would have the whole world near. */
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, -1, false", "10.0.0.1, 0, false", "10.0.0.1, 1, true", "10.0.0.1, 32, true",
        "10.0.0.1, 33, false", "fd00::1, 0, false", "fd00::1, 128, true", "fd00::1, 129, false"
    })
    void shouldTakeOnlyPrefixesThatSaySomething(String address, int length, boolean taken) {
        assertEquals(taken, Prefix.isOne(bytes(address), length));
    }

    @Test
    void shouldFindTheNetworksOfThisHost() throws Exception {
        LocalNetworks real = new LocalNetworks();
        assertTrue(real.include(InetAddress.getByName("127.0.0.1")));
        assertTrue(real.include(InetAddress.getByName("127.200.0.1")));
        assertFalse(real.include(InetAddress.getByName("2001:db8:dead::77")));
    }

    private static final InetSocketAddress FAR = new InetSocketAddress("2001:db8:dead::1", 443);
    private static final InetSocketAddress NEAR = new InetSocketAddress("10.0.0.1", 443);
    private final FakeRdma rdma = new FakeRdma();

    private TransportContext context(String settings, String... rules) throws ConfigurationException {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()),
                rules.length == 0 ? Rules.NONE : RulesFile.parse("rules", List.of(rules)),
                rdma);
    }

    private boolean triesRdma(TransportContext context, InetSocketAddress peer) throws Exception {
        return !context.connector().attempt(null, peer, StreamConfig.DEFAULT, 0).isTcp();
    }

    @Test
    void shouldSendNothingToAPublicAddressUnlessItIsNamed() throws Exception {
        TransportContext context = context(null);
        assertFalse(triesRdma(context, FAR));
        assertEquals(0, rdma.attempts);
        assertEquals(1, context.counts().tcpChosen(TcpReason.SCOPE));
        assertTrue(triesRdma(context, NEAR));
        assertTrue(triesRdma(context("policy=auto", "connect 2001:db8:dead::/48 *"), FAR));
        assertTrue(triesRdma(context("scope=any"), FAR));
        assertFalse(triesRdma(context("scope=on-link"), NEAR));
        assertTrue(triesRdma(context("scope=on-link"), new InetSocketAddress("127.0.0.1", 443)));
        assertTrue(triesRdma(context("policy=rdma"), FAR), "who insists on RDMA is not to hear of TCP");
    }

    @Test
    void shouldSayWhyInTheConnection() throws Exception {
        ConnectAttempt attempt = context(null).connector().attempt(null, FAR, StreamConfig.DEFAULT, 0);
        assertEquals(TcpReason.SCOPE, attempt.reason());
        assertEquals(TcpReason.SCOPE.text(), attempt.explanation());
    }
}
