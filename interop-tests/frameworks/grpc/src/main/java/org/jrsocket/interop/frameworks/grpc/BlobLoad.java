/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Makes the calls of {@link BlobClient} over and over, on one channel without TLS.
 *
 * <p>{@code BlobLoad ADDRESS PORT SECONDS SEED}: for so long, and once at least. Prints {@code verified=}, the payload
 * so far, each time they have all been made.
 */
public final class BlobLoad {

    private static final int BLOBS = 5;
    private static final int SIZE = 20_000;

    private BlobLoad() {}

    public static void main(String[] args) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(args[0], Integer.parseInt(args[1])))
                .usePlaintext()
                .build();
        long seed = Long.parseLong(args[3]);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
        long bytes = 0;
        do {
            bytes += BlobClient.calls(channel, BLOBS, SIZE, seed++);
            System.out.println("verified=" + bytes);
        } while (System.nanoTime() - end < 0);
        channel.shutdown();
        if (!channel.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the channel did not end");
        }
    }
}
