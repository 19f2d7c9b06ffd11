/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.tomcat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;

/**
 * Sends back what is posted to it, when it has all of it; a GET with {@code ?size=BYTES&seed=SEED} gets that many
 * bytes. HTTP/1.1 and HTTP/2 on one port, and both on another one with TLS, of each connector.
 *
 * <p>{@code EchoServer ADDRESS KEYSTORE PASSWORD CONNECTOR...}, where CONNECTOR is a protocol handler of Tomcat's, such
 * as {@code Http11Nio2Protocol}. Prints {@code CONNECTOR.plain=PORT} and {@code CONNECTOR.tls=PORT} of each and runs
 * until it is killed.
 */
public final class EchoServer {

    private EchoServer() {}

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("tomcat");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "echo", new Echo());
        context.addServletMappingDecoded("/", "echo");

        Map<String, Connector> connectors = new LinkedHashMap<>();
        for (String protocol : List.of(args).subList(3, args.length)) {
            connectors.put(protocol + ".plain", connector(protocol, args[0]));
            Connector tls = connector(protocol, args[0]);
            tls.setScheme("https");
            tls.setSecure(true);
            tls.setProperty("SSLEnabled", "true");
            tls.addSslHostConfig(keys(args[1], args[2]));
            connectors.put(protocol + ".tls", tls);
        }
        connectors.values().forEach(tomcat.getService()::addConnector);

        tomcat.start();
        connectors.forEach((name, connector) -> System.out.println(name + '=' + connector.getLocalPort()));
        tomcat.getServer().await();
    }

    private static Connector connector(String protocol, String address) {
        Connector connector = new Connector("org.apache.coyote.http11." + protocol);
        connector.setPort(0);
        connector.setProperty("address", address);
        connector.addUpgradeProtocol(new Http2Protocol());
        return connector;
    }

    private static SSLHostConfig keys(String store, String password) {
        SSLHostConfig host = new SSLHostConfig();
        SSLHostConfigCertificate certificate =
                new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateKeystoreFile(store);
        certificate.setCertificateKeystorePassword(password);
        certificate.setCertificateKeystoreType("PKCS12");
        host.addCertificate(certificate);
        return host;
    }

    private static final class Echo extends HttpServlet {

        private static final long serialVersionUID = 1L;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            // Not while it arrives: over HTTP/1.1 the JDK's client reads no answer before it has sent its request.
            send(response, request.getInputStream().readAllBytes());
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] data = new byte[Integer.parseInt(request.getParameter("size"))];
            new SplittableRandom(Long.parseLong(request.getParameter("seed"))).nextBytes(data);
            send(response, data);
        }

        private static void send(HttpServletResponse response, byte[] data) throws IOException {
            response.setContentLength(data.length);
            response.getOutputStream().write(data);
        }
    }
}
