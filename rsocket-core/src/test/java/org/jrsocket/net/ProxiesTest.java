/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
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
        List<URI> asked = new ArrayList<>();
        ProxySelector.setDefault(new ProxySelector() {
            @Override
            public List<Proxy> select(URI uri) {
                asked.add(uri);
                return List.of(new Proxy(Proxy.Type.SOCKS, InetSocketAddress.createUnresolved("proxy", 1080)));
            }

            @Override
            public void connectFailed(URI uri, SocketAddress address, IOException reason) {
                // nobody connects
            }
        });
        assertEquals(true, Proxies.mayUseSocks(InetSocketAddress.createUnresolved("my_db", 5432)));
        assertEquals(true, Proxies.mayUseSocks(new InetSocketAddress(InetAddress.getByName("::1"), 80)));
        assertEquals(List.of(URI.create("socket://my_db:5432"), URI.create("socket://[0:0:0:0:0:0:0:1]:80")), asked);
    }
}
