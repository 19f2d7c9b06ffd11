/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import fi.iki.elonen.NanoHTTPD;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;

/**
 * NanoHTTPD as server, {@link HttpURLConnection} as client; HTTPS with JSSE if the system property {@code keys} names a
 * key store.
 */
final class HttpFiles {

    private static final int FILE = 1 << 18;
    private static final int FILES = 2; // of each kind
    private static final int SMALL = 30;

    private HttpFiles() {}

    public static void main(String[] args) throws Exception {
        String keys = System.getProperty("keys");
        if (args[0].equals("server")) {
            Server server = new Server(args[1]);
            if (keys != null) {
                server.makeSecure(NanoHTTPD.makeSSLSocketFactory(store(keys), managers(keys)), null);
            }
            server.start(60_000, false);
            System.out.println("port=" + server.getListeningPort());
        } else {
            System.out.println("bytes=" + use((keys == null ? "http" : "https") + "://" + args[1] + ':' + args[2]));
        }
    }

    private static KeyStore store(String keys) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = new FileInputStream(keys)) {
            store.load(in, "changeit".toCharArray());
        }
        return store;
    }

    private static KeyManagerFactory managers(String keys) throws Exception {
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store(keys), "changeit".toCharArray());
        return managers;
    }

    /**
     * GET /SEED/LENGTH is that payload, HEAD-less; GET /chunked/SEED/LENGTH the same in chunks; POST answers with the
     * body's hash.
     */
    private static final class Server extends NanoHTTPD {

        Server(String address) {
            super(address, 0);
        }

        @Override
        public Response serve(IHTTPSession session) {
            if (session.getMethod() == Method.POST) {
                String hash = Payload.hash(
                        new Unclosed(session.getInputStream()),
                        Long.parseLong(session.getHeaders().get("content-length")));
                return newFixedLengthResponse(hash);
            }
            String[] path = session.getUri().split("/");
            byte[] bytes =
                    Payload.bytes(Long.parseLong(path[path.length - 2]), Integer.parseInt(path[path.length - 1]));
            InputStream body = new ByteArrayInputStream(bytes);
            return path[1].equals("chunked")
                    ? newChunkedResponse(Response.Status.OK, "application/octet-stream", body)
                    : newFixedLengthResponse(Response.Status.OK, "application/octet-stream", body, bytes.length);
        }
    }

    /** The session's stream belongs to the connection. */
    private static final class Unclosed extends java.io.FilterInputStream {
        Unclosed(InputStream in) {
            super(in);
        }

        @Override
        public void close() {}
    }

    private static long use(String site) throws IOException {
        for (int i = 0; i < FILES; i++) {
            get(site, "/" + i + "/" + FILE, i, FILE);
            get(site, "/chunked/" + i + "/" + FILE, i, FILE);
            post(site, i);
        }
        for (int i = 0; i < SMALL; i++) { // on a connection that is kept
            get(site, "/" + i + "/100", i, 100);
        }
        return 3L * FILES * FILE;
    }

    private static void get(String site, String path, long seed, int length) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(site + path).toURL().openConnection();
        Payload.same(200, connection.getResponseCode(), path);
        Payload.same(
                Payload.hash(Payload.bytes(seed, length)),
                Payload.hash(connection.getInputStream(), Long.MAX_VALUE),
                path);
    }

    private static void post(String site, long seed) throws IOException {
        byte[] body = Payload.bytes(seed, FILE);
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(site + "/").toURL().openConnection();
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(body.length);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(body);
        }
        try (InputStream in = connection.getInputStream()) {
            Payload.same(Payload.hash(body), new String(in.readAllBytes(), StandardCharsets.US_ASCII), "posted");
        }
    }
}
