/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.jetty;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * Sends back what is posted to it, when it has all of it; a GET with {@code ?size=BYTES&seed=SEED} gets that many
 * bytes. HTTP/1.1 and HTTP/2 on one port, and both on another one with TLS.
 *
 * <p>{@code EchoServer ADDRESS KEYSTORE PASSWORD}. Prints {@code plain=PORT} and {@code tls=PORT} and runs until it is
 * killed.
 */
public final class EchoServer {

    private EchoServer() {}

    public static void main(String[] args) throws Exception {
        Server server = new Server();
        HttpConfiguration http = new HttpConfiguration();
        ServerConnector plain =
                new ServerConnector(server, new HttpConnectionFactory(http), new HTTP2CServerConnectionFactory(http));
        plain.setHost(args[0]);
        server.addConnector(plain);

        HttpConfiguration https = new HttpConfiguration();
        https.addCustomizer(new SecureRequestCustomizer(false)); // clients name an address, not a host
        SslContextFactory.Server context = new SslContextFactory.Server();
        context.setKeyStorePath(args[1]);
        context.setKeyStorePassword(args[2]);
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
        ServerConnector tls = new ServerConnector(
                server,
                new SslConnectionFactory(context, alpn.getProtocol()),
                alpn,
                new HTTP2ServerConnectionFactory(https),
                new HttpConnectionFactory(https));
        tls.setHost(args[0]);
        server.addConnector(tls);

        server.setHandler(new Echo());
        server.start();
        System.out.println("plain=" + plain.getLocalPort());
        System.out.println("tls=" + tls.getLocalPort());
        server.join();
    }

    private static final class Echo extends Handler.Abstract {

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws IOException {
            if (request.getMethod().equals("POST")) {
                // Not while it arrives: over HTTP/1.1 the JDK's client reads no answer before it has sent its request,
                // with sockets of any kind.
                response.write(true, Content.Source.asByteBuffer(request), callback);
            } else {
                var query = Request.extractQueryParameters(request);
                byte[] data = new byte[query.get("size").getValueAsInt()];
                new SplittableRandom(Long.parseLong(query.getValue("seed"))).nextBytes(data);
                response.write(true, ByteBuffer.wrap(data), callback);
            }
            return true;
        }
    }
}
