/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.jetty;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The JDK's HttpClient: posts a body and expects it back, then loads several at the same time. Fails unless every byte,
 * and the version of HTTP, is right.
 *
 * <p>{@code EchoClient ADDRESS SIZE SEED KEYSTORE PASSWORD [http|https PORT HTTP_1_1|HTTP_2]...}. Prints
 * {@code bytes=}, the payload both ways.
 */
public final class EchoClient {

    private static final int AT_ONCE = 2;

    private EchoClient() {}

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[1]);
        SSLContext context = trusting(Path.of(args[3]), args[4].toCharArray());
        long bytes = 0;
        for (int i = 5; i < args.length; i += 3) {
            long start = System.nanoTime();
            String site = args[i] + "://" + args[0] + ':' + args[i + 1] + '/';
            bytes += run(site, Version.valueOf(args[i + 2]), size, Long.parseLong(args[2]) + i, context);
            System.out.println(args[i] + ' ' + args[i + 2] + ": " + (System.nanoTime() - start) / 1_000_000 + " ms");
        }
        System.out.println("bytes=" + bytes);
    }

    private static long run(String site, Version version, int size, long seed, SSLContext context) throws Exception {
        HttpClient client =
                HttpClient.newBuilder().version(version).sslContext(context).build();
        // The first request of HTTP/2 without TLS is an upgrade, and Jetty takes none that has a body.
        check(client.send(get(site, 1, seed), BodyHandlers.ofByteArray()), version, data(1, seed));
        byte[] body = data(size, seed);
        HttpRequest post = HttpRequest.newBuilder(URI.create(site))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        check(client.send(post, BodyHandlers.ofByteArray()), version, body);

        List<CompletableFuture<HttpResponse<byte[]>>> responses = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            responses.add(client.sendAsync(get(site, size, seed + i), BodyHandlers.ofByteArray()));
        }
        for (int i = 0; i < AT_ONCE; i++) {
            check(responses.get(i).get(), version, data(size, seed + i));
        }
        return (2L + AT_ONCE) * size;
    }

    private static HttpRequest get(String site, int size, long seed) {
        return HttpRequest.newBuilder(URI.create(site + "?size=" + size + "&seed=" + seed))
                .build();
    }

    private static byte[] data(int size, long seed) {
        byte[] data = new byte[size];
        new SplittableRandom(seed).nextBytes(data);
        return data;
    }

    private static void check(HttpResponse<byte[]> response, Version version, byte[] expected) {
        if (response.statusCode() != 200
                || response.version() != version
                || !Arrays.equals(expected, response.body())) {
            throw new IllegalStateException(response + " by " + response.version() + " has " + response.body().length
                    + " bytes, not the " + expected.length + " that were expected");
        }
    }

    private static SSLContext trusting(Path store, char[] password) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            trusted.load(in, password);
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
