/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jrsocket.net.NetWorld.End;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls that move data. */
final class DataSteps {

    private static final int MOST = 2000;
    private static final int UNDER_WAY = 6000;

    private static final byte[] TOO_MUCH = new byte[16 << 20];

    private DataSteps() {}

    static void addTo(RandomPrograms<NetWorld> programs) {
        programs.with(8, "write", DataSteps::write)
                .with(2, "write oddly", DataSteps::writeOddly)
                .with(1, "write too much", DataSteps::flood)
                .with(8, "read", DataSteps::read)
                .with(2, "read oddly", DataSteps::readOddly)
                .with(2, "read several", DataSteps::readSeveral)
                .with(3, "available", DataSteps::available)
                .with(2, "take streams", DataSteps::takeStreams)
                .with(1, "close a stream", DataSteps::closeStream)
                .with(1, "urgent data", DataSteps::urgentData);
    }

    /** A stream that was taken before, or that the socket gives now. */
    private static InputStream in(End end, boolean kept) throws IOException {
        if (!kept || end.in == null) {
            end.in = end.socket.getInputStream();
        }
        return end.in;
    }

    private static OutputStream out(End end, boolean kept) throws IOException {
        if (!kept || end.out == null) {
            end.out = end.socket.getOutputStream();
        }
        return end.out;
    }

    private static byte[] bytes(long from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) ((from + i) * 31 >> 3);
        }
        return bytes;
    }

    // ---- writing ----

    private static String write(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        int length = chance.nextInt(4) == 0 ? 1 : chance.nextInt(MOST);
        End peer = world.peer(end);
        if (world.isDropped(end)) {
            return "left to chance";
        }
        if (peer != null && end.sent.get() - peer.got.get() > UNDER_WAY) {
            return "enough is under way";
        }
        String outcome = world.maybeWaits(chance, () -> {
            OutputStream out = out(end, kept);
            byte[] bytes = bytes(end.sent.get(), length);
            if (length == 1) {
                out.write(bytes[0]);
            } else {
                out.write(bytes);
            }
            end.sent.addAndGet(length);
            return "wrote " + length;
        });
        world.arrive(end);
        return outcome;
    }

    private static String writeOddly(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        byte[] bytes = chance.nextInt(5) == 0 ? null : new byte[10];
        int[] odd = {0, 0, 0, -1, 10, 11, Integer.MAX_VALUE, Integer.MIN_VALUE};
        int offset = odd[chance.nextInt(odd.length)];
        int length = odd[chance.nextInt(odd.length)];
        if (offset == 0 && length == 10) {
            length = 0;
        }
        int count = length;
        return world.maybeWaits(chance, () -> {
            out(end, kept).write(bytes, offset, count);
            out(end, kept).flush();
            return "wrote";
        });
    }

    /**
     * More than buffers take: it waits, and what arrives of it is not compared. Not to a peer that has shut both
     * directions and is not closed: over TCP it answers with a reset; over RDMA the write waits for it to be closed.
     */
    private static String flood(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        End peer = world.peer(end);
        if (peer == null
                || world.isDropped(end)
                || peer.reading > 0
                || end.flooded
                || end.isBusy()
                || peer.socket.isInputShutdown() && peer.socket.isOutputShutdown() && !peer.socket.isClosed()) {
            return "not now";
        }
        peer.flooded = true;
        return world.maybeWaits(chance, () -> {
            end.writing = true;
            try {
                out(end, false).write(TOO_MUCH);
                return "wrote too much";
            } finally {
                end.writing = false;
            }
        });
    }

    /**
     * A byte that a receiver does not see which does not ask for it. Nothing else is under way, and the peer looks at
     * once: over TCP the byte is among what is unread, until a read has passed it.
     */
    private static String urgentData(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        End peer = world.peer(end);
        int data = chance.nextInt();
        if (world.isDropped(end) || peer != null && (peer.flooded || peer.reading > 0 || peer.inline)) {
            return "not now";
        }
        if (peer != null && !peer.socket.isClosed() && !peer.socket.isInputShutdown()) {
            if (peer.socket.getInputStream().available() > 0) {
                return "not now";
            }
        }
        end.socket.sendUrgentData(data);
        if (peer != null && !peer.socket.isClosed() && !peer.socket.isInputShutdown()) {
            world.news();
            int timeout = peer.socket.getSoTimeout();
            peer.socket.setSoTimeout(1);
            try {
                return "sent, and peer reads " + peer.socket.getInputStream().read();
            } catch (SocketTimeoutException e) {
                return "sent";
            } finally {
                peer.socket.setSoTimeout(timeout);
            }
        }
        world.news();
        return "sent";
    }

    // ---- reading ----

    private static String reading(NetWorld world, End end, Random chance, Callable<String> call) throws Exception {
        if (end.writing || end.flooded && !end.socket.isClosed()) {
            return "left to chance";
        }
        if (chance.nextInt(4) > 0 && world.isSilent(end)) {
            return "would wait";
        }
        int timeout = end.socket.isClosed() ? 0 : end.socket.getSoTimeout();
        if (timeout > 0 && end.reading > 0 && !world.timeoutsCoverTurns()) {
            return "left to chance";
        }
        Callable<String> counted = () -> {
            end.read(1);
            try {
                return call.call();
            } finally {
                end.read(-1);
            }
        };
        return timeout > 0 && timeout < 1000 ? world.surely(counted) : world.maybeWaits(chance, counted);
    }

    private static String got(End end, byte[] bytes, int offset, int count) {
        if (count <= 0) {
            return "read " + count;
        }
        byte[] expected = bytes(end.got.getAndAdd(count), count);
        byte[] actual = Arrays.copyOfRange(bytes, offset, offset + count);
        return "read " + count + (end.mixed || Arrays.equals(expected, actual) ? "" : ", others than were written");
    }

    private static String read(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        int length = chance.nextInt(4) == 0 ? 1 : 1 + chance.nextInt(3 * MOST);
        return reading(world, end, chance, () -> {
            InputStream in = in(end, kept);
            byte[] bytes = new byte[length];
            if (length > 1) {
                return got(end, bytes, 0, in.read(bytes));
            }
            int one = in.read();
            bytes[0] = (byte) one;
            return got(end, bytes, 0, one < 0 ? -1 : 1);
        });
    }

    private static String readOddly(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        byte[] bytes = chance.nextInt(5) == 0 ? null : new byte[10];
        int[] odd = {0, 0, 1, -1, 9, 10, 11, Integer.MAX_VALUE, Integer.MIN_VALUE};
        int offset = odd[chance.nextInt(odd.length)];
        int length = odd[chance.nextInt(odd.length)];
        return reading(
                world, end, chance, () -> got(end, bytes, offset, in(end, kept).read(bytes, offset, length)));
    }

    /** What {@code InputStream} builds of reads. */
    private static String readSeveral(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        int way = chance.nextInt(6);
        int length = chance.nextInt(10) == 0 ? -1 : chance.nextInt(MOST);
        return reading(world, end, chance, () -> {
            InputStream in = in(end, kept);
            try {
                return several(end, in, way, length);
            } catch (Exception e) {
                end.uncounted = true;
                throw e;
            }
        });
    }

    private static String several(End end, InputStream in, int way, int length) throws IOException {
        switch (way) {
            case 0 -> {
                long skipped = in.skip(length);
                end.got.addAndGet(skipped);
                return "skipped " + skipped;
            }
            case 1 -> {
                in.skipNBytes(length);
                end.got.addAndGet(Math.max(0, length));
                return "skipped all of " + length;
            }
            case 2 -> {
                byte[] bytes = in.readNBytes(length);
                return got(end, bytes, 0, bytes.length);
            }
            case 3 -> {
                byte[] bytes = in.readAllBytes();
                return "all: " + got(end, bytes, 0, bytes.length);
            }
            case 4 -> {
                byte[] bytes = new byte[MOST];
                return got(end, bytes, 5, in.readNBytes(bytes, 5, length));
            }
            default -> {
                ByteArrayOutputStream target = new ByteArrayOutputStream();
                long count = in.transferTo(length < 0 ? null : target);
                return "transferred " + count + ", " + got(end, target.toByteArray(), 0, target.toByteArray().length);
            }
        }
    }

    private static String available(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        int available = in(end, kept).available();
        return end.flooded ? "some or none" : "available " + available;
    }

    // ---- streams ----

    private static String takeStreams(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        if (chance.nextBoolean()) {
            end.in = end.socket.getInputStream();
            InputStream in = end.in;
            in.mark(1);
            return "input, the same: " + (in == end.socket.getInputStream()) + ", marks: " + in.markSupported();
        }
        end.out = end.socket.getOutputStream();
        return "output, the same: " + (end.out == end.socket.getOutputStream());
    }

    private static String closeStream(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        boolean kept = chance.nextBoolean();
        if (chance.nextBoolean()) {
            in(end, kept).close();
        } else {
            out(end, kept).close();
        }
        world.news();
        return "closed";
    }
}
