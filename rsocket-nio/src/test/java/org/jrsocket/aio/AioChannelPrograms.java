/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.aio;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.NetworkChannel;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import jdk.net.ExtendedSocketOptions;
import org.jrsocket.testkit.programs.RandomPrograms;

/** The random calls: those that connect, bind, accept, shut, close and ask. */
final class AioChannelPrograms {

    private AioChannelPrograms() {}

    static void into(RandomPrograms<AioWorld> programs) {
        AioPrograms.add(programs, 3, "open", AioChannelPrograms::open);
        AioPrograms.add(programs, 3, "pair", AioChannelPrograms::pair);
        AioPrograms.add(programs, 5, "connect", AioChannelPrograms::connect);
        AioPrograms.add(programs, 4, "connect with handler", AioChannelPrograms::connectHandled);
        AioPrograms.add(programs, 4, "bind", AioChannelPrograms::bind);
        AioPrograms.add(programs, 2, "shut input", AioChannelPrograms::shutInput);
        AioPrograms.add(programs, 3, "shut output", AioChannelPrograms::shutOutput);
        AioPrograms.add(programs, 3, "close", AioChannelPrograms::close);
        AioPrograms.add(programs, 5, "ask", AioChannelPrograms::ask);
        AioPrograms.add(programs, 5, "set option", AioChannelPrograms::setOption);
        AioPrograms.add(programs, 4, "get option", AioChannelPrograms::getOption);
        AioPrograms.add(programs, 2, "open server", AioChannelPrograms::openServer);
        AioPrograms.add(programs, 3, "bind server", AioChannelPrograms::bindServer);
        AioPrograms.add(programs, 5, "accept", AioChannelPrograms::accept);
        AioPrograms.add(programs, 5, "accept with handler", AioChannelPrograms::acceptHandled);
        AioPrograms.add(programs, 1, "close server", AioChannelPrograms::closeServer);
        AioPrograms.add(programs, 3, "ask server", AioChannelPrograms::askServer);
    }

    /** An address of a class that nobody knows. */
    private static final class Strange extends SocketAddress {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            return "strange";
        }
    }

    private static End unconnected(AioWorld w, Random chance) {
        return w.ends[chance.nextInt(5) == 0 ? chance.nextInt(2) : 2 + chance.nextInt(2)];
    }

    private static SocketAddress odd(AioWorld w, Random chance) throws Exception {
        return switch (chance.nextInt(9)) {
            case 0 -> null;
            case 1 -> InetSocketAddress.createUnresolved("nobody.invalid", 80);
            case 2 -> UnixDomainSocketAddress.of("/nonexistent/socket");
            case 3 -> new Strange();
            case 4 -> w.dead;
            case 5 -> new InetSocketAddress(w.address, 0);
            case 6 -> new InetSocketAddress(InetAddress.getByName("::1"), w.dead.getPort());
            case 7 -> new InetSocketAddress(InetAddress.getByName("224.0.0.1"), w.dead.getPort());
            default -> new InetSocketAddress(InetAddress.getByName("255.255.255.255"), w.dead.getPort());
        };
    }

    // ---- opening, connecting ----

    static String open(AioWorld w, Random chance) throws Exception {
        int at = chance.nextInt(4) == 0 ? chance.nextInt(4) : 2 + chance.nextInt(2);
        w.ends[at] = w.open();
        return "opened " + at;
    }

    static String pair(AioWorld w, Random chance) throws Exception {
        if (w.isHeld() || w.group != null && w.group.isShutdown()) {
            return "no pair";
        }
        w.pair();
        return "pair";
    }

    private static SocketAddress target(AioWorld w, Random chance) throws Exception {
        if (chance.nextInt(3) == 0) {
            return odd(w, chance);
        }
        InetSocketAddress port = w.port();
        if (port != null && Boolean.getBoolean("wild") && chance.nextInt(5) == 0) {
            return new InetSocketAddress(port.getPort()); // of the wildcard
        }
        return port;
    }

    /** A connection that nobody accepts yet; one more might not find room. */
    private static boolean isEnough(AioWorld w, SocketAddress target) throws Exception {
        InetSocketAddress port = w.port();
        boolean there = port != null && target instanceof InetSocketAddress at && at.getPort() == port.getPort();
        if (there && w.queued.get() > 0) {
            return true;
        }
        if (there) {
            w.queued.incrementAndGet();
        }
        return false;
    }

    private static Operation.Told connected(AioWorld w) {
        w.changes();
        return new Operation.Told() {
            @Override
            String text(Object value) {
                w.changes();
                return "connected " + value;
            }
        };
    }

    static String connect(AioWorld w, Random chance) throws Exception {
        End end = unconnected(w, chance);
        SocketAddress target = target(w, chance);
        if (isEnough(w, target)) {
            return "enough";
        }
        boolean was = AioPrograms.interrupted(chance);
        Future<Void> future;
        boolean is = was;
        try {
            future = end.channel.connect(target);
        } catch (RuntimeException e) {
            return target + " " + AioPrograms.name(e);
        } finally {
            is = Thread.interrupted();
        }
        String to = target + (was == is ? " " : " the interrupt is lost ");
        return to + w.begun("connect", end, future, connected(w));
    }

    static String connectHandled(AioWorld w, Random chance) throws Exception {
        End end = unconnected(w, chance);
        SocketAddress target = target(w, chance);
        String with = chance.nextBoolean() ? null : "attachment";
        boolean none = chance.nextInt(10) == 0;
        Operation.Then then = AioPrograms.then(w, chance);
        if (isEnough(w, target)) {
            return "enough";
        }
        if (none) {
            end.channel.connect(target, with, null);
        }
        Operation.Start start = handler -> end.channel.connect(target, with, handler.handler());
        return target + " " + new Operation("connect", w, end, connected(w), start, then, 1).run();
    }

    static String bind(AioWorld w, Random chance) throws Exception {
        End end = unconnected(w, chance);
        SocketAddress local = local(w, chance);
        AsynchronousSocketChannel same = end.channel.bind(local);
        return (same == end.channel) + " " + end.channel.getLocalAddress();
    }

    private static SocketAddress local(AioWorld w, Random chance) throws Exception {
        return switch (chance.nextInt(12)) {
            case 0 -> null;
            case 1 -> InetSocketAddress.createUnresolved("nobody.invalid", 0);
            case 2 -> UnixDomainSocketAddress.of("/nonexistent/socket");
            case 3 -> new Strange();
            case 4 -> w.port(); // which is taken
            case 5 -> new InetSocketAddress(0);
            case 6 -> new InetSocketAddress(InetAddress.getByName("::1"), 0);
            case 7 -> new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 0); // nobody's
            default -> new InetSocketAddress(w.address, 0);
        };
    }

    // ---- ends ----

    static String shutInput(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        boolean before = end.shutIn;
        end.shutIn = true;
        boolean same = false;
        try {
            same = end.channel.shutdownInput() == end.channel;
        } finally {
            end.shutIn = before || same;
        }
        w.changes();
        return "shut " + same;
    }

    static String shutOutput(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        boolean same = end.channel.shutdownOutput() == end.channel;
        end.shutOut = true;
        w.changes();
        return "shut " + same;
    }

    static String close(AioWorld w, Random chance) throws Exception {
        End end = w.end(chance);
        if (end.isDeaf()) {
            return "left open";
        }
        end.channel.close();
        w.changes();
        return "closed";
    }

    // ---- asking ----

    static String ask(AioWorld w, Random chance) throws Exception {
        AsynchronousSocketChannel channel = w.ends[chance.nextInt(4)].channel;
        return switch (chance.nextInt(6)) {
            case 0 -> "open " + channel.isOpen();
            case 1 -> "local " + channel.getLocalAddress();
            case 2 -> "remote " + channel.getRemoteAddress();
            case 3 -> "provider " + w.isOfProvider(channel.provider());
            case 4 -> "options " + names(channel.supportedOptions());
            default -> channel.toString();
        };
    }

    private static Set<String> names(Set<SocketOption<?>> options) {
        Set<String> names = new TreeSet<>();
        for (SocketOption<?> each : options) {
            names.add(each.name() + " " + each.type().getSimpleName());
        }
        try {
            options.clear();
            names.add("can be changed");
        } catch (UnsupportedOperationException e) {
            // as it should be
        }
        return names;
    }

    private static final SocketOption<Integer> UNKNOWN = new SocketOption<>() {
        @Override
        public String name() {
            return "SO_SNDBUF";
        }

        @Override
        public Class<Integer> type() {
            return Integer.class;
        }

        @Override
        public String toString() {
            return "unknown";
        }
    };

    private static SocketOption<?> option(Random chance) {
        SocketOption<?>[] all = {
            StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_KEEPALIVE,
            StandardSocketOptions.SO_REUSEADDR,
            StandardSocketOptions.SO_REUSEPORT,
            StandardSocketOptions.TCP_NODELAY,
            StandardSocketOptions.SO_LINGER,
            StandardSocketOptions.SO_BROADCAST,
            StandardSocketOptions.IP_TOS,
            StandardSocketOptions.IP_MULTICAST_TTL,
            StandardSocketOptions.IP_MULTICAST_IF,
            ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT,
            ExtendedSocketOptions.TCP_QUICKACK,
            ExtendedSocketOptions.SO_INCOMING_NAPI_ID,
            UNKNOWN,
            null
        };
        return all[chance.nextInt(all.length)];
    }

    private static Object value(Random chance) {
        Object[] all = {
            null,
            true,
            false,
            -1,
            0,
            1,
            5,
            1000,
            5000,
            65536,
            1 << 20,
            Integer.MAX_VALUE,
            Integer.MIN_VALUE,
            5L,
            "5",
            5.0
        };
        return all[chance.nextInt(all.length)];
    }

    @SuppressWarnings("unchecked") // wrong ones are what it is about
    private static <T> NetworkChannel set(NetworkChannel channel, SocketOption<T> option, Object value)
            throws Exception {
        return channel.setOption(option, (T) value);
    }

    private static NetworkChannel optioned(AioWorld w, Random chance) {
        int at = chance.nextInt(5);
        return at == 4 ? w.server : w.ends[at].channel;
    }

    static String setOption(AioWorld w, Random chance) throws Exception {
        NetworkChannel channel = optioned(w, chance);
        SocketOption<?> option = option(chance);
        Object value = value(chance);
        if (option != null && option.type() == Boolean.class && chance.nextInt(3) > 0) {
            value = chance.nextBoolean();
        }
        String what = option + " = " + value + " ";
        try {
            return what + (set(channel, option, value) == channel);
        } catch (Exception e) {
            return what + AioPrograms.name(e);
        }
    }

    static String getOption(AioWorld w, Random chance) throws Exception {
        NetworkChannel channel = optioned(w, chance);
        SocketOption<?> option = option(chance);
        if (option == ExtendedSocketOptions.TCP_QUICKACK) {
            return "the kernel's affair"; // it changes by itself
        }
        try {
            Object value = channel.getOption(option);
            boolean size = option == StandardSocketOptions.SO_SNDBUF || option == StandardSocketOptions.SO_RCVBUF;
            if (size && channel instanceof AsynchronousSocketChannel one && one.getRemoteAddress() != null) {
                value = "some"; // over RDMA the most memory of the stream
            }
            return option + " " + value;
        } catch (Exception e) {
            return option + " " + AioPrograms.name(e);
        }
    }

    // ---- servers ----

    static String openServer(AioWorld w, Random chance) throws Exception {
        if (chance.nextInt(3) == 0) {
            w.listen();
            return "listens";
        }
        w.openServer();
        return "opened";
    }

    static String bindServer(AioWorld w, Random chance) throws Exception {
        SocketAddress local = local(w, chance);
        int backlog = new int[] {-1, 0, 5, 50, Integer.MAX_VALUE, Integer.MIN_VALUE}[chance.nextInt(6)];
        AsynchronousServerSocketChannel same =
                chance.nextBoolean() ? w.server.bind(local) : w.server.bind(local, backlog);
        return (same == w.server) + " " + w.server.getLocalAddress();
    }

    private static Operation.Told accepted(AioWorld w) {
        return new Operation.Told() {
            @Override
            String text(Object value) {
                w.changes();
                w.accepted((AsynchronousSocketChannel) value);
                return "accepted " + w.masked(value);
            }
        };
    }

    static String accept(AioWorld w, Random chance) throws Exception {
        boolean was = AioPrograms.interrupted(chance);
        boolean is = was;
        Future<AsynchronousSocketChannel> future;
        try {
            future = w.server.accept();
        } finally {
            is = Thread.interrupted();
        }
        return w.begun("accept", null, future, accepted(w)) + (was == is ? "" : " the interrupt is lost");
    }

    static String acceptHandled(AioWorld w, Random chance) throws Exception {
        String with = chance.nextBoolean() ? null : "attachment";
        boolean none = chance.nextInt(10) == 0;
        Operation.Then then = AioPrograms.then(w, chance);
        if (then == Operation.Then.CLOSE) {
            then = Operation.Then.NOTHING;
        }
        if (!w.mayHandle(true)) {
            return "nobody would hear";
        }
        if (none) {
            w.server.accept(with, null);
        }
        Operation.Start start = handler -> w.server.accept(with, handler.handler());
        return new Operation("accept", w, null, accepted(w), start, then, 1).run();
    }

    static String closeServer(AioWorld w, Random chance) throws Exception {
        w.server.close();
        w.changes();
        return "closed";
    }

    static String askServer(AioWorld w, Random chance) throws Exception {
        return switch (chance.nextInt(5)) {
            case 0 -> "open " + w.server.isOpen();
            case 1 -> "local " + w.server.getLocalAddress();
            case 2 -> "provider " + w.isOfProvider(w.server.provider());
            case 3 -> "options " + names(w.server.supportedOptions());
            default -> w.server.toString();
        };
    }
}
