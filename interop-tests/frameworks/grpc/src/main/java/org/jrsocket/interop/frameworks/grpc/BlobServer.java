/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.grpc;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.zip.CRC32C;
import javax.net.ssl.KeyManagerFactory;

/**
 * {@code BlobServer ADDRESS KEYSTORE PASSWORD}. Prints {@code plain=PORT} and {@code tls=PORT} and runs until it is
 * killed. {@code BlobServer ADDRESS PORT}: on that port, without TLS.
 */
public final class BlobServer {

    private BlobServer() {}

    public static void main(String[] args) throws Exception {
        boolean tls = args.length > 2;
        Server plain = start(args[0], tls ? 0 : Integer.parseInt(args[1]), InsecureServerCredentials.create());
        System.out.println("plain=" + plain.getPort());
        if (tls) {
            Server secure = start(args[0], 0, tls(Path.of(args[1]), args[2].toCharArray()));
            System.out.println("tls=" + secure.getPort());
        }
        plain.awaitTermination();
    }

    private static Server start(String address, int port, ServerCredentials credentials) throws IOException {
        return NettyServerBuilder.forAddress(new InetSocketAddress(address, port), credentials)
                .addService(service())
                .build()
                .start();
    }

    private static ServerCredentials tls(Path store, char[] password) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, password);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password);
        return TlsServerCredentials.newBuilder()
                .keyManager(managers.getKeyManagers())
                .build();
    }

    /** What {@link BlobClient#calls} calls. */
    public static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder(Blobs.SERVICE)
                .addMethod(Blobs.ECHO, ServerCalls.asyncUnaryCall(BlobServer::echo))
                .addMethod(Blobs.REPEAT, ServerCalls.asyncServerStreamingCall(BlobServer::repeat))
                .addMethod(Blobs.SUM, ServerCalls.asyncClientStreamingCall(BlobServer::sum))
                .addMethod(Blobs.CHAT, ServerCalls.asyncBidiStreamingCall(BlobServer::chat))
                .build();
    }

    private static void echo(byte[] blob, StreamObserver<byte[]> answers) {
        answers.onNext(blob);
        answers.onCompleted();
    }

    private static void repeat(byte[] blob, StreamObserver<byte[]> answers) {
        var call = (ServerCallStreamObserver<byte[]>) answers;
        int[] left = {blob[0]};
        call.setOnReadyHandler(() -> {
            while (left[0] > 0 && call.isReady()) {
                call.onNext(blob);
                if (--left[0] == 0) {
                    call.onCompleted();
                }
            }
        });
    }

    private static StreamObserver<byte[]> sum(StreamObserver<byte[]> answer) {
        CRC32C crc = new CRC32C();
        return new Receiver(answer) {
            @Override
            public void onNext(byte[] blob) {
                crc.update(blob);
            }

            @Override
            public void onCompleted() {
                answer.onNext(Long.toString(crc.getValue()).getBytes(StandardCharsets.US_ASCII));
                super.onCompleted();
            }
        };
    }

    private static StreamObserver<byte[]> chat(StreamObserver<byte[]> answers) {
        return new Receiver(answers) {
            @Override
            public void onNext(byte[] blob) {
                answers.onNext(blob);
            }
        };
    }

    private abstract static class Receiver implements StreamObserver<byte[]> {

        private final StreamObserver<byte[]> answers;

        Receiver(StreamObserver<byte[]> answers) {
            this.answers = answers;
        }

        @Override
        public void onError(Throwable failure) {
            failure.printStackTrace();
        }

        @Override
        public void onCompleted() {
            answers.onCompleted();
        }
    }
}
