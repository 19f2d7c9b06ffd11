/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls of {@code channel.socket()} by random programs. */
final class AdaptorCalls {

    private static final int[] NUMBERS = {-1, 0, 1, 16, 255, 256, 65536, 100_000};

    private AdaptorCalls() {}

    static void addTo(RandomPrograms<ChannelWorld> programs) {
        programs.with(5, "socket: read", AdaptorCalls::read)
                .with(5, "socket: write", AdaptorCalls::write)
                .with(3, "socket: state", AdaptorCalls::state)
                .with(2, "socket: timeout", AdaptorCalls::timeout)
                .with(2, "socket: get option", AdaptorCalls::get)
                .with(2, "socket: set option", AdaptorCalls::set)
                .with(2, "socket: end", AdaptorCalls::end)
                .with(4, "server socket: accept", (w, c) -> {
                    ServerSocket socket = w.listener(c).socket();
                    return w.call(
                            ChannelCalls.rarely(c),
                            () -> w.accepted(socket.accept().getChannel()));
                })
                .with(3, "server socket", AdaptorCalls::listener);
    }

    private static String onSocket(ChannelWorld world, Random chance, ChannelCalls.Call<Socket> call) throws Exception {
        return ChannelCalls.onChannel(world, chance, channel -> call.of(channel.socket()));
    }

    private static String bytes(byte[] target, int offset, int n) {
        return n + (n > 0 ? " " + ChannelWorld.text(ByteBuffer.wrap(target, offset, n)) : "");
    }

    private static String read(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(8);
        int offset = chance.nextInt(20) - 1;
        int length = chance.nextInt(40) - 1;
        return onSocket(world, chance, socket -> {
            InputStream in = socket.getInputStream();
            byte[] target = new byte[which == 7 ? 10 : 200];
            return switch (which) {
                case 0 -> in.read();
                case 1 -> in.available();
                case 2 -> bytes(target, 0, read(in, target, 0, target.length));
                case 3 -> in.skip(length);
                case 4 -> in.read(null, offset, length);
                case 5 -> in.readNBytes(Math.max(0, Math.min(in.available(), length))).length;
                default -> bytes(target, offset, read(in, target, offset, length));
            };
        });
    }

    /** One read or several: ours looks for more only when it knows of nothing. */
    private static int read(InputStream in, byte[] target, int offset, int length) throws IOException {
        int sum = in.read(target, offset, length);
        while (sum > 0 && sum < length && in.available() > 0) {
            sum += in.read(target, offset + sum, length - sum);
        }
        return sum;
    }

    private static String write(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(7);
        int offset = chance.nextInt(20) - 1;
        int wanted = chance.nextInt(100) - 1;
        return ChannelCalls.onChannel(world, chance, channel -> {
            if (world.isPeerDeaf(channel)) {
                return "none";
            }
            int length = wanted < 0 ? wanted : world.room(channel, wanted);
            int from = world.writes(channel, Math.max(1, length));
            byte[] source = new byte[100];
            for (int i = 0; i < length; i++) {
                source[Math.min(source.length - 1, Math.max(0, offset) + i)] = (byte) (from + i);
            }
            var out = channel.socket().getOutputStream();
            switch (which) {
                case 0 -> out.write(from);
                case 1 -> out.flush();
                case 2 -> out.write(null, offset, length);
                default -> out.write(source, offset, length);
            }
            return length;
        });
    }

    private static String state(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(14);
        return onSocket(world, chance, socket -> switch (which) {
            case 0, 1, 2, 3, 4 ->
                socket.isBound()
                        + " " + socket.isConnected()
                        + " " + socket.isClosed()
                        + " " + socket.isInputShutdown()
                        + " " + socket.isOutputShutdown()
                        + " " + socket;
            case 5 -> socket.getInetAddress();
            case 6 -> socket.getLocalAddress();
            case 7 -> "port=" + socket.getPort();
            case 8 -> "port=" + socket.getLocalPort();
            case 9 -> socket.getRemoteSocketAddress();
            case 10 -> socket.getLocalSocketAddress();
            case 11 -> socket.getChannel();
            default -> socket.toString();
        });
    }

    private static String timeout(ChannelWorld world, Random chance) throws Exception {
        int millis = chance.nextInt(5) - 1;
        return onSocket(world, chance, socket -> {
            int before = socket.getSoTimeout();
            socket.setSoTimeout(millis);
            return before + " " + socket.getSoTimeout();
        });
    }

    private static String get(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(9);
        return onSocket(world, chance, socket -> switch (which) {
            case 0 -> socket.getTcpNoDelay();
            case 1 -> socket.getSoLinger();
            case 2 -> socket.getOOBInline();
            case 3 -> socket.getSendBufferSize() > 0;
            case 4 -> socket.getReceiveBufferSize() > 0;
            case 5 -> socket.getKeepAlive();
            case 6 -> socket.getTrafficClass();
            case 7 -> socket.getReuseAddress();
            default -> socket.supportedOptions().size();
        });
    }

    private static String set(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(9);
        boolean on = chance.nextBoolean();
        int number = NUMBERS[chance.nextInt(NUMBERS.length)];
        return onSocket(world, chance, socket -> {
            switch (which) {
                case 0 -> socket.setTcpNoDelay(on);
                case 1 -> socket.setSoLinger(on, number);
                case 2 -> socket.setKeepAlive(on);
                case 3 -> socket.setSendBufferSize(big(number));
                case 4 -> socket.setReceiveBufferSize(big(number));
                case 5 -> socket.setTrafficClass(number);
                case 6 -> socket.setReuseAddress(on);
                case 7 -> socket.setPerformancePreferences(number, 1, 2);
                default -> lingerGet(socket);
            }
            return null;
        });
    }

    private static void lingerGet(Socket socket) throws SocketException {
        socket.setSoLinger(false, 0);
    }

    /** Holds what a program writes. */
    private static int big(int number) {
        return number <= 0 ? number : Math.max(number, 65536);
    }

    private static String end(ChannelWorld world, Random chance) throws Exception {
        int which = chance.nextInt(8);
        return onSocket(world, chance, socket -> {
            if (world.isSelected(socket.getChannel())) {
                return "none";
            }
            switch (which) {
                case 0 -> socket.shutdownInput();
                case 1, 2 -> socket.shutdownOutput();
                case 3 -> socket.close();
                case 4 -> socket.getInputStream().close();
                case 5 -> socket.getOutputStream().close();
                case 6 -> {
                    if (!socket.isConnected() || socket.isOutputShutdown()) { // else over TCP reads pause there
                        socket.sendUrgentData(65);
                    }
                }
                default -> {
                    SocketChannel channel = socket.getChannel();
                    return channel.shutdownOutput().shutdownInput();
                }
            }
            return null;
        });
    }

    private static String listener(ChannelWorld world, Random chance) throws Exception {
        ServerSocket socket = world.listener(chance).socket();
        int which = chance.nextInt(13);
        int number = chance.nextInt(5) - 1;
        boolean on = chance.nextBoolean();
        return world.call(() -> switch (which) {
            case 0 -> socket.isBound();
            case 1 -> socket.isClosed();
            case 2 -> socket.getInetAddress();
            case 3 -> "port=" + socket.getLocalPort();
            case 4 -> socket.getLocalSocketAddress();
            case 5, 6 -> {
                socket.setSoTimeout(number);
                yield socket.getSoTimeout();
            }
            case 7 -> socket.getSoTimeout();
            case 8 -> socket.getReuseAddress();
            case 9 -> {
                socket.setReuseAddress(on);
                yield null;
            }
            case 10 -> {
                socket.setReceiveBufferSize(number <= 0 ? number : 65536);
                yield socket.getReceiveBufferSize() > 0;
            }
            case 11 -> socket.getChannel();
            default -> socket.toString();
        });
    }
}
