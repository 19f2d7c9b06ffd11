/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands between a socket and RDMA: a SOCKS proxy, and nothing that only looks like one. */
class ProxiesTest {

    private final ProxySelector before = ProxySelector.getDefault();

    @AfterEach
    void restore() {
        ProxySelector.setDefault(before);
    }

    /** Names as containers have them, and addresses of all sorts. */
    @ParameterizedTest
    @ValueSource(strings = {"my_db", "db-1.stack_default", "service.1a", "127.0.0.1", "::1", "localhost"})
    void shouldFindNoProxyWhereNoneIsConfigured(String host) throws IOException {
        InetSocketAddress to = host.matches("[0-9:.]+")
                ? new InetSocketAddress(InetAddress.getByName(host), 5432)
                : InetSocketAddress.createUnresolved(host, 5432);
        assertEquals(false, Proxies.mayUseSocks(to));
    }

    @Test
    void shouldAskTheSelectorAsTheJdkDoes() throws IOException {
        ProxySelector selector = mock();
        when(selector.select(any()))
                .thenReturn(List.of(new Proxy(Proxy.Type.SOCKS, InetSocketAddress.createUnresolved("proxy", 1080))));
        ProxySelector.setDefault(selector);
        assertEquals(true, Proxies.mayUseSocks(InetSocketAddress.createUnresolved("my_db", 5432)));
        assertEquals(true, Proxies.mayUseSocks(new InetSocketAddress(InetAddress.getByName("::1"), 80)));
        verify(selector).select(URI.create("socket://my_db:5432"));
        verify(selector).select(URI.create("socket://[0:0:0:0:0:0:0:1]:80"));
        verifyNoMoreInteractions(selector);
    }
}
