/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.grpc;

import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import javax.net.ssl.TrustManagerFactory;

/**
 * Makes calls of all four kinds, without TLS and with it, and fails unless every byte is right.
 *
 * <p>{@code BlobClient ADDRESS PORT TLSPORT BLOBS SIZE SEED KEYSTORE PASSWORD}: BLOBS (at most 127) of SIZE bytes, in
 * each kind of call. Prints {@code bytes=}, the payload of all calls, both directions together.
 */
public final class BlobClient {

    /** Nothing that goes wrong on the way is told like this. */
    private static final String ALTERED = "ALTERED: ";

    private final ManagedChannel channel;
    private final int blobs;
    private final byte[] blob;
    private final SplittableRandom random;
    private long bytes;

    private BlobClient(ManagedChannel channel, int blobs, int size, long seed) {
        this.channel = channel;
        this.blobs = blobs;
        blob = new byte[size];
        random = new SplittableRandom(seed);
    }

    public static void main(String[] args) throws Exception {
        long bytes = run(args, args[1], InsecureChannelCredentials.create());
        bytes += run(args, args[2], tls(Path.of(args[6]), args[7].toCharArray()));
        System.out.println("bytes=" + bytes);
    }

    private static long run(String[] args, String port, ChannelCredentials credentials) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(args[0], Integer.parseInt(port)), credentials)
                .build();
        long bytes = calls(channel, Integer.parseInt(args[3]), Integer.parseInt(args[4]), Long.parseLong(args[5]));
        channel.shutdown();
        if (!channel.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the channel did not end");
        }
        return bytes;
    }

    /** Makes the calls over a channel, of whatever transport; returns the payload, both directions together. */
    public static long calls(ManagedChannel channel, int blobs, int size, long seed) throws Exception {
        BlobClient client = new BlobClient(channel, blobs, size, seed);
        client.unary();
        client.serverStreaming();
        client.clientStreaming();
        client.bothStreaming();
        return client.bytes;
    }

    private static ChannelCredentials tls(Path store, char[] password) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            trusted.load(in, password);
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        return TlsChannelCredentials.newBuilder()
                .trustManager(managers.getTrustManagers())
                .build();
    }

    private byte[] next() {
        random.nextBytes(blob);
        return blob.clone();
    }

    private void expect(byte[] sent, byte[] received) {
        if (!Arrays.equals(sent, received)) {
            throw new IllegalStateException(
                    ALTERED + "sent " + sent.length + " bytes, received " + received.length + " others");
        }
        bytes += received.length;
    }

    private void unary() {
        for (int i = 0; i < blobs; i++) {
            byte[] request = next();
            expect(request, ClientCalls.blockingUnaryCall(channel, Blobs.ECHO, CallOptions.DEFAULT, request));
            bytes += request.length;
        }
    }

    private void serverStreaming() {
        byte[] request = next();
        request[0] = (byte) blobs;
        Iterator<byte[]> answers =
                ClientCalls.blockingServerStreamingCall(channel, Blobs.REPEAT, CallOptions.DEFAULT, request);
        int count = 0;
        for (; answers.hasNext(); count++) {
            expect(request, answers.next());
        }
        if (count != blobs) {
            throw new IllegalStateException(ALTERED + count + " answers, not " + blobs);
        }
        bytes += request.length;
    }

    private void clientStreaming() throws Exception {
        CRC32C crc = new CRC32C();
        Answers answers = new Answers();
        StreamObserver<byte[]> requests =
                ClientCalls.asyncClientStreamingCall(channel.newCall(Blobs.SUM, CallOptions.DEFAULT), answers);
        for (int i = 0; i < blobs; i++) {
            byte[] request = next();
            crc.update(request);
            bytes += request.length;
            requests.onNext(request);
        }
        requests.onCompleted();
        String answer = new String(answers.all().get(0), StandardCharsets.US_ASCII);
        if (!answer.equals(Long.toString(crc.getValue()))) {
            throw new IllegalStateException(ALTERED + "the CRC is " + crc.getValue() + ", the server has " + answer);
        }
    }

    private void bothStreaming() throws Exception {
        List<byte[]> sent = new ArrayList<>();
        Answers answers = new Answers();
        StreamObserver<byte[]> requests =
                ClientCalls.asyncBidiStreamingCall(channel.newCall(Blobs.CHAT, CallOptions.DEFAULT), answers);
        for (int i = 0; i < blobs; i++) {
            byte[] request = next();
            sent.add(request);
            bytes += request.length;
            requests.onNext(request);
        }
        requests.onCompleted();
        List<byte[]> received = answers.all();
        if (received.size() != blobs) {
            throw new IllegalStateException(ALTERED + received.size() + " answers, not " + blobs);
        }
        for (int i = 0; i < blobs; i++) {
            expect(sent.get(i), received.get(i));
        }
    }

    private static final class Answers implements StreamObserver<byte[]> {

        private final List<byte[]> received = new ArrayList<>();
        private final CompletableFuture<List<byte[]>> end = new CompletableFuture<>();

        List<byte[]> all() throws Exception {
            return end.get();
        }

        @Override
        public void onNext(byte[] answer) {
            received.add(answer);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(received);
        }
    }
}
