/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.ChannelOption;

/**
 * Options of {@link RdmaSocketChannel} beyond those of any socket channel. {@code SO_SNDBUF} and {@code SO_RCVBUF}
 * bound the memory of an RDMA connection; set them before it connects.
 */
public final class RdmaChannelOption {

    /**
     * Whether reads hand out the memory that the device has written, instead of copying it. Such buffers have to be
     * released soon: only then is their memory granted to the peer again. Default: false.
     */
    public static final ChannelOption<Boolean> LEND_RECEIVES =
            ChannelOption.valueOf(RdmaChannelOption.class, "LEND_RECEIVES");

    /**
     * The size in bytes from which a piece of a {@link RdmaByteBufAllocator}'s memory is sent from where it lies.
     * Smaller pieces are copied, which costs less. Default: 4096.
     */
    public static final ChannelOption<Integer> LEND_SENDS_FROM =
            ChannelOption.valueOf(RdmaChannelOption.class, "LEND_SENDS_FROM");

    private RdmaChannelOption() {}
}
