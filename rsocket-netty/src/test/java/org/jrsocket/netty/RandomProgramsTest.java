/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.NioKind;
import org.jrsocket.nio.RSelectorProvider;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.testkit.programs.RandomPrograms;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.verbs.loopback.Reachability;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random programs over Netty's NIO transport and over ours: what handlers hear and what becomes of promises has to be
 * the same.
 */
@Tag("once")
@Timeout(600)
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what channels hear
class RandomProgramsTest {

    private static final int PROGRAMS = Integer.getInteger("org.jrsocket.test.programs", 150);
    private static final long SEED = Long.getLong("org.jrsocket.test.seed", 1);
    private static final int MOST_CALLS = 24;
    /** They wait more than they work. */
    private static final int THREADS = Integer.getInteger("org.jrsocket.test.threads", 6);

    private static final ProgramActions ACTIONS;

    static {
        try {
            ACTIONS = new ProgramActions();
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    enum Kind {
        RDMA,
        LENDING,
        FALLBACK
    }

    /** What ours is compared with. */
    record Reference(InetAddress address) implements NettyWorld.Transport {
        @Override
        public IoHandlerFactory newHandlerFactory() {
            return NioIoHandler.newFactory();
        }

        @Override
        public Channel newChannel() {
            return new NioSocketChannel();
        }

        @Override
        public ServerChannel newServerChannel() {
            return new NioServerSocketChannel();
        }
    }

    static final class Ours implements NettyWorld.Transport {
        private final RSelectorProvider provider;
        private final Kind kind;
        private final InetAddress address;
        private final AtomicInteger connected = new AtomicInteger();

        /** @param address that the transport's devices serve */
        Ours(Kind kind, RdmaTransport transport, InetAddress address) throws Exception {
            this.kind = kind;
            this.address = address;
            Rules rules = kind == Kind.FALLBACK ? NioKind.rules("bind * * tcp\n") : Rules.NONE;
            TransportHolder holder = TransportHolder.of(transport);
            Settings settings =
                    Settings.read("policy=auto,memory.rejected=0,connect.timeout=50s", new Properties(), Map.of());
            provider = new RSelectorProvider(new TransportContext(settings, rules, holder), holder);
        }

        @Override
        public InetAddress address() {
            return address;
        }

        @Override
        public IoHandlerFactory newHandlerFactory() {
            return RdmaIoHandler.newFactory(provider);
        }

        @Override
        public Channel newChannel() {
            Channel channel = new RdmaSocketChannel(provider);
            configure(channel);
            return channel;
        }

        @Override
        public ServerChannel newServerChannel() {
            return new RdmaServerSocketChannel(provider);
        }

        @Override
        public void configure(Channel channel) {
            if (kind == Kind.LENDING) {
                channel.config().setOption(RdmaChannelOption.LEND_RECEIVES, true);
                channel.config().setOption(RdmaChannelOption.LEND_SENDS_FROM, 1);
            }
        }

        @Override
        public void check(Channel channel) {
            connected.incrementAndGet();
            assertTrue(((RdmaSocketChannel) channel).isRdma() == (kind != Kind.FALLBACK), kind + ": " + channel);
        }
    }

    static RandomPrograms<NettyWorld> programs(NettyWorld.Transport reference, NettyWorld.Transport compared) {
        RandomPrograms<NettyWorld> programs =
                new RandomPrograms<>(() -> new NettyWorld(reference), () -> new NettyWorld(compared));
        for (ProgramActions.Named one : ACTIONS.all) {
            programs.with(1, one.name(), (world, chance) -> step(world, chance, one));
        }
        return programs.with(15, "batch", RandomProgramsTest::batch)
                .with(2, "open", (world, chance) -> {
                    String opened = world.open(chance.nextInt(5) == 0).name;
                    world.settle();
                    return opened + world.news();
                })
                .with(6, "open connected", (world, chance) -> world.openConnected().name + world.news())
                .with(3, "open registered", RandomProgramsTest::openRegistered)
                .with(1, "hold next", (world, chance) -> {
                    world.holdNext();
                    return "";
                })
                .with(2, "end loops", RandomProgramsTest::endLoops);
    }

    private static String step(NettyWorld world, Random chance, ProgramActions.Named one) throws Exception {
        ProgramChannel on = world.any(chance);
        boolean inLoop = chance.nextBoolean();
        String outcome =
                on.name + " " + world.call(on, inLoop, () -> one.action().run(world, on, chance));
        return after(world, outcome);
    }

    private static String after(NettyWorld world, String outcome) throws Exception {
        world.settle();
        return world.masked(outcome) + world.news();
    }

    /** Several calls at once. */
    private static String batch(NettyWorld world, Random chance) throws Exception {
        ProgramChannel on = world.any(chance);
        int calls = on.channel.isRegistered() ? 2 + chance.nextInt(4) : 1; // else each is a matter of chance
        String outcome = world.call(on, true, () -> {
            StringBuilder text = new StringBuilder(on.name);
            for (int i = 0; i < calls; i++) {
                text.append("; ").append(ACTIONS.any(world, on, chance));
            }
            return text.toString();
        });
        return after(world, outcome);
    }

    private static String openRegistered(NettyWorld world, Random chance) throws Exception {
        ProgramChannel one = world.open(chance.nextInt(5) == 0);
        one.channel.config().setAutoRead(chance.nextInt(3) > 0);
        return after(world, one.name + " " + one.track(world.loop(chance).register(one.channel)));
    }

    private static String endLoops(NettyWorld world, Random chance) throws Exception {
        if (chance.nextInt(3) > 0) {
            return "not now";
        }
        world.loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        return after(world, "");
    }

    static void compareAll(NettyWorld.Transport reference, NettyWorld.Transport compared, int count) throws Exception {
        RandomPrograms<NettyWorld> programs = programs(reference, compared);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long seed = SEED + i;
                all.add(threads.submit(() -> {
                    programs.compare(seed, 1 + (int) (seed % MOST_CALLS));
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** @param transport whose devices serve that address */
    static void compare(Kind kind, RdmaTransport transport, InetAddress address) throws Exception {
        Ours ours = new Ours(kind, transport, address);
        assertTrue(PROGRAMS > 0, "no program");
        compareAll(new Reference(address), ours, PROGRAMS);
        assertTrue(ours.connected.get() >= PROGRAMS, "connected: " + ours.connected);
    }

    @ParameterizedTest
    @EnumSource
    void shouldDoWhatNettysOwnDoes(Kind kind) throws Exception {
        LoopbackProvider verbs = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        verbs.place(InetAddress.getByName("127.0.0.7"), Reachability.SILENT);
        RdmaTransport transport = RdmaTransport.over(verbs);
        compare(kind, transport, InetAddress.getLoopbackAddress());
        transport.close();
        verbs.assertClean();
        verbs.close();
    }
}
