/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DefaultSocketChannelConfig;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.Socket;
import java.util.Map;

/** The options of a {@link RdmaSocketChannel}. Safe for use by many threads. */
@SuppressWarnings("ReferenceEquality") // options are constants
public final class RdmaSocketChannelConfig extends DefaultSocketChannelConfig {

    private static final int LEND_SENDS_FROM = 4096;

    private final SocketChannelConfig nio;
    private final Runnable autoReadCleared;
    private volatile boolean lendReceives;
    private volatile int lendSendsFrom = LEND_SENDS_FROM;

    /**
     * @param nio the configuration that Netty's NIO channel keeps for itself: options of the JDK's, and how much it
     *     writes at once
     * @param autoReadCleared what the channel does when auto-read is switched off
     */
    RdmaSocketChannelConfig(SocketChannel channel, SocketChannelConfig nio, Socket socket, Runnable autoReadCleared) {
        super(channel, socket);
        this.nio = nio;
        this.autoReadCleared = autoReadCleared;
        setAllocator(RdmaByteBufAllocator.DEFAULT);
    }

    @Override
    protected void autoReadCleared() {
        autoReadCleared.run();
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        Map<ChannelOption<?>, Object> options =
                getOptions(super.getOptions(), RdmaChannelOption.LEND_RECEIVES, RdmaChannelOption.LEND_SENDS_FROM);
        nio.getOptions().forEach((option, value) -> {
            if (option instanceof NioChannelOption) {
                options.put(option, value);
            }
        });
        return options;
    }

    @Override
    @SuppressWarnings("unchecked") // the value of an option is of its type
    public <T> T getOption(ChannelOption<T> option) {
        if (option == RdmaChannelOption.LEND_RECEIVES) {
            return (T) (Boolean) lendReceives;
        }
        if (option == RdmaChannelOption.LEND_SENDS_FROM) {
            return (T) (Integer) lendSendsFrom;
        }
        return option instanceof NioChannelOption ? nio.getOption(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option == RdmaChannelOption.LEND_RECEIVES) {
            validate(option, value);
            setLendReceives((Boolean) value);
            return true;
        }
        if (option == RdmaChannelOption.LEND_SENDS_FROM) {
            validate(option, value);
            setLendSendsFrom((Integer) value);
            return true;
        }
        return option instanceof NioChannelOption ? nio.setOption(option, value) : super.setOption(option, value);
    }

    @Override
    public RdmaSocketChannelConfig setSendBufferSize(int size) {
        nio.setSendBufferSize(size);
        return this;
    }

    /** Returns {@link RdmaChannelOption#LEND_RECEIVES}. */
    public boolean isLendReceives() {
        return lendReceives;
    }

    /** Sets {@link RdmaChannelOption#LEND_RECEIVES}. */
    public RdmaSocketChannelConfig setLendReceives(boolean lend) {
        lendReceives = lend;
        return this;
    }

    /** Returns {@link RdmaChannelOption#LEND_SENDS_FROM}, in bytes. */
    public int getLendSendsFrom() {
        return lendSendsFrom;
    }

    /**
     * Sets {@link RdmaChannelOption#LEND_SENDS_FROM}.
     *
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     */
    public RdmaSocketChannelConfig setLendSendsFrom(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("LEND_SENDS_FROM of " + bytes + " bytes");
        }
        lendSendsFrom = bytes;
        return this;
    }
}
