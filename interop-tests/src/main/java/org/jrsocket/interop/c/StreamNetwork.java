/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;

/** Over the stream API: never TCP. */
final class StreamNetwork implements Network {

    private static final int BACKLOG = 128;

    /** Which of the stream's calls do the work. */
    enum Mode {
        /** Read and write that wait. */
        BLOCKING,
        /** Read and write that do not, again and again. */
        NONBLOCKING,
        /** A wait for readiness before each of these. */
        ASYNC
    }

    private final RdmaTransport transport;
    private final Mode mode;
    private StreamConfig config = StreamConfig.DEFAULT;

    StreamNetwork(Mode mode) throws IOException {
        this.mode = mode;
        transport = TransportHolder.rdmaCore().transport();
        transport.limitClosing(Integer.getInteger("org.jrsocket.close.max", RdmaTransport.MAX_CLOSING));
    }

    @Override
    public void bufferSize(int bytes) {
        config = bytes == 0 ? StreamConfig.DEFAULT : config.withBuffers(bytes, bytes);
    }

    @Override
    public Link connect(InetSocketAddress remote) throws IOException {
        return link(transport.connect(null, remote, config).await(0));
    }

    private Link link(RdmaStream stream) {
        return switch (mode) {
            case BLOCKING -> new BlockingLink(stream);
            case NONBLOCKING -> new PollingLink(stream, false);
            case ASYNC -> new PollingLink(stream, true);
        };
    }

    @Override
    public Door listen(InetSocketAddress local) throws IOException {
        RdmaListener listener = transport.listen(local, BACKLOG, config);
        Semaphore ready = new Semaphore(0);
        listener.onReady(ready::release);
        return new Door() {
            @Override
            public int port() {
                return listener.localAddress().getPort();
            }

            @Override
            public Link accept() {
                for (; ; ) {
                    RdmaStream stream = listener.poll();
                    if (stream != null) {
                        ready.release(); // there may be more, and they announce themselves only to an empty queue
                        return link(stream);
                    }
                    ready.acquireUninterruptibly();
                }
            }

            @Override
            public void close() {
                listener.close();
            }
        };
    }

    @Override
    public int live() {
        return transport.liveStreams();
    }

    @Override
    public void close() {
        transport.close();
    }

    private static class BlockingLink implements Link {

        final RdmaStream stream;

        BlockingLink(RdmaStream stream) {
            this.stream = stream;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return stream.read(target, offset, length, 0);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            stream.write(source, offset, length, 0);
        }

        @Override
        public void finish() throws IOException {
            stream.shutdownOutput();
        }

        @Override
        public void abort() {
            stream.abort();
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    private static final class PollingLink extends BlockingLink {

        private final boolean waits;

        PollingLink(RdmaStream stream, boolean waits) {
            super(stream);
            this.waits = waits;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(target, offset, length);
            for (; ; ) {
                if (waits) {
                    stream.awaitReadable(0);
                }
                int n = stream.read(buffer);
                if (n != 0) {
                    return n;
                }
                Thread.onSpinWait();
            }
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(source, offset, length);
            while (buffer.hasRemaining()) {
                if (waits) {
                    stream.awaitWritable(0);
                }
                if (stream.write(buffer) == 0) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
