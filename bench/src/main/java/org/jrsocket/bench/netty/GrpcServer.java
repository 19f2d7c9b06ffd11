/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The server of {@link GrpcExchange}. Calls are served in the event loop. */
final class GrpcServer {

    private GrpcServer() {}

    /** Returns the port. */
    static int start(Transport transport, InetSocketAddress address) throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address)
                .bossEventLoopGroup(transport.newLoop())
                .workerEventLoopGroup(transport.newLoop())
                .channelType(transport.serverChannel)
                .directExecutor()
                .addService(ServerServiceDefinition.builder(Calls.SERVICE)
                        .addMethod(Calls.ECHO, ServerCalls.asyncUnaryCall(GrpcServer::echo))
                        .addMethod(Calls.SINK, ServerCalls.asyncClientStreamingCall(Sink::new))
                        .build());
        transport.allocator().ifPresent(ours -> builder.withChildOption(ChannelOption.ALLOCATOR, ours));
        return builder.build().start().getPort();
    }

    private static void echo(byte[] message, StreamObserver<byte[]> answer) {
        answer.onNext(message);
        answer.onCompleted();
    }

    private static final class Sink implements StreamObserver<byte[]> {
        private final StreamObserver<byte[]> answer;

        Sink(StreamObserver<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(byte[] message) {
            // taken
        }

        @Override
        public void onError(Throwable failure) {
            failure.printStackTrace(); // whoever started this program reads it
        }

        @Override
        public void onCompleted() {
            answer.onNext(new byte[1]);
            answer.onCompleted();
        }
    }
}
