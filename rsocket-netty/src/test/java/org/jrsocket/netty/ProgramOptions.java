/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import jdk.net.ExtendedSocketOptions;

/** Random calls of a channel's configuration. */
@SuppressWarnings({"deprecation", "ReferenceEquality"}) // all options; which are constants
final class ProgramOptions {

    private static final List<ChannelOption<?>> OPTIONS = List.of(
            ChannelOption.ALLOCATOR,
            ChannelOption.RECVBUF_ALLOCATOR,
            ChannelOption.MESSAGE_SIZE_ESTIMATOR,
            ChannelOption.CONNECT_TIMEOUT_MILLIS,
            ChannelOption.MAX_MESSAGES_PER_READ,
            ChannelOption.MAX_MESSAGES_PER_WRITE,
            ChannelOption.WRITE_SPIN_COUNT,
            ChannelOption.WRITE_BUFFER_HIGH_WATER_MARK,
            ChannelOption.WRITE_BUFFER_LOW_WATER_MARK,
            ChannelOption.WRITE_BUFFER_WATER_MARK,
            ChannelOption.ALLOW_HALF_CLOSURE,
            ChannelOption.AUTO_READ,
            ChannelOption.AUTO_CLOSE,
            ChannelOption.SO_BROADCAST,
            ChannelOption.SO_KEEPALIVE,
            ChannelOption.SO_SNDBUF,
            ChannelOption.SO_RCVBUF,
            ChannelOption.SO_REUSEADDR,
            ChannelOption.SO_LINGER,
            ChannelOption.SO_BACKLOG,
            ChannelOption.SO_TIMEOUT,
            ChannelOption.IP_TOS,
            ChannelOption.IP_MULTICAST_ADDR,
            ChannelOption.IP_MULTICAST_TTL,
            ChannelOption.TCP_NODELAY,
            ChannelOption.TCP_FASTOPEN,
            ChannelOption.TCP_FASTOPEN_CONNECT,
            ChannelOption.SINGLE_EVENTEXECUTOR_PER_GROUP,
            NioChannelOption.of(StandardSocketOptions.SO_KEEPALIVE),
            NioChannelOption.of(StandardSocketOptions.SO_LINGER),
            NioChannelOption.of(StandardSocketOptions.SO_REUSEADDR),
            NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT),
            NioChannelOption.of(StandardSocketOptions.SO_SNDBUF),
            NioChannelOption.of(StandardSocketOptions.SO_RCVBUF),
            NioChannelOption.of(StandardSocketOptions.TCP_NODELAY),
            NioChannelOption.of(StandardSocketOptions.IP_TOS),
            NioChannelOption.of(StandardSocketOptions.IP_MULTICAST_LOOP),
            NioChannelOption.of(StandardSocketOptions.SO_BROADCAST),
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE),
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL),
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT),
            NioChannelOption.of(ExtendedSocketOptions.TCP_QUICKACK));

    private ProgramOptions() {}

    @SuppressWarnings("unchecked") // wrong types are meant
    static String set(ProgramChannel on, Random chance) {
        ChannelOption<Object> option = (ChannelOption<Object>) OPTIONS.get(chance.nextInt(OPTIONS.size()));
        Object value = value(option, chance);
        String name = option + "=" + text(value) + " ";
        return name + NettyWorld.outcome(() -> "" + on.channel.config().setOption(option, value)) + ", "
                + NettyWorld.outcome(() -> text(option, on.channel.config().getOption(option)));
    }

    static String get(ProgramChannel on, Random chance) {
        ChannelOption<?> option = OPTIONS.get(chance.nextInt(OPTIONS.size()));
        return option + " "
                + NettyWorld.outcome(() -> text(option, on.channel.config().getOption(option)));
    }

    static String getAll(ProgramChannel on, Random chance) {
        Map<String, String> all = new TreeMap<>();
        on.channel.config().getOptions().forEach((option, value) -> {
            if (!option.name().startsWith(RdmaChannelOption.class.getName())) {
                all.put(option.name(), text(option, value));
            }
        });
        return all.toString();
    }

    /** Buffers become no smaller than what is on its way at once. */
    private static Object value(ChannelOption<?> option, Random chance) {
        String name = option.name();
        int kind = chance.nextInt(12);
        if (kind == 0) {
            return null;
        }
        if (kind == 1) {
            return "text";
        }
        if (name.contains("BUF") && name.contains("SO_")) {
            return new Integer[] {0, -1, 100_000, 1 << 20}[chance.nextInt(4)];
        }
        if (option == ChannelOption.ALLOCATOR) {
            return chance.nextBoolean() ? UnpooledByteBufAllocator.DEFAULT : ProgramMessages.ADAPTIVE;
        }
        if (option == ChannelOption.RECVBUF_ALLOCATOR) {
            return chance.nextBoolean()
                    ? new AdaptiveRecvByteBufAllocator()
                    : new FixedRecvByteBufAllocator(chance.nextInt(5000) + 1);
        }
        if (option == ChannelOption.MESSAGE_SIZE_ESTIMATOR) {
            return new DefaultMessageSizeEstimator(chance.nextInt(100));
        }
        if (option == ChannelOption.WRITE_BUFFER_WATER_MARK) {
            int low = chance.nextInt(2000);
            return new WriteBufferWaterMark(low, low + chance.nextInt(3000));
        }
        if (option == ChannelOption.IP_MULTICAST_ADDR) {
            return InetAddress.getLoopbackAddress();
        }
        if (name.contains("LINGER")) {
            return new Integer[] {-1, 0, 0, 1, 5, 100_000}[chance.nextInt(6)];
        }
        boolean flag = name.contains("AUTO")
                || name.contains("ALLOW")
                || name.contains("NODELAY")
                || name.contains("KEEPALIVE")
                || name.contains("REUSE")
                || name.contains("BROADCAST")
                || name.contains("QUICKACK")
                || name.contains("LOOP")
                || name.contains("FASTOPEN_CONNECT")
                || name.contains("PER_GROUP");
        if (flag) {
            return chance.nextBoolean();
        }
        return new Integer[] {0, 1, -1, 2, 8, 100, 3000, 40_000, Integer.MAX_VALUE, Integer.MIN_VALUE}
                [chance.nextInt(10)];
    }

    /** A buffer's size is the connection's memory: it has bounds and rules of its own. The kernel changes a flag. */
    private static String text(ChannelOption<?> option, Object value) {
        if (option.name().equals("TCP_QUICKACK") && value instanceof Boolean) {
            return "a flag";
        }
        return option.name().matches("SO_(SND|RCV)BUF") && value instanceof Integer size && size > 0
                ? "a size"
                : text(value);
    }

    /** Values without texts of their own, by what they are. */
    private static String text(Object value) {
        if (value == null || value instanceof Boolean || value instanceof Number || value instanceof String) {
            return String.valueOf(value);
        }
        if (value instanceof WriteBufferWaterMark mark) {
            return mark.low() + ".." + mark.high();
        }
        return value.equals(ByteBufAllocator.DEFAULT) || value == RdmaByteBufAllocator.DEFAULT
                ? "default"
                : value.getClass().getSimpleName();
    }

    /** Methods that have the same effect as options, and those that have no option. */
    static String call(ProgramChannel on, Random chance) {
        ChannelConfig config = on.channel.config();
        int n = new int[] {0, 1, -1, 5, 1000, 70_000}[chance.nextInt(6)];
        if (config instanceof SocketChannelConfig socket) {
            return switch (chance.nextInt(14)) {
                case 0 ->
                    "performance " + NettyWorld.outcome(() -> same(socket, socket.setPerformancePreferences(1, 2, n)));
                case 1 ->
                    "trafficClass " + NettyWorld.outcome(() -> same(socket, socket.setTrafficClass(n))) + " "
                            + NettyWorld.outcome(() -> "" + socket.getTrafficClass());
                case 2 -> "linger " + NettyWorld.outcome(() -> "" + socket.getSoLinger());
                case 3 ->
                    "nodelay " + NettyWorld.outcome(() -> same(socket, socket.setTcpNoDelay(n > 0))) + " "
                            + NettyWorld.outcome(() -> "" + socket.isTcpNoDelay());
                case 4 ->
                    "reuse " + NettyWorld.outcome(() -> same(socket, socket.setReuseAddress(n > 0))) + " "
                            + NettyWorld.outcome(() -> "" + socket.isReuseAddress());
                case 5 ->
                    "keep " + NettyWorld.outcome(() -> same(socket, socket.setKeepAlive(n > 0))) + " "
                            + NettyWorld.outcome(() -> "" + socket.isKeepAlive());
                case 6 -> "half " + NettyWorld.outcome(() -> same(socket, socket.setAllowHalfClosure(true)));
                case 7 -> "reset " + NettyWorld.outcome(() -> same(socket, socket.setSoLinger(0)));
                case 8 -> "send " + NettyWorld.outcome(() -> "" + (socket.getSendBufferSize() > 0));
                case 9 -> "receive " + NettyWorld.outcome(() -> "" + (socket.getReceiveBufferSize() > 0));
                default -> common(config, n, chance);
            };
        }
        if (config instanceof ServerSocketChannelConfig server && chance.nextBoolean()) {
            return switch (chance.nextInt(3)) {
                case 0 ->
                    "backlog " + n + " " + NettyWorld.outcome(() -> same(server, server.setBacklog(n))) + " "
                            + server.getBacklog();
                case 1 ->
                    "reuse " + NettyWorld.outcome(() -> same(server, server.setReuseAddress(n > 0))) + " "
                            + NettyWorld.outcome(() -> "" + server.isReuseAddress());
                default ->
                    "performance " + NettyWorld.outcome(() -> same(server, server.setPerformancePreferences(1, 2, n)));
            };
        }
        return common(config, n, chance);
    }

    private static String common(ChannelConfig config, int n, Random chance) {
        return switch (chance.nextInt(8)) {
            case 0 -> "autoRead " + n + NettyWorld.outcome(() -> same(config, config.setAutoRead(n > 0)));
            case 1 -> "autoClose " + n + NettyWorld.outcome(() -> same(config, config.setAutoClose(n > 0)));
            case 2 ->
                "spin " + n + NettyWorld.outcome(() -> same(config, config.setWriteSpinCount(n)))
                        + config.getWriteSpinCount();
            case 3 ->
                "high " + n + NettyWorld.outcome(() -> same(config, config.setWriteBufferHighWaterMark(n)))
                        + config.getWriteBufferHighWaterMark();
            case 4 ->
                "low " + n + NettyWorld.outcome(() -> same(config, config.setWriteBufferLowWaterMark(n)))
                        + config.getWriteBufferLowWaterMark();
            case 5 ->
                "timeout " + n
                        + NettyWorld.outcome(
                                () -> same(config, config.setConnectTimeoutMillis(n == 1 || n == 5 ? 0 : n)))
                        + config.getConnectTimeoutMillis();
            case 6 ->
                "messages " + n + NettyWorld.outcome(() -> same(config, config.setMaxMessagesPerRead(n)))
                        + NettyWorld.outcome(() -> "" + config.getMaxMessagesPerRead());
            default -> "null " + NettyWorld.outcome(() -> same(config, config.setAllocator(null)));
        };
    }

    private static String same(Object one, Object other) {
        return one == other ? "itself" : "another " + other;
    }
}
