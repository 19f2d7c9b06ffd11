/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.Objects;
import org.jrsocket.stream.BorrowedBytes;

/**
 * A buffer of received bytes where the device has put them; they are given back with the last release. Its content can
 * be changed, but it cannot grow. It is used again with the next bytes that are borrowed through the same object, so
 * that a received message makes no garbage.
 */
final class LentByteBuf extends AbstractReferenceCountedByteBuf {

    final BorrowedBytes bytes;
    private final ByteBuffer all; // the memory that the bytes are a part of
    private ByteBuffer view; // the same, whose position and limit change; null before it is used

    private ByteBufAllocator allocator;
    private ByteBuffer memory; // the first of them; null once released, so that nobody gets there
    private int offset; // of the bytes in it
    private int length;

    private LentByteBuf(BorrowedBytes bytes) {
        super(0);
        this.bytes = bytes;
        this.all = bytes.memory().duplicate();
    }

    /** Returns a buffer of {@code bytes}, which it gives back when it is released. */
    static LentByteBuf of(ByteBufAllocator allocator, BorrowedBytes bytes) {
        LentByteBuf buffer = (LentByteBuf) bytes.attachment();
        if (buffer == null) {
            buffer = new LentByteBuf(bytes);
            bytes.attach(buffer);
        }
        buffer.begin(allocator);
        return buffer;
    }

    private void begin(ByteBufAllocator newAllocator) {
        allocator = Objects.requireNonNull(newAllocator);
        memory = all;
        offset = bytes.offset();
        length = bytes.length();
        maxCapacity(length);
        setIndex(0, 0);
        markReaderIndex();
        markWriterIndex();
        writerIndex(length);
        resetRefCnt();
    }

    @Override
    protected void deallocate() {
        memory = null;
        bytes.closeForReuse(); // last, because another thread may have the buffer from then on
    }

    // ---- what it is ----

    @Override
    public ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    public int capacity() {
        return length;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity < length) {
            trimIndicesToCapacity(newCapacity);
        }
        length = newCapacity;
        return this;
    }

    @Override
    @SuppressWarnings("deprecation") // which every buffer has to have
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    @Override
    public ByteBuf unwrap() {
        return null;
    }

    @Override
    public boolean isDirect() {
        return true;
    }

    @Override
    public boolean isContiguous() {
        return true;
    }

    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public int arrayOffset() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public boolean hasMemoryAddress() {
        return memory != null && PlatformDependent.hasDirectByteBufferAddress(memory);
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        if (!hasMemoryAddress()) {
            throw new UnsupportedOperationException();
        }
        return PlatformDependent.directBufferAddress(memory) + offset;
    }

    // ---- views ----

    @Override
    public int nioBufferCount() {
        return 1;
    }

    @Override
    public ByteBuffer nioBuffer(int index, int count) {
        checkIndex(index, count);
        return memory.slice(offset + index, count);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int count) {
        return new ByteBuffer[] {nioBuffer(index, count)};
    }

    @Override
    public ByteBuffer internalNioBuffer(int index, int count) {
        checkIndex(index, count);
        if (view == null) {
            view = memory.duplicate();
        }
        int from = offset + index;
        return view.order(ByteOrder.BIG_ENDIAN).limit(from + count).position(from);
    }

    @Override
    public ByteBuf copy(int index, int count) {
        checkIndex(index, count);
        return alloc().directBuffer(count, maxCapacity()).writeBytes(this, index, count);
    }

    // ---- reading; the caller has checked the index ----

    @Override
    protected byte _getByte(int index) {
        return memory.get(offset + index);
    }

    @Override
    protected short _getShort(int index) {
        return memory.getShort(offset + index);
    }

    @Override
    protected short _getShortLE(int index) {
        return Short.reverseBytes(_getShort(index));
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return (_getShort(index) & 0xffff) << 8 | _getByte(index + 2) & 0xff;
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return _getShortLE(index) & 0xffff | (_getByte(index + 2) & 0xff) << 16;
    }

    @Override
    protected int _getInt(int index) {
        return memory.getInt(offset + index);
    }

    @Override
    protected int _getIntLE(int index) {
        return Integer.reverseBytes(_getInt(index));
    }

    @Override
    protected long _getLong(int index) {
        return memory.getLong(offset + index);
    }

    @Override
    protected long _getLongLE(int index) {
        return Long.reverseBytes(_getLong(index));
    }

    // ---- changing ----

    @Override
    protected void _setByte(int index, int value) {
        memory.put(offset + index, (byte) value);
    }

    @Override
    protected void _setShort(int index, int value) {
        memory.putShort(offset + index, (short) value);
    }

    @Override
    protected void _setShortLE(int index, int value) {
        _setShort(index, Short.reverseBytes((short) value));
    }

    @Override
    protected void _setMedium(int index, int value) {
        _setShort(index, value >> 8);
        _setByte(index + 2, value);
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        _setShortLE(index, value);
        _setByte(index + 2, value >> 16);
    }

    @Override
    protected void _setInt(int index, int value) {
        memory.putInt(offset + index, value);
    }

    @Override
    protected void _setIntLE(int index, int value) {
        _setInt(index, Integer.reverseBytes(value));
    }

    @Override
    protected void _setLong(int index, long value) {
        memory.putLong(offset + index, value);
    }

    @Override
    protected void _setLongLE(int index, long value) {
        _setLong(index, Long.reverseBytes(value));
    }

    // ---- copying out; several threads may do that at the same time, so not through the one view ----

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int count) {
        checkDstIndex(index, count, targetIndex, target.capacity());
        if (target.hasArray()) {
            memory.get(offset + index, target.array(), target.arrayOffset() + targetIndex, count);
        } else if (target.nioBufferCount() == 1 && !target.isReadOnly()) {
            getBytes(index, target.internalNioBuffer(targetIndex, count));
        } else {
            target.setBytes(targetIndex, this, index, count);
        }
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int count) {
        checkDstIndex(index, count, targetIndex, target.length);
        memory.get(offset + index, target, targetIndex, count);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        int count = target.remaining();
        checkIndex(index, count);
        int to = target.position();
        target.put(to, memory, offset + index, count).position(to + count);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream target, int count) throws IOException {
        Unpooled.wrappedBuffer(nioBuffer(index, count)).readBytes(target, count);
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel target, int count) throws IOException {
        return target.write(nioBuffer(index, count));
    }

    @Override
    public int getBytes(int index, FileChannel target, long position, int count) throws IOException {
        return target.write(nioBuffer(index, count), position);
    }

    // ---- copying in ----

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int count) {
        checkSrcIndex(index, count, sourceIndex, source.capacity());
        if (source.nioBufferCount() <= 0) {
            source.getBytes(sourceIndex, this, index, count);
            return this;
        }
        int to = index;
        for (ByteBuffer each : source.nioBuffers(sourceIndex, count)) {
            int n = each.remaining();
            setBytes(to, each);
            to += n;
        }
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, byte[] source, int sourceIndex, int count) {
        checkSrcIndex(index, count, sourceIndex, source.length);
        memory.put(offset + index, source, sourceIndex, count);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer source) {
        int count = source.remaining();
        checkIndex(index, count);
        int from = source.position();
        memory.put(offset + index, source, from, count);
        source.position(from + count);
        return this;
    }

    @Override
    public int setBytes(int index, InputStream source, int count) throws IOException {
        return Unpooled.wrappedBuffer(nioBuffer(index, count)).setBytes(0, source, count);
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel source, int count) throws IOException {
        try {
            return source.read(nioBuffer(index, count));
        } catch (ClosedChannelException e) {
            return -1; // as Netty's buffers do
        }
    }

    @Override
    public int setBytes(int index, FileChannel source, long position, int count) throws IOException {
        try {
            return source.read(nioBuffer(index, count), position);
        } catch (ClosedChannelException e) {
            return -1;
        }
    }
}
