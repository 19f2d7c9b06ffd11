/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jrsocket.nio.NettyBehaviours;
import org.jrsocket.nio.NioKind;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Netty's suite on our channels, on a device. The suite binds to the loopback address, of which no device knows:
 * channels are bound to the device's address instead. It takes many minutes in an emulated machine: by hand, and some
 * of its classes at a time ({@code scripts/test lab 'NettySuiteLabTest$SocketEcho,SocketRst'}).
 */
@Tag("device")
@Tag("lab")
@Tag("long")
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what arrives
class NettySuiteLabTest extends NettyBehaviours {

    private static InetAddress address;
    private static Netty netty;
    private static Counted before;

    @BeforeAll
    static void open() throws Exception {
        address = InetAddress.getByName(DeviceLab.assumed());
        DeviceLab.bytes("on");
        before = Counted.now();
        NioKind kind = NioKind.device(address);
        TransportUnderTest ours = new TransportUnderTest(kind.provider(), true);
        netty = new Netty(kind, new Transport() {
            @Override
            public IoHandlerFactory newHandlerFactory() {
                return ours.newHandlerFactory();
            }

            @Override
            public Channel newChannel() {
                Channel channel = ours.newChannel();
                channel.pipeline().addLast(new BoundToTheDevice());
                return channel;
            }

            @Override
            public ServerChannel newServerChannel() {
                ServerChannel channel = ours.newServerChannel();
                channel.pipeline().addLast(new BoundToTheDevice());
                return channel;
            }

            @Override
            public void configure(ServerBootstrap server) {
                ours.configure(server);
            }
        });
    }

    private static final class BoundToTheDevice extends ChannelOutboundHandlerAdapter {
        @Override
        public void bind(ChannelHandlerContext context, SocketAddress local, ChannelPromise promise) {
            context.bind(onTheDevice(local), promise);
        }

        @Override
        public void connect(
                ChannelHandlerContext context, SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            // Where nobody listens, or a plain server does, is still the loopback address.
            boolean there = ((InetSocketAddress) remote).getAddress().equals(address);
            context.connect(remote, there && local != null ? onTheDevice(local) : local, promise);
        }

        private static SocketAddress onTheDevice(SocketAddress local) {
            return new InetSocketAddress(address, ((InetSocketAddress) local).getPort());
        }
    }

    @Override
    protected boolean isOurs(InetAddress other) {
        return other.equals(address);
    }

    @AfterAll
    static void deviceCarriedIt() throws Exception {
        if (netty == null) {
            return;
        }
        netty.close();
        long delivered = Long.parseLong(DeviceLab.bytes());
        DeviceLab.bytes("off");
        long received = Counted.since(before).received();
        System.out.println("the device delivered " + delivered + " bytes; channels " + Counted.since(before));
        if (delivered < received) {
            throw new AssertionError("channels received " + received + " bytes, the device delivered " + delivered);
        }
    }

    @Override
    protected Netty netty() {
        return netty;
    }
}
