/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import org.jrsocket.stream.RdmaStream;

/**
 * What the asynchronous channels and the Netty transport, which are built on this package's channels, need of them
 * beyond what the JDK's API has. Public for these packages alone.
 */
public final class ChannelAccess {

    private ChannelAccess() {}

    /**
     * Returns the RDMA connection of a channel, for lending memory to it and borrowing from it alongside the channel's
     * own reads and writes; null if the channel is not connected over RDMA. The caller makes sure that one thread at a
     * time reads, and one writes; the channel closes the connection. A key of such a channel is ready for OP_CONNECT
     * when {@link RdmaStream#isAcknowledged} is true.
     */
    public static RdmaStream streamOf(SocketChannel channel) {
        return channel instanceof RSocketChannel ours ? ours.stream() : null;
    }

    /**
     * Sets how many milliseconds the owner of a non-blocking channel allows for the connect to come, 0 for no limit:
     * RDMA leaves half of them to TCP, as with the time limit of a socket. Ending the connect is up to the owner.
     */
    public static void limitConnect(SocketChannel channel, int millis) {
        if (channel instanceof RSocketChannel ours) {
            ours.connecting().limit(millis);
        }
    }

    /**
     * Returns what to throw for a failed write to the {@linkplain #streamOf stream}: what the channel's own write would
     * throw. It is a reset only if no one has been told of the reset before.
     */
    public static IOException failureOfWrite(SocketChannel channel, SocketException e) {
        return ((RSocketChannel) channel).io().failure(e);
    }

    /**
     * Returns whether to report the end of the stream in place of a failed read, because a writer was told of the reset
     * first. Must be called for each read of the {@linkplain #streamOf stream} that fails: if it returns false, the
     * reader counts as told, and later writes fail with a broken pipe.
     */
    public static boolean tellReader(SocketChannel channel, SocketException e) {
        return ((RSocketChannel) channel).rdma().tellReader(e);
    }

    /** Closes a channel that is registered with a selector, on behalf of a channel that is not selectable itself. */
    public static void closeAtOnce(SocketChannel channel) throws IOException {
        if (channel instanceof RSocketChannel ours) {
            ours.closeAtOnce();
        } else {
            channel.close();
        }
    }

    /** Accepts like {@code server}, but returns a channel of ours for TCP, too, if the server channel is ours. */
    public static SocketChannel acceptOurs(ServerSocketChannel server) throws IOException {
        SocketChannel accepted = server.accept();
        return accepted != null
                        && !(accepted instanceof RSocketChannel)
                        && server.provider() instanceof RSelectorProvider provider
                ? RSocketChannel.overTcp(provider.services(), accepted)
                : accepted;
    }

    /** Returns a new provider of asynchronous channels of the JDK's own, whatever is set for the system. */
    public static AsynchronousChannelProvider newJdkAsynchronousProvider() {
        return JdkChannels.newAsynchronousProvider();
    }
}
