/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls of channels by random programs. */
final class ChannelCalls {

    private static final Set<String> BUFFERS = Set.of("SO_SNDBUF", "SO_RCVBUF");

    private ChannelCalls() {}

    static void addTo(RandomPrograms<ChannelWorld> programs) {
        programs.with(6, "connect", ChannelCalls::connect)
                .with(6, "finishConnect", (w, c) -> onChannel(w, c, SocketChannel::finishConnect))
                .with(2, "bind", ChannelCalls::bind)
                .with(3, "listen", ChannelCalls::listen)
                .with(7, "accept", (w, c) -> {
                    var listener = w.listener(c);
                    return w.call(rarely(c), () -> w.accepted(listener.accept()));
                })
                .with(10, "read", ChannelCalls::read)
                .with(4, "read several", ChannelCalls::readSeveral)
                .with(12, "write", ChannelCalls::write)
                .with(4, "write several", ChannelCalls::writeSeveral)
                .with(2, "shutdownInput", (w, c) -> onChannel(w, c, SocketChannel::shutdownInput))
                .with(3, "shutdownOutput", (w, c) -> onChannel(w, c, SocketChannel::shutdownOutput))
                .with(8, "state", ChannelCalls::state)
                .with(6, "configureBlocking", ChannelCalls::configureBlocking)
                .with(
                        3,
                        "close",
                        (w, c) -> onChannel(w, c, channel -> {
                            if (w.isSelected(channel)) {
                                return "none";
                            }
                            channel.close();
                            return null;
                        }))
                .with(1, "reset", ChannelCalls::reset)
                .with(1, "close listener", (w, c) -> {
                    var listener = w.listener(c);
                    String outcome = w.call(() -> {
                        listener.close();
                        return null;
                    });
                    w.endClosed();
                    return outcome;
                })
                .with(3, "option", ChannelCalls::option)
                .with(2, "interrupt", (w, c) -> w.interrupt())
                .with(4, "renew", ChannelWorld::renewed);
    }

    /** One call of a channel. */
    interface Call<T> {
        Object of(T channel) throws Exception;
    }

    /** Then waits for its effect on the other end. */
    static String onChannel(ChannelWorld world, Random chance, Call<SocketChannel> call) throws Exception {
        int place = ChannelWorld.place(chance);
        SocketChannel channel = world.channel(place);
        if (channel == null) {
            return "none";
        }
        boolean connected = channel.isConnected();
        String outcome = world.text(channel) + " " + world.call(rarely(chance), () -> call.of(channel));
        world.settle();
        if (connected && !channel.isOpen()) {
            world.endClosed();
        }
        return outcome;
    }

    static boolean rarely(Random chance) {
        return chance.nextInt(25) == 0;
    }

    // ---- addresses ----

    private static SocketAddress target(ChannelWorld world, Random chance) throws IOException {
        InetSocketAddress target = world.target(chance);
        return switch (chance.nextInt(24)) {
            case 0 -> null;
            case 1 -> InetSocketAddress.createUnresolved("nobody.invalid", 7);
            case 2 -> UnixDomainSocketAddress.of("/nowhere/at/all");
            case 3 -> new InetSocketAddress(world.kind.address(), 0);
            case 4 -> new InetSocketAddress(target.getPort());
            case 5 -> new InetSocketAddress("::1", target.getPort());
            case 6 -> new SocketAddress() {};
            case 7 -> new InetSocketAddress("127.0.0.2", target.getPort());
            default ->
                target.getAddress().isAnyLocalAddress()
                        ? new InetSocketAddress(world.kind.address(), target.getPort())
                        : target;
        };
    }

    static SocketAddress local(ChannelWorld world, Random chance) throws IOException {
        return switch (chance.nextInt(16)) {
            case 0 -> null;
            case 1 -> InetSocketAddress.createUnresolved("nobody.invalid", 7);
            case 2 -> UnixDomainSocketAddress.of("/nowhere/at/all");
            case 3 -> new InetSocketAddress("192.0.2.1", 0);
            case 4 -> world.target(chance); // taken
            case 5 -> new InetSocketAddress("::1", 0);
            case 6, 7 -> new InetSocketAddress(0);
            default -> new InetSocketAddress(world.kind.address(), 0);
        };
    }

    private static String connect(ChannelWorld world, Random chance) throws Exception {
        SocketAddress target = target(world, chance);
        if (chance.nextInt(3) > 0) {
            return onChannel(world, chance, channel -> channel.connect(target));
        }
        int millis = chance.nextInt(6) == 0 ? -1 : chance.nextBoolean() ? 0 : 5000;
        return onChannel(world, chance, channel -> {
            Socket socket = channel.socket();
            if (millis == 0) {
                socket.connect(target);
            } else {
                socket.connect(target, millis);
            }
            return null;
        });
    }

    private static String bind(ChannelWorld world, Random chance) throws Exception {
        SocketAddress local = local(world, chance);
        if (chance.nextBoolean()) {
            return onChannel(world, chance, channel -> channel.bind(local));
        }
        return onChannel(world, chance, channel -> {
            channel.socket().bind(local);
            return null;
        });
    }

    private static String listen(ChannelWorld world, Random chance) throws Exception {
        SocketAddress local = local(world, chance);
        var listener = world.listener(chance);
        int backlog = chance.nextInt(30) - 2;
        boolean adaptor = chance.nextInt(3) == 0;
        return world.call(() -> {
            ServerSocket socket = adaptor ? listener.socket() : null;
            if (socket == null) {
                return backlog < 1 ? listener.bind(local) : listener.bind(local, backlog);
            } else if (backlog < 5) {
                socket.bind(local);
            } else {
                socket.bind(local, backlog);
            }
            return null;
        });
    }

    // ---- bytes ----

    private static final int[] SIZES = {0, 1, 1, 2, 10, 100, 500};

    private static int size(Random chance) {
        return SIZES[chance.nextInt(SIZES.length)];
    }

    /** Of random kind; with what is to be written if that is asked for. */
    private static ByteBuffer buffer(ChannelWorld world, SocketChannel writer, Random chance) {
        int kind = chance.nextInt(20);
        if (kind == 0) {
            return null;
        }
        int size = size(chance);
        int length = writer == null ? size : world.room(writer, size);
        ByteBuffer buffer = (kind < 8 ? ByteBuffer.allocateDirect(length + 9) : ByteBuffer.allocate(length + 9))
                .position(3)
                .slice();
        if (writer != null) {
            int from = world.writes(writer, length);
            for (int i = 0; i < length; i++) {
                buffer.put((byte) (from + i));
            }
            buffer.flip();
        }
        buffer.limit(length);
        return kind == 1 ? buffer.asReadOnlyBuffer() : buffer;
    }

    private static ByteBuffer[] buffers(ChannelWorld world, SocketChannel writer, Random chance) {
        if (chance.nextInt(20) == 0) {
            return null;
        }
        ByteBuffer[] all = new ByteBuffer[chance.nextInt(5)];
        for (int i = 0; i < all.length; i++) {
            all[i] = buffer(world, writer, chance);
        }
        return all;
    }

    private interface Read {
        long run() throws IOException;
    }

    /** Reads until nothing more is there: ours looks for more only when it knows of nothing. */
    private static String read(SocketChannel channel, ByteBuffer[] into, int from, int to, Read read)
            throws IOException {
        long n = read.run();
        long sum = n;
        while (n > 0 && hasRemaining(into, from, to) && isMoreThere(channel)) {
            n = read.run();
            sum += Math.max(0, n);
        }
        StringBuilder text = new StringBuilder().append(sum);
        for (ByteBuffer each : into) {
            text.append(
                    each == null
                            ? " null"
                            : " " + ChannelWorld.text(each.duplicate().flip()));
        }
        return text.toString();
    }

    private static boolean hasRemaining(ByteBuffer[] buffers, int from, int to) {
        for (int i = from; i < to; i++) {
            if (buffers[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    private static boolean isMoreThere(SocketChannel channel) throws IOException {
        return channel.isOpen()
                && !channel.socket().isInputShutdown()
                && channel.socket().getInputStream().available() > 0;
    }

    private static String read(ChannelWorld world, Random chance) throws Exception {
        ByteBuffer target = buffer(world, null, chance);
        return onChannel(
                world, chance, channel -> read(channel, new ByteBuffer[] {target}, 0, 1, () -> channel.read(target)));
    }

    private static String readSeveral(ChannelWorld world, Random chance) throws Exception {
        ByteBuffer[] targets = buffers(world, null, chance);
        boolean all = chance.nextBoolean();
        int offset = chance.nextInt(4) - 1;
        int length = chance.nextInt(4) - 1;
        return onChannel(
                world,
                chance,
                channel -> all
                        ? read(channel, targets, 0, targets == null ? 0 : targets.length, () -> channel.read(targets))
                        : read(channel, targets, offset, offset + length, () -> channel.read(targets, offset, length)));
    }

    private static String write(ChannelWorld world, Random chance) throws Exception {
        return onChannel(world, chance, channel -> {
            if (world.isPeerDeaf(channel)) {
                return "none";
            }
            ByteBuffer source = buffer(world, channel, chance);
            return channel.write(source) + " left " + source.remaining();
        });
    }

    private static String writeSeveral(ChannelWorld world, Random chance) throws Exception {
        boolean all = chance.nextBoolean();
        int offset = chance.nextInt(4) - 1;
        int length = chance.nextInt(4) - 1;
        return onChannel(world, chance, channel -> {
            if (world.isPeerDeaf(channel)) {
                return "none";
            }
            ByteBuffer[] sources = buffers(world, channel, chance);
            return all ? channel.write(sources) : channel.write(sources, offset, length);
        });
    }

    // ---- state ----

    private static String state(ChannelWorld world, Random chance) throws Exception {
        if (chance.nextInt(4) == 0) {
            var listener = world.listener(chance);
            return world.call(() -> listener
                    + " " + listener.isRegistered()
                    + " " + listener.isBlocking()
                    + " " + listener.validOps()
                    + " " + listener.socket().isBound()
                    + " " + listener.socket().isClosed()
                    + " " + (listener.isOpen() ? listener.getLocalAddress() : "closed"));
        }
        int which = chance.nextInt(5);
        return onChannel(world, chance, channel -> switch (which) {
            case 0 -> channel.getLocalAddress() + " " + channel.getRemoteAddress();
            case 1 -> channel.provider() == world.kind.provider() && channel.blockingLock() != null;
            default ->
                channel
                        + " " + channel.isConnected()
                        + " " + channel.isConnectionPending()
                        + " " + channel.isRegistered()
                        + " " + channel.isBlocking()
                        + " " + channel.validOps();
        });
    }

    private static String configureBlocking(ChannelWorld world, Random chance) throws Exception {
        boolean block = chance.nextInt(3) == 0;
        if (chance.nextInt(3) == 0) {
            var listener = world.listener(chance);
            return world.call(() -> listener.configureBlocking(block));
        }
        return onChannel(world, chance, channel -> channel.configureBlocking(block));
    }

    private static String reset(ChannelWorld world, Random chance) throws Exception {
        return onChannel(world, chance, channel -> {
            if (world.isSelected(channel)) {
                return "none";
            }
            if (channel.isOpen()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            channel.close();
            return null;
        });
    }

    // ---- options ----

    private static final List<Object> VALUES = new ArrayList<>();

    static {
        VALUES.add(null);
        VALUES.addAll(List.of(true, false, -1, 0, 1, 16, 255, 256, 65536, 100_000, "text"));
    }

    private static List<SocketOption<?>> options(Set<SocketOption<?>> supported) {
        List<SocketOption<?>> options = new ArrayList<>(supported);
        options.sort(Comparator.comparing(SocketOption::name));
        options.add(null);
        options.add(StandardSocketOptions.IP_MULTICAST_TTL);
        return options;
    }

    @SuppressWarnings("unchecked") // on purpose: values of any type
    private static Object set(SocketChannel channel, SocketOption<?> option, Object value) throws IOException {
        return channel.setOption((SocketOption<Object>) option, value);
    }

    @SuppressWarnings("unchecked") // the same
    private static Object set(ServerSocketChannel listener, SocketOption<?> option, Object value) throws IOException {
        return listener.setOption((SocketOption<Object>) option, value);
    }

    private static String option(ChannelWorld world, Random chance) throws Exception {
        boolean set = chance.nextBoolean();
        Object value = VALUES.get(chance.nextInt(VALUES.size()));
        int which = chance.nextInt(1000);
        if (chance.nextInt(4) == 0) {
            var listener = world.listener(chance);
            List<SocketOption<?>> options = options(listener.supportedOptions());
            SocketOption<?> option = options.get(which % options.size());
            if (tooSmall(option, value)) {
                return "none";
            }
            return option + " "
                    + world.call(() -> set ? set(listener, option, value) : got(option, listener.getOption(option)));
        }
        return onChannel(world, chance, channel -> {
            List<SocketOption<?>> options = options(channel.supportedOptions());
            SocketOption<?> option = options.get(which % options.size());
            if (tooSmall(option, value)) {
                return "none";
            }
            return option + " " + (set ? set(channel, option, value) : got(option, channel.getOption(option)));
        });
    }

    /** A buffer that does not hold what a program writes. */
    private static boolean tooSmall(SocketOption<?> option, Object value) {
        return option != null && BUFFERS.contains(option.name()) && value instanceof Integer n && n >= 0 && n < 65536;
    }

    /** Sizes of buffers are those in force, which over RDMA are others; the kernel changes the third as it likes. */
    private static Object got(SocketOption<?> option, Object value) {
        boolean differs = BUFFERS.contains(option.name()) || option.name().equals("TCP_QUICKACK");
        return differs ? "some" : value;
    }
}
