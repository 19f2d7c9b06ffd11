/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.net.NetWorld.End;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls that set options and ask for them. */
final class OptionSteps {

    private static final SocketOption<?>[] OPTIONS = {
        null,
        StandardSocketOptions.SO_RCVBUF,
        StandardSocketOptions.SO_SNDBUF,
        StandardSocketOptions.SO_KEEPALIVE,
        StandardSocketOptions.SO_REUSEADDR,
        StandardSocketOptions.SO_REUSEPORT,
        StandardSocketOptions.SO_LINGER,
        StandardSocketOptions.TCP_NODELAY,
        StandardSocketOptions.IP_TOS,
        StandardSocketOptions.SO_BROADCAST,
        StandardSocketOptions.IP_MULTICAST_TTL,
        ExtendedSocketOptions.TCP_KEEPIDLE,
        ExtendedSocketOptions.TCP_KEEPINTERVAL,
        ExtendedSocketOptions.TCP_KEEPCOUNT,
        ExtendedSocketOptions.TCP_QUICKACK,
        ExtendedSocketOptions.SO_INCOMING_NAPI_ID
    };

    private OptionSteps() {}

    static void addTo(RandomPrograms<NetWorld> programs) {
        programs.with(4, "set timeout", OptionSteps::setTimeout)
                .with(1, "set timeout of server", OptionSteps::setTimeoutOfServer)
                .with(3, "set", OptionSteps::set)
                .with(4, "get", OptionSteps::get)
                .with(2, "set on server", OptionSteps::setOnServer)
                .with(1, "get of server", OptionSteps::getOfServer)
                .with(4, "set option", OptionSteps::setOption)
                .with(4, "get option", OptionSteps::getOption)
                .with(1, "supported options", OptionSteps::supported);
    }

    private static int timeout(Random chance) {
        int[] timeouts = {0, 0, 1, 2, 5, 60_000, Integer.MAX_VALUE, -1, Integer.MIN_VALUE};
        return timeouts[chance.nextInt(timeouts.length)];
    }

    /** Mostly in bounds. */
    private static int number(Random chance) {
        int[] odd = {0, 1, -1, 2, 8, 0x10, 100, 255, 256, 65535, 65536, Integer.MAX_VALUE, Integer.MIN_VALUE};
        return chance.nextBoolean() ? chance.nextInt(256) : odd[chance.nextInt(odd.length)];
    }

    /** Mostly large enough that it does not matter to what is under way. */
    private static int size(Random chance) {
        int[] odd = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE};
        return chance.nextInt(3) == 0 ? odd[chance.nextInt(odd.length)] : 30_000 + chance.nextInt(100_000);
    }

    private static String setTimeout(NetWorld world, Random chance) throws IOException {
        End end = world.end(chance);
        if (end.reading > 1 && !world.timeoutsCoverTurns()) {
            return "left to chance";
        }
        Socket socket = end.socket;
        socket.setSoTimeout(timeout(chance));
        return "now " + socket.getSoTimeout();
    }

    private static String setTimeoutOfServer(NetWorld world, Random chance) throws IOException {
        ServerSocket socket = world.server(chance).socket;
        socket.setSoTimeout(timeout(chance));
        return "now " + socket.getSoTimeout();
    }

    /** Linger times are short, because a close may wait for one. */
    private static int seconds(Random chance) {
        int[] odd = {0, 1, -1, Integer.MIN_VALUE, 1};
        return odd[chance.nextInt(odd.length)];
    }

    private static String set(NetWorld world, Random chance) throws IOException {
        End end = world.end(chance);
        Socket socket = end.socket;
        boolean on = chance.nextBoolean();
        switch (chance.nextInt(9)) {
            case 0 -> {
                socket.setTcpNoDelay(on);
                return "no delay, now " + socket.getTcpNoDelay();
            }
            case 1 -> {
                socket.setKeepAlive(on);
                return "keep alive, now " + socket.getKeepAlive();
            }
            case 2 -> {
                socket.setReuseAddress(on);
                return "reuse, now " + socket.getReuseAddress();
            }
            case 3 -> {
                if (!end.flooded) {
                    end.inline = true;
                    socket.setOOBInline(on);
                }
                return "inline, now " + socket.getOOBInline();
            }
            case 4 -> {
                socket.setSoLinger(on, seconds(chance));
                return "linger, now " + socket.getSoLinger();
            }
            case 5 -> {
                socket.setTrafficClass(number(chance));
                return "class, now " + socket.getTrafficClass();
            }
            case 6 -> {
                socket.setSendBufferSize(size(chance));
                return "send buffer, now " + size(socket, socket.getSendBufferSize());
            }
            case 7 -> {
                socket.setReceiveBufferSize(size(chance));
                return "receive buffer, now " + size(socket, socket.getReceiveBufferSize());
            }
            default -> {
                socket.setPerformancePreferences(number(chance), number(chance), number(chance));
                return "preferences";
            }
        }
    }

    /** Sizes of connections are up to the kernel, or up to our settings. */
    private static String size(Socket socket, Object size) {
        return socket.isConnected() ? "some" : String.valueOf(size);
    }

    private static String get(NetWorld world, Random chance) throws IOException {
        Socket socket = world.end(chance).socket;
        return switch (chance.nextInt(9)) {
            case 0 -> "no delay " + socket.getTcpNoDelay();
            case 1 -> "keep alive " + socket.getKeepAlive();
            case 2 -> "reuse " + socket.getReuseAddress();
            case 3 -> "inline " + socket.getOOBInline();
            case 4 -> "linger " + socket.getSoLinger();
            case 5 -> "class " + socket.getTrafficClass();
            case 6 -> "send buffer " + size(socket, socket.getSendBufferSize());
            case 7 -> "receive buffer " + size(socket, socket.getReceiveBufferSize());
            default -> "timeout " + socket.getSoTimeout();
        };
    }

    private static String setOnServer(NetWorld world, Random chance) throws IOException {
        ServerSocket socket = world.server(chance).socket;
        switch (chance.nextInt(3)) {
            case 0 -> {
                socket.setReuseAddress(chance.nextBoolean());
                return "reuse, now " + socket.getReuseAddress();
            }
            case 1 -> {
                socket.setReceiveBufferSize(size(chance));
                return "receive buffer, now " + socket.getReceiveBufferSize();
            }
            default -> {
                socket.setPerformancePreferences(number(chance), number(chance), number(chance));
                return "preferences";
            }
        }
    }

    private static String getOfServer(NetWorld world, Random chance) throws IOException {
        ServerSocket socket = world.server(chance).socket;
        return switch (chance.nextInt(3)) {
            case 0 -> "reuse " + socket.getReuseAddress();
            case 1 -> "receive buffer " + socket.getReceiveBufferSize();
            default -> "timeout " + socket.getSoTimeout();
        };
    }

    // ---- options by name ----

    @SuppressWarnings("unchecked") // on purpose: values of other types
    private static SocketOption<Object> option(Random chance) {
        return (SocketOption<Object>) OPTIONS[chance.nextInt(OPTIONS.length)];
    }

    private static Object value(SocketOption<?> option, Random chance) {
        if (chance.nextInt(8) == 0) {
            Object[] odd = {null, "text", 1L, 1, true};
            return odd[chance.nextInt(odd.length)];
        }
        if (option == null || option.type() == Boolean.class) {
            return chance.nextBoolean();
        }
        return switch (option.name()) {
            case "SO_SNDBUF", "SO_RCVBUF" -> size(chance);
            case "SO_LINGER" -> seconds(chance);
            default -> number(chance);
        };
    }

    private static String setOption(NetWorld world, Random chance) throws IOException {
        SocketOption<Object> option = option(chance);
        Object value = value(option, chance);
        if (chance.nextInt(3) == 0) {
            ServerSocket server = world.server(chance).socket;
            return option + " " + value + ", the same: " + (server.setOption(option, value) == server);
        }
        Socket socket = world.end(chance).socket;
        return option + " " + value + ", the same: " + (socket.setOption(option, value) == socket);
    }

    private static String getOption(NetWorld world, Random chance) throws IOException {
        SocketOption<Object> option = option(chance);
        if (chance.nextInt(3) == 0) {
            return option + " " + world.server(chance).socket.getOption(option);
        }
        Socket socket = world.end(chance).socket;
        Object value = socket.getOption(option);
        boolean isSize = option == (Object) StandardSocketOptions.SO_SNDBUF
                || option == (Object) StandardSocketOptions.SO_RCVBUF;
        boolean kernels = option == (Object) ExtendedSocketOptions.TCP_QUICKACK && socket.isConnected();
        return option + " " + (isSize ? size(socket, value) : kernels ? "some" : value);
    }

    private static String supported(NetWorld world, Random chance) {
        Set<SocketOption<?>> options = chance.nextInt(3) == 0
                ? world.server(chance).socket.supportedOptions()
                : world.end(chance).socket.supportedOptions();
        Set<String> names = new TreeSet<>();
        for (SocketOption<?> option : options) {
            names.add(option.name());
        }
        return names.toString();
    }
}
