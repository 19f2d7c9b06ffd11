/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundInvoker;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jrsocket.nio.SilentPort;

/** Random calls of a channel. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what channels hear
final class ProgramActions {

    /** A call; what it returns says what was called, too. */
    @FunctionalInterface
    interface Action {
        String run(NettyWorld world, ProgramChannel on, Random chance) throws Exception;
    }

    record Named(String name, Action action) {}

    private static final String[] WORDS = {
        "read",
        "readComplete",
        "active",
        "inactive",
        "userEvent",
        "exception",
        "registered",
        "unregistered",
        "done",
        "writability",
        "closeFuture",
        "handlerRemoved"
    };

    private static final Set<String> ENDS =
            Set.of("close", "reset", "disconnect", "deregister", "forcibly", "shutdown");

    /** As often as their weights say. */
    final List<Named> all = new ArrayList<>();

    private final ProgramMessages messages = new ProgramMessages();
    private final EventLoopGroup wrongLoops =
            new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("wrong", true), LocalIoHandler.newFactory());
    private final Socket unheard = new Socket(); // bound, so that no other listens on its port
    private final ServerSocket inUse;
    private final InetSocketAddress silent = SilentPort.address();

    ProgramActions() throws IOException {
        unheard.bind(new InetSocketAddress("127.0.0.1", 0));
        inUse = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"));
        add(16, "write", this::write);
        add(3, "flush", (world, on, chance) -> {
            on.out(chance).flush();
            return "";
        });
        add(3, "read", (world, on, chance) -> {
            on.out(chance).read();
            return "";
        });
        add(
                3,
                "close",
                (world, on, chance) -> chance.nextBoolean()
                        ? on.track(on.out(chance).close())
                        : on.track(on.out(chance).close(promise(world, on, chance))));
        add(
                1,
                "disconnect",
                (world, on, chance) -> chance.nextBoolean()
                        ? on.track(on.out(chance).disconnect())
                        : on.track(on.out(chance).disconnect(promise(world, on, chance))));
        add(
                2,
                "deregister",
                (world, on, chance) -> chance.nextBoolean()
                        ? on.track(on.out(chance).deregister())
                        : on.track(on.out(chance).deregister(promise(world, on, chance))));
        add(3, "register", this::register);
        add(5, "shutdown", this::shutdown);
        add(2, "bind", this::bind);
        add(3, "connect", this::connect);
        add(4, "set", (world, on, chance) -> ProgramOptions.set(on, chance));
        add(1, "get", (world, on, chance) -> ProgramOptions.get(on, chance));
        add(1, "options", (world, on, chance) -> ProgramOptions.getAll(on, chance));
        add(4, "config", (world, on, chance) -> ProgramOptions.call(on, chance));
        add(4, "reset", (world, on, chance) -> {
            on.channel.config().setOption(ChannelOption.SO_LINGER, 0);
            return chance.nextBoolean() ? "at its end" : on.track(on.channel.close());
        });
        add(5, "autoRead", (world, on, chance) -> {
            boolean to = chance.nextBoolean();
            on.channel.config().setAutoRead(to);
            return "" + to;
        });
        add(
                2,
                "half",
                (world, on, chance) -> "" + on.channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        add(2, "marks", (world, on, chance) -> {
            on.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(10, 100));
            return "";
        });
        add(
                2,
                "addresses",
                (world, on, chance) -> on.channel.localAddress() + " " + on.channel.remoteAddress() + " " + on.channel
                        + " " + (on.channel.parent() == null) + " "
                        + on.channel.metadata().hasDisconnect());
        add(2, "futures", this::futures);
        add(1, "writability", (world, on, chance) -> {
            on.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, chance.nextBoolean());
            return "";
        });
        add(1, "forcibly", (world, on, chance) -> {
            on.channel.unsafe().closeForcibly();
            return "";
        });
        add(1, "fail", (world, on, chance) -> {
            throw new IllegalStateException("a handler's own");
        });
        add(4, "arm", this::arm);
    }

    private void add(int weight, String name, Action action) {
        Action careful = (world, on, chance) -> on.isConnecting() && ENDS.contains(name)
                ? "not compared" // over TCP it depends on the network who hears what of a connect that is given up
                : action.run(world, on, chance);
        for (int i = 0; i < weight; i++) {
            all.add(new Named(name, careful));
        }
    }

    String any(NettyWorld world, ProgramChannel on, Random chance) {
        Named one = all.get(chance.nextInt(all.size()));
        return one.name() + " " + NettyWorld.outcome(() -> one.action().run(world, on, chance));
    }

    private String arm(NettyWorld world, ProgramChannel on, Random chance) {
        String word = WORDS[chance.nextInt(WORDS.length)];
        long seed = chance.nextLong();
        on.arm(word, () -> any(world, on, new Random(seed)));
        return word;
    }

    /** Mostly one that a program would use. */
    private ChannelPromise promise(NettyWorld world, ProgramChannel on, Random chance) {
        Channel channel = on.channel;
        return switch (chance.nextInt(12)) {
            case 0 -> channel.voidPromise();
            case 1 -> {
                ChannelPromise cancelled = channel.newPromise();
                cancelled.cancel(false);
                yield cancelled;
            }
            case 2 -> new DefaultChannelPromise(channel, wrongLoops.next()).setSuccess();
            case 3 -> world.any(chance).channel.newPromise();
            case 4 -> null;
            case 5, 6 -> channel.newProgressivePromise();
            default -> channel.newPromise();
        };
    }

    private String write(NettyWorld world, ProgramChannel on, Random chance) throws IOException {
        ProgramChannel peer = world.peerOf(on);
        if (peer != null && peer.channel.isOpen() && peer.socket().isShutdown()) {
            return "not compared"; // Linux resets a connection that nobody will read or write, and that is not closed
        }
        boolean gone = peer != null && !peer.channel.isOpen();
        if (gone && !on.channel.config().isAutoRead()) {
            return "not compared"; // who does not read hears of a reset when it has written
        }
        // Each file is a write of its own, and the kernel tells the second write that nobody is there any more.
        Object message = messages.any(world, on, gone, chance);
        ChannelOutboundInvoker out = on.out(chance);
        String text =
                message == null ? "null " : message.getClass().getSimpleName().replaceAll(".*Buf(fer)?$", "Buf") + " ";
        if (message instanceof ByteBuf buffer && chance.nextInt(5) == 0) {
            text += "twice " + on.track(out.write(buffer.retain())) + " ";
        }
        return text
                + switch (chance.nextInt(6)) {
                    case 0 -> on.track(out.write(message));
                    case 1 -> on.track(out.write(message, promise(world, on, chance)));
                    case 2, 3 -> on.track(out.writeAndFlush(message));
                    case 4 -> on.track(out.writeAndFlush(message, promise(world, on, chance)));
                    default -> {
                        ChannelFuture future = out.write(message);
                        out.flush();
                        yield on.track(future);
                    }
                };
    }

    private String shutdown(NettyWorld world, ProgramChannel on, Random chance) {
        if (on.isServer()) {
            return "not of a server";
        }
        boolean plain = chance.nextBoolean();
        // In another thread the second half comes at once or later, perhaps after the peer's answer to the first.
        boolean inLoop = on.channel.isRegistered() && on.channel.eventLoop().inEventLoop();
        int kind = chance.nextInt(inLoop ? 8 : 6);
        ChannelPromise promise = plain ? null : promise(world, on, chance);
        if (kind < 4) {
            return "output "
                    + on.track(
                            plain ? on.socket().shutdownOutput() : on.socket().shutdownOutput(promise));
        }
        return kind < 6
                ? "input "
                        + on.track(
                                plain
                                        ? on.socket().shutdownInput()
                                        : on.socket().shutdownInput(promise))
                : "both "
                        + on.track(plain ? on.socket().shutdown() : on.socket().shutdown(promise));
    }

    private String register(NettyWorld world, ProgramChannel on, Random chance) {
        return switch (chance.nextInt(10)) {
            case 0 -> on.trackLoosely(wrongLoops.register(on.channel));
            case 1 -> on.trackLoosely(world.loop(chance).register(promise(world, on, chance)));
            default -> on.trackLoosely(world.loop(chance).register(on.channel));
        };
    }

    // ---- addresses ----

    private SocketAddress address(NettyWorld world, Random chance) {
        return switch (chance.nextInt(14)) {
            case 0 -> null;
            case 1 -> InetSocketAddress.createUnresolved("nowhere.invalid", 80);
            case 2 -> new LocalAddress("local");
            case 3 -> new InetSocketAddress(0);
            case 4 -> new InetSocketAddress("::1", 0);
            case 5 -> new InetSocketAddress("192.0.2.1", 0);
            case 6 -> inUse.getLocalSocketAddress();
            case 7 -> unheard.getLocalSocketAddress();
            default -> new InetSocketAddress(world.transport.address(), 0);
        };
    }

    private String bind(NettyWorld world, ProgramChannel on, Random chance) {
        SocketAddress address = address(world, chance);
        return world.masked(address + " ")
                + on.track(
                        chance.nextInt(3) > 0
                                ? on.out(chance).bind(address)
                                : on.out(chance).bind(address, promise(world, on, chance)));
    }

    private String connect(NettyWorld world, ProgramChannel on, Random chance) throws InterruptedException {
        SocketAddress address =
                switch (chance.nextInt(10)) {
                    case 0, 1, 2, 3 -> world.serverAddress();
                    case 4, 5 -> unheard.getLocalSocketAddress();
                    case 6 -> silent;
                    default -> address(world, chance);
                };
        ChannelOutboundInvoker out = on.out(chance);
        boolean timed = silent.equals(address) && chance.nextBoolean();
        if (timed) {
            on.channel.config().setConnectTimeoutMillis(30);
        } else if (silent.equals(address)) {
            on.channel.config().setConnectTimeoutMillis(0);
        }
        ChannelFuture future =
                switch (chance.nextInt(5)) {
                    case 0 -> out.connect(address, address(world, chance));
                    case 1 -> out.connect(address, promise(world, on, chance));
                    case 2 -> out.connect(address, null, on.channel.newPromise());
                    default -> out.connect(address);
                };
        String text = world.masked(address + " ") + on.track(future);
        if (Objects.equals(address, world.serverAddress()) && on.channel.isRegistered() && !future.isVoid()) {
            on.connects(future);
        }
        if (timed && on.channel.isRegistered() && !on.channel.eventLoop().inEventLoop()) {
            future.await(10, TimeUnit.SECONDS);
        }
        return text;
    }

    // ---- futures ----

    private String futures(NettyWorld world, ProgramChannel on, Random chance) {
        ChannelFuture future = world.anyFuture(on, chance);
        if (future == null) {
            return "none";
        }
        return switch (chance.nextInt(3)) {
            case 0 -> "cancel " + future.cancel(chance.nextBoolean());
            case 1 -> "state " + NettyWorld.state(future) + " " + future.isCancellable() + future.isCancelled();
            default ->
                "success "
                        + NettyWorld.outcome(
                                () -> "" + (future instanceof ChannelPromise promise && promise.trySuccess()));
        };
    }
}
