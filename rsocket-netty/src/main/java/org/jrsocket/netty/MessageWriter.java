/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jrsocket.netty.Registrations.Registration;
import org.jrsocket.stream.RdmaStream;

/**
 * Writes the messages of an outbound buffer to the stream, each in the way that suits it: small ones are copied
 * together, pieces of large ones are lent if their memory can be registered, and files are read into memory that is
 * lent. The channel decides when to go on. Used only by the event loop, except that another thread may close it.
 */
final class MessageWriter {

    /** The result of a write, and when to go on. */
    enum Taken {
        ALL,
        /** The send memory is full. */
        UNTIL_ROOM,
        /** As much is lent as is allowed. */
        UNTIL_ACKNOWLEDGED,
        /** Other channels of the event loop are to have their turn. */
        ENOUGH
    }

    /** The most small messages that go out together, and the most bytes. */
    private static final int MOST_MESSAGES = 1024;

    private static final int MOST_TOGETHER = 256 * 1024;
    /** How much is read of a file at once. */
    private static final int FILE_PIECE = 256 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final RdmaStream stream;
    private final LentSends lent;
    private final RdmaSocketChannelConfig config;
    private final RdmaMetrics metrics;
    private final SmallMessages small = new SmallMessages();
    private FileReader file;
    private int[] starts = {}; // see writeOneByOne
    private final ByteBuffer[] onePiece = new ByteBuffer[1];
    private final int mostLookedAt; // bytes of a message of many pieces
    private boolean corked;
    private int written; // bytes that the last writeLarge took

    MessageWriter(RdmaStream stream, LentSends lent, RdmaSocketChannelConfig config, RdmaMetrics metrics) {
        this.stream = stream;
        this.lent = lent;
        this.config = config;
        this.metrics = metrics;
        this.mostLookedAt = stream.config().sendBuffer();
    }

    /** Writes what is possible of the message at the front, and of small ones behind it. */
    Taken writeNext(ChannelOutboundBuffer out) throws Exception {
        Object message = out.current();
        if (message instanceof FileRegion region) {
            return writeFile(out, region);
        }
        ByteBuf buffer = (ByteBuf) message; // ensured by filterOutboundMessage
        if (!buffer.isReadable()) {
            out.remove();
            return Taken.ALL;
        }
        if (buffer.readableBytes() < config.getLendSendsFrom()) {
            return writeSmall(out);
        }
        if (out.size() > 1 || !buffer.isContiguous()) {
            cork();
        }
        Taken taken = writeLarge(buffer);
        if (taken == Taken.ALL) {
            sendIfLast(out);
            progress(out, written);
            out.remove(); // the reader index stays, as with NIO: a program may write the same buffer again
        } else {
            buffer.skipBytes(written);
            progress(out, written);
        }
        return taken;
    }

    /** Reports progress, but none while writes stand still. */
    private static void progress(ChannelOutboundBuffer out, long bytes) {
        if (bytes > 0) {
            out.progress(bytes);
        }
    }

    /**
     * Lets what is written from now on wait for what follows: a header and the lent content behind it go out in one
     * request, and several requests in one post. Small messages that nothing else follows do not wait: they are copied
     * together, and are on their way before their writes are reported as complete.
     */
    private void cork() {
        if (!corked) {
            corked = true;
            stream.cork(true);
        }
    }

    /** Sends what waits, before the write of the last message is reported as complete. */
    private void sendIfLast(ChannelOutboundBuffer out) {
        if (out.size() == 1) {
            uncork();
        }
    }

    /** Sends what waits, because there is no more for now. */
    void uncork() {
        if (corked) {
            corked = false;
            stream.cork(false);
        }
    }

    /** Copies the small messages at the front, together. */
    private Taken writeSmall(ChannelOutboundBuffer out) throws Exception {
        long most = small.count(out);
        if (small.beforeOthers) {
            cork();
        }
        ByteBuffer[] pieces = out.nioBuffers(MOST_MESSAGES, most);
        long bytes = out.nioBufferSize();
        int count = out.nioBufferCount();
        long n = count == 1
                ? stream.write(pieces[0])
                : small.shared > 1 ? writeOneByOne(pieces, count) : stream.write(pieces, 0, count);
        if (!small.beforeOthers) {
            uncork(); // before any write is reported as complete, also of what is lent before them
        }
        metrics.sentCopied(n);
        out.removeBytes(n);
        return n < bytes ? Taken.UNTIL_ROOM : Taken.ALL;
    }

    /**
     * Writes pieces one by one. A view may occur several times, for a buffer that is written again, and the first write
     * empties it. So the start of each is noted before. A written view stays at its end, as after a gathering write:
     * Netty keeps the views of a composite buffer, and goes on from there after a part of it.
     */
    @SuppressWarnings("ReferenceEquality") // the same view is meant, not the same content
    private long writeOneByOne(ByteBuffer[] pieces, int count) throws IOException {
        cork();
        if (starts.length < count) {
            starts = new int[count];
        }
        for (int i = 0; i < count; i++) {
            starts[i] = pieces[i].position();
        }
        long sum = 0;
        int done = 0;
        while (done < count) {
            ByteBuffer piece = pieces[done].position(starts[done]);
            sum += stream.write(piece);
            if (piece.hasRemaining()) {
                break;
            }
            done++;
        }
        for (int i = done + 1; i < count; i++) {
            if (pieces[i] != pieces[done]) { // that one stays where its part ends
                pieces[i].position(starts[i]);
            }
        }
        return sum;
    }

    /** Counts the bytes of the messages at the front that are written at once, up to the first that is not copied. */
    private final class SmallMessages implements ChannelOutboundBuffer.MessageProcessor {
        private long bytes;
        private int messages;
        private int from;
        boolean beforeOthers; // a message that is not copied follows
        int shared; // how many may occur among them again

        long count(ChannelOutboundBuffer out) throws Exception {
            bytes = 0;
            messages = 0;
            beforeOthers = false;
            shared = 0;
            from = config.getLendSendsFrom();
            out.forEachFlushedMessage(this);
            return bytes;
        }

        @Override
        public boolean processMessage(Object message) {
            if (!(message instanceof ByteBuf buffer) || buffer.readableBytes() >= from) {
                beforeOthers = true;
                return false;
            }
            bytes += buffer.readableBytes();
            if (buffer.refCnt() > 1 || !Retention.isCounted(buffer)) {
                shared++;
            }
            return bytes < MOST_TOGETHER && ++messages < MOST_MESSAGES;
        }
    }

    /**
     * Writes what is possible of a buffer: lends its large pieces, copies the others. Its reader index stays. It looks
     * at no more pieces than may be taken: a message may have very many, and be continued very often.
     */
    private Taken writeLarge(ByteBuf buffer) throws IOException {
        written = 0;
        if (buffer.isContiguous()) {
            return writeContiguous(buffer);
        }
        int length = buffer.readableBytes();
        Taken taken = Taken.ALL;
        while (taken == Taken.ALL && written < length) {
            int from = buffer.readerIndex() + written;
            int n = Math.min(length - written, mostLookedAt);
            taken = writePieces(buffer, Retention.keepsMemory(buffer, from, n), buffer.nioBuffers(from, n));
        }
        return taken;
    }

    private Taken writeContiguous(ByteBuf buffer) throws IOException {
        onePiece[0] = buffer.internalNioBuffer(buffer.readerIndex(), buffer.readableBytes());
        try {
            return writePieces(buffer, Retention.keepsMemory(buffer), onePiece);
        } finally {
            onePiece[0] = null;
        }
    }

    private Taken writePieces(ByteBuf buffer, boolean mayLend, ByteBuffer[] pieces) throws IOException {
        int i = 0;
        while (i < pieces.length) {
            Registration registration = registration(pieces[i], mayLend);
            if (registration != null) {
                if (lent.isFull()) {
                    stream.write(NOTHING); // a stream that has failed acknowledges nothing: then this throws
                    return Taken.UNTIL_ACKNOWLEDGED;
                }
                int n = lent.send(registration, pieces[i], buffer);
                metrics.sentLent(n);
                written += n;
                i += pieces[i].hasRemaining() ? 0 : 1;
            } else {
                int end = i + 1;
                while (end < pieces.length && registration(pieces[end], mayLend) == null) {
                    end++;
                }
                int n = (int) stream.write(pieces, i, end - i);
                metrics.sentCopied(n);
                written += n;
                while (i < end) {
                    if (pieces[i++].hasRemaining()) {
                        return Taken.UNTIL_ROOM;
                    }
                }
            }
        }
        return Taken.ALL;
    }

    private Registration registration(ByteBuffer piece, boolean mayLend) {
        return mayLend && piece.isDirect() && piece.remaining() >= config.getLendSendsFrom()
                ? lent.registration(piece)
                : null;
    }

    /** Writes what is possible of a file, which is read into memory that is lent. */
    private Taken writeFile(ChannelOutboundBuffer out, FileRegion region) throws Exception {
        if (file == null) {
            file = new FileReader();
        }
        if (out.size() > 1) {
            cork();
        }
        ByteBuf piece = file.next(region, FILE_PIECE);
        Taken taken = piece.isReadable() ? writeLarge(piece) : Taken.ALL;
        int n = taken == Taken.ALL ? piece.readableBytes() : written;
        if (taken == Taken.ALL) {
            sendIfLast(out);
            file.release(); // before the report: its receiver may close the channel, which closes the file
        } else {
            piece.skipBytes(n);
        }
        progress(out, n);
        if (taken == Taken.ALL && region.transferred() >= region.count() && !file.hasFailed()) {
            out.remove();
        }
        if (taken == Taken.ALL && file.isClosed()) {
            throw new ClosedChannelException(); // over TCP, it is the connection that the region closes
        }
        return taken;
    }

    /** Gives up what was read of a file and not sent. Harmless when repeated. */
    void close() {
        if (file != null) {
            file.giveUp();
        }
    }

    /** Returns whether everything that was read of a file has been sent. */
    boolean isEmpty() {
        return file == null || file.isEmpty();
    }
}
