/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * The streams of a socket adaptor: over TCP those of the inner adaptor, over RDMA the channel's own reads and writes.
 * For blocking channels only.
 */
final class AdaptorStreams {

    private AdaptorStreams() {}

    /**
     * @param io reads and writes for the channel
     * @param tcp the inner adaptor's, or null over RDMA
     * @param timeout milliseconds, 0 for none; asked at each read
     */
    static InputStream input(SocketChannel channel, ChannelIo io, InputStream tcp, IntSupplier timeout) {
        return tcp == null ? new RdmaInput(channel, io, timeout) : new TcpInput(channel, io, tcp);
    }

    static OutputStream output(SocketChannel channel, ChannelIo io, OutputStream tcp) {
        return tcp == null ? new RdmaOutput(channel, io) : new TcpOutput(channel, io, tcp);
    }

    private static final class RdmaInput extends InputStream {
        private final SocketChannel channel;
        private final ChannelIo io;
        private final IntSupplier timeout;

        RdmaInput(SocketChannel channel, ChannelIo io, IntSupplier timeout) {
            this.channel = channel;
            this.io = io;
            this.timeout = timeout;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            return length == 0
                    ? 0
                    : io.readWithTimeout(
                            ByteBuffer.wrap(target, offset, length), TimeUnit.MILLISECONDS.toNanos(timeout.getAsInt()));
        }

        @Override
        public int available() throws IOException {
            return io.available();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class RdmaOutput extends OutputStream {
        private final SocketChannel channel;
        private final ChannelIo io;

        RdmaOutput(SocketChannel channel, ChannelIo io) {
            this.channel = channel;
            this.io = io;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, source.length);
            if (length > 0) {
                io.writeFully(ByteBuffer.wrap(source, offset, length));
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Reads over TCP. A thread interrupted in it closes the inner channel; the outer channel then closes too. */
    private static final class TcpInput extends InputStream {
        private final SocketChannel channel;
        private final ChannelIo io;
        private final InputStream tcp;

        TcpInput(SocketChannel channel, ChannelIo io, InputStream tcp) {
            this.channel = channel;
            this.io = io;
            this.tcp = tcp;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return tcp.read(target, offset, length);
            } catch (AsynchronousCloseException e) {
                io.closeWithTcp();
                throw e;
            }
        }

        @Override
        public int available() throws IOException {
            return tcp.available();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class TcpOutput extends OutputStream {
        private final SocketChannel channel;
        private final ChannelIo io;
        private final OutputStream tcp;

        TcpOutput(SocketChannel channel, ChannelIo io, OutputStream tcp) {
            this.channel = channel;
            this.io = io;
            this.tcp = tcp;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            try {
                tcp.write(source, offset, length);
            } catch (AsynchronousCloseException e) {
                io.closeWithTcp();
                throw e;
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
