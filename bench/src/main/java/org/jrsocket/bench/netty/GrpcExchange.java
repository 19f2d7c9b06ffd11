/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jrsocket.bench.lab.RoundTrips;

/**
 * Calls on one gRPC channel without TLS, as long as the process lives. Each is started where the one before it ends, in
 * the event loop: another thread's wake-up would be measured with it.
 */
final class GrpcExchange implements Exchange {

    private final ManagedChannel channel;

    GrpcExchange(Transport transport, InetSocketAddress server) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(server)
                .eventLoopGroup(transport.newLoop())
                .channelType(transport.channel)
                .directExecutor()
                .usePlaintext();
        transport.allocator().ifPresent(ours -> builder.withOption(ChannelOption.ALLOCATOR, ours));
        channel = builder.build();
    }

    @Override
    public void run(RoundTrips trips) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        new Pings(trips, done).call();
        done.get();
    }

    private final class Pings implements StreamObserver<byte[]> {
        private final RoundTrips trips;
        private final CompletableFuture<Void> done;

        Pings(RoundTrips trips, CompletableFuture<Void> done) {
            this.trips = trips;
            this.done = done;
        }

        void call() {
            trips.begin();
            ClientCalls.asyncUnaryCall(channel.newCall(Calls.ECHO, CallOptions.DEFAULT), trips.out, this);
        }

        @Override
        public void onNext(byte[] answer) {
            if (answer.length == trips.in.length) {
                System.arraycopy(answer, 0, trips.in, 0, answer.length);
            }
        }

        @Override
        public void onCompleted() {
            try {
                if (trips.end()) {
                    call();
                } else {
                    done.complete(null);
                }
            } catch (IOException e) {
                done.completeExceptionally(e);
            }
        }

        @Override
        public void onError(Throwable failure) {
            done.completeExceptionally(failure);
        }
    }

    @Override
    public long stream(int size, int count, boolean lend) throws Exception {
        Stream stream = new Stream(size, count);
        long start = System.nanoTime();
        ClientCalls.asyncClientStreamingCall(channel.newCall(Calls.SINK, CallOptions.DEFAULT), stream);
        stream.done.get();
        return System.nanoTime() - start;
    }

    private static final class Stream implements ClientResponseObserver<byte[], byte[]> {
        final CompletableFuture<Void> done = new CompletableFuture<>();
        private final byte[] message;
        private int left;

        Stream(int size, int count) {
            message = new byte[size];
            left = count;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<byte[]> requests) {
            requests.setOnReadyHandler(() -> {
                while (left > 0 && requests.isReady()) {
                    left--; // before the message, which may call back
                    requests.onNext(message);
                    if (left == 0) {
                        requests.onCompleted();
                    }
                }
            });
        }

        @Override
        public void onNext(byte[] answer) {
            // the end tells
        }

        @Override
        public void onError(Throwable failure) {
            done.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            done.complete(null);
        }
    }
}
