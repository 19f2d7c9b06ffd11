/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jrsocket.os.NativeMemory;

/** Tells what retaining a message means: whether its memory stays until the release. */
final class Retention {

    private static final Class<?> UNRELEASABLE =
            Unpooled.unreleasableBuffer(Unpooled.EMPTY_BUFFER).getClass();

    /** Whether retaining a buffer of a class reaches what it unwraps to: with all of Netty's own but one it does. */
    private static final ClassValue<Boolean> PASSES_ON = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return type == Chunk.Buffer.class
                    || type == LentByteBuf.class
                    || type != UNRELEASABLE && type.getPackageName().equals(ByteBuf.class.getPackageName());
        }
    };

    private Retention() {}

    /** Returns whether a message that is written twice has been retained for that. */
    static boolean isCounted(ByteBuf message) {
        for (ByteBuf each = message; each != null; each = each.unwrap()) {
            if (!PASSES_ON.get(each.getClass())) {
                return false;
            }
            if (each instanceof CompositeByteBuf composite && composite.nioBufferCount() == 1) {
                return false; // its view is that of its one component, which has a count of its own
            }
        }
        return true;
    }

    /**
     * Returns whether all memory of {@link RdmaByteBufAllocator} in a message stays while the message is retained. It
     * does not with a buffer that cannot be released, or one around a {@code ByteBuffer}: its memory may be reused once
     * the promise of the write has succeeded.
     */
    static boolean keepsMemory(ByteBuf message) {
        for (ByteBuf each = message; each != null; each = each.unwrap()) {
            if (each instanceof Chunk.Buffer) {
                return true;
            }
            if (!PASSES_ON.get(each.getClass())) {
                return false;
            }
            if (each instanceof CompositeByteBuf composite) {
                return keepsMemoryOfAll(composite);
            }
        }
        return false;
    }

    /** Returns the same for the memory of so many bytes of a message, from an index on. There must be some. */
    static boolean keepsMemory(ByteBuf message, int from, int bytes) {
        return message instanceof CompositeByteBuf composite && PASSES_ON.get(message.getClass())
                ? keepsMemoryOf(
                        composite, composite.toComponentIndex(from), composite.toComponentIndex(from + bytes - 1))
                : keepsMemory(message);
    }

    private static boolean keepsMemoryOfAll(CompositeByteBuf composite) {
        return keepsMemoryOf(composite, 0, composite.numComponents() - 1);
    }

    /** Returns the same for some parts of a composite. Memory of others does not matter, because it is not lent. */
    private static boolean keepsMemoryOf(CompositeByteBuf composite, int first, int last) {
        for (int i = first; i <= last; i++) {
            ByteBuf part = composite.internalComponent(i); // which the composite keeps
            if (!keepsMemory(part) && mayBeLent(part)) {
                return false;
            }
        }
        return true;
    }

    private static boolean mayBeLent(ByteBuf part) {
        if (!part.isDirect() || !part.isReadable()) {
            return false;
        }
        if (part.hasMemoryAddress()) {
            return Chunk.at(part.memoryAddress() + part.readerIndex()) != null;
        }
        if (part.nioBufferCount() != 1) {
            return true;
        }
        ByteBuffer memory = part.internalNioBuffer(part.readerIndex(), part.readableBytes());
        return Chunk.at(NativeMemory.addressOf(memory) + memory.position()) != null;
    }
}
