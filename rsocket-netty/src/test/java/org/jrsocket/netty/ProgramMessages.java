/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** What random programs write: buffers and files of all kinds, and what no channel takes. */
final class ProgramMessages {

    private static final int[] SIZES = {0, 1, 2, 10, 255, 256, 1000, 1023, 1024, 1500, 2048, 4095, 4096, 5000};
    private static final int FILE_SIZE = 3000;
    /** Netty's default since 4.2. */
    static final ByteBufAllocator ADAPTIVE = new AdaptiveByteBufAllocator();

    private final Path file;

    ProgramMessages() throws IOException {
        file = Files.createTempFile("program", null);
        file.toFile().deleteOnExit();
        byte[] content = new byte[FILE_SIZE];
        new Random(1).nextBytes(content);
        Files.write(file, content);
    }

    Object any(NettyWorld world, ProgramChannel on, boolean noFile, Random chance) throws IOException {
        int kind = chance.nextInt(noFile ? 18 : 24);
        if (kind < 18) {
            boolean[] lendable = new boolean[1];
            ByteBuf buffer = buffer(world, on.channel.alloc(), lendable, chance);
            return world.watch(buffer, lendable[0]);
        }
        return kind < 22 ? world.watch(region(chance), false) : wrong(world, chance);
    }

    // ---- buffers ----

    private static ByteBufAllocator allocator(ByteBufAllocator own, Random chance) {
        return switch (chance.nextInt(5)) {
            case 0 -> UnpooledByteBufAllocator.DEFAULT;
            case 1 -> PooledByteBufAllocator.DEFAULT;
            case 2 -> RdmaByteBufAllocator.DEFAULT;
            case 3 -> ADAPTIVE;
            default -> own;
        };
    }

    private ByteBuf plain(NettyWorld world, ByteBufAllocator own, boolean[] lendable, Random chance) {
        int size = SIZES[chance.nextInt(SIZES.length)];
        ByteBufAllocator from = allocator(own, chance);
        lendable[0] |= from == own || from == RdmaByteBufAllocator.DEFAULT;
        int before = chance.nextInt(3) == 0 ? chance.nextInt(20) : 0;
        ByteBuf buffer =
                chance.nextInt(3) == 0 ? from.heapBuffer(size + before + 5) : from.directBuffer(size + before + 5);
        buffer.writeZero(before).skipBytes(before);
        int at = world.next(size);
        for (int i = 0; i < size; i++) {
            buffer.writeByte((at + i) * 31 >> 2);
        }
        return buffer;
    }

    private ByteBuf buffer(NettyWorld world, ByteBufAllocator own, boolean[] lendable, Random chance) {
        ByteBuf buffer = plain(world, own, lendable, chance);
        return switch (chance.nextInt(16)) {
            case 0 -> buffer.asReadOnly();
            case 1 -> {
                int from = buffer.readableBytes() / 3;
                ByteBuf slice = buffer.retainedSlice(buffer.readerIndex() + from, buffer.readableBytes() - from);
                buffer.release();
                yield slice;
            }
            case 2 -> {
                ByteBuf duplicate = buffer.retainedDuplicate();
                buffer.release();
                yield duplicate;
            }
            case 3, 4 -> {
                CompositeByteBuf composite = own.compositeBuffer().addComponent(true, buffer);
                for (int i = chance.nextInt(4); i > 0; i--) {
                    composite.addComponent(true, plain(world, own, lendable, chance));
                }
                yield chance.nextBoolean() ? composite : composite.skipBytes(composite.readableBytes() / 2);
            }
            case 5 -> Unpooled.wrappedBuffer(buffer, plain(world, own, lendable, chance));
            case 6 -> {
                ByteBuffer direct = ByteBuffer.allocateDirect(buffer.readableBytes());
                buffer.readBytes(direct);
                buffer.release();
                yield Unpooled.wrappedBuffer(direct.flip().asReadOnlyBuffer());
            }
            case 7 -> {
                buffer.release();
                yield Unpooled.EMPTY_BUFFER;
            }
            default -> buffer;
        };
    }

    // ---- files ----

    private FileRegion region(Random chance) throws IOException {
        long[] positions = {0, 0, 0, 1, 777, FILE_SIZE - 1, FILE_SIZE, FILE_SIZE + 5};
        long[] counts = {0, 1, 500, 2000, FILE_SIZE, FILE_SIZE + 1, 10_000};
        long position = positions[chance.nextInt(positions.length)];
        long count = counts[chance.nextInt(counts.length)];
        return switch (chance.nextInt(10)) {
            case 0 -> new DefaultFileRegion(file.resolveSibling("no such file").toFile(), position, count);
            case 1 -> {
                FileChannel closed = FileChannel.open(file, StandardOpenOption.READ);
                closed.close();
                yield new DefaultFileRegion(closed, position, count);
            }
            case 2, 3 -> new DefaultFileRegion(FileChannel.open(file, StandardOpenOption.READ), position, count);
            case 4 -> new OddRegion(chance.nextInt(5), count);
            default -> {
                long there = Math.max(0, Math.min(count, FILE_SIZE - position));
                yield new DefaultFileRegion(file.toFile(), position, there);
            }
        };
    }

    /** One of a program's own. */
    private static final class OddRegion extends DefaultFileRegion {
        private final int kind;
        private long given;

        OddRegion(int kind, long count) {
            super(new File("none"), 0, count);
            this.kind = kind;
        }

        @Override
        public long transferred() {
            return given;
        }

        @Override
        public long transferTo(WritableByteChannel target, long position) throws IOException {
            if (kind == 0) {
                throw new IOException("odd");
            }
            if (kind == 1) {
                throw new IllegalStateException("odd");
            }
            int n = target.write(ByteBuffer.wrap(new byte[(int) Math.min(100L * kind, count() - given)]));
            given += n;
            if (kind == 2 && given >= Math.min(400, count())) {
                throw new IOException("odd after " + given);
            }
            return n;
        }
    }

    // ---- what is not taken ----

    private Object wrong(NettyWorld world, Random chance) {
        return switch (chance.nextInt(5)) {
            case 0 -> "text";
            case 1 -> null;
            case 2 -> world.watch(new DefaultByteBufHolder(Unpooled.buffer(4).writeInt(7)), false);
            case 3 -> ByteBuffer.allocate(3);
            // No released buffer: what is said of it, and when, is the allocator's business.
            default -> 17;
        };
    }
}
