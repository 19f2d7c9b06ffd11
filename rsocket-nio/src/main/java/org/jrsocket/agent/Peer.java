/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * A host and port as people write them: {@code host:80}, {@code 192.0.2.1:80}, {@code [2001:db8::1]:80}; where a port
 * is not needed, {@code 2001:db8::1} too.
 *
 * @param text as it was written, with the port
 * @param host without brackets
 */
record Peer(String text, String host, int port) {

    /**
     * @param defaultPort the port if the text has none; 0 if it must have one
     * @throws IllegalArgumentException if the text is no peer; the message says what it should be
     */
    static Peer parse(String text, int defaultPort) {
        int colon = text.lastIndexOf(':');
        boolean bare = colon < 0 || text.endsWith("]") || !text.startsWith("[") && text.indexOf(':') != colon;
        String host = bare ? text : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        try {
            int port = bare ? defaultPort : Integer.parseInt(text.substring(colon + 1));
            if (!host.isEmpty() && port > 0 && port <= 65535) {
                return new Peer(
                        bare ? (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port : text, host, port);
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new IllegalArgumentException(
                text + ": not of the form " + (defaultPort == 0 ? "HOST:PORT" : "HOST or HOST:PORT"));
    }

    /** Looks the host up. */
    InetSocketAddress resolve() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }
}
