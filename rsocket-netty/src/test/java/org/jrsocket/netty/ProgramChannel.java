/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundInvoker;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.channels.NotYetConnectedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A channel of a random program, and what its handler and its promises have heard, in their order. Bytes that are read
 * one after the other count as read at once: how they are cut is nobody's business.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what channels hear
final class ProgramChannel {

    private static final String COMPLETE = "readComplete";

    /** Bytes that were read, or another event. */
    private record Entry(String text, ByteArrayOutputStream bytes) {
        boolean isProgress() {
            return text.startsWith("progress");
        }

        @Override
        public String toString() {
            return bytes == null ? text : "read " + bytes.size() + " #" + Arrays.hashCode(bytes.toByteArray());
        }
    }

    final String name;
    final Channel channel;
    private final NettyWorld world;
    private final Recorder recorder = new Recorder();
    private volatile ChannelHandlerContext context;
    private volatile boolean outputGone;

    // Guarded by this.
    private final List<Entry> log = new ArrayList<>();
    private final Map<String, Deque<Callable<String>>> reactions = new HashMap<>();
    private final List<String> done = new ArrayList<>(); // futures of calls that other threads made
    private String lastState = "";
    private volatile String ends; // local and remote address, once connected
    private volatile String endsOfPeer;
    private volatile ChannelFuture connect;

    /** Those of calls in the event loop. */
    final List<ChannelFuture> futures = new CopyOnWriteArrayList<>();

    ProgramChannel(NettyWorld world, String name, Channel channel) {
        this.world = world;
        this.name = name;
        this.channel = channel;
        channel.pipeline().addLast(recorder);
        channel.closeFuture().addListener(done -> event("closeFuture"));
    }

    boolean isServer() {
        return channel instanceof ServerChannel;
    }

    /** Its close is under way in another thread. A shutdown before the connect looks the same, but is told of. */
    boolean isLingering() {
        return !outputGone
                && channel.isOpen()
                && channel.unsafe().outboundBuffer() == null
                && channel instanceof SocketChannel socket
                && !socket.isOutputShutdown();
    }

    /** It tries to connect where somebody listens. */
    void connects(ChannelFuture future) {
        connect = future;
    }

    boolean isConnecting() {
        ChannelFuture begun = connect;
        return begun != null && !begun.isDone();
    }

    boolean isPeerOf(ProgramChannel other) {
        return ends != null && ends.equals(other.endsOfPeer);
    }

    SocketChannel socket() {
        return (SocketChannel) channel;
    }

    /** One of the ways to the head of the pipeline. */
    ChannelOutboundInvoker out(Random chance) {
        ChannelHandlerContext known = context;
        return switch (chance.nextInt(3)) {
            case 0 -> channel.pipeline();
            case 1 -> known == null ? channel : known;
            default -> channel;
        };
    }

    // ---- what is heard ----

    void event(String text) {
        add(new Entry(text, null));
        react(text.split(" ", 2)[0]);
    }

    private synchronized void add(Entry entry) {
        world.changed();
        int size = log.size();
        if (size > 0 && entry.isProgress() && log.get(size - 1).isProgress()) {
            log.remove(--size); // files are read in pieces of another size
        }
        boolean again = size > 0 && log.get(size - 1).text().equals(entry.text());
        if (entry.bytes() == null) {
            if (!again || !entry.text().equals(COMPLETE)) {
                log.add(entry);
            }
            return;
        }
        Entry before = again ? log.get(size - 1) : null;
        if (size > 1
                && log.get(size - 1).text().equals(COMPLETE)
                && log.get(size - 2).bytes() != null) {
            log.remove(size - 1);
            before = log.get(size - 2);
        }
        if (before == null) {
            log.add(entry);
        } else {
            before.bytes().writeBytes(entry.bytes().toByteArray());
        }
    }

    /** Once, when an event comes whose text begins with this word. */
    synchronized void arm(String word, Callable<String> reaction) {
        reactions.computeIfAbsent(word, each -> new ArrayDeque<>()).add(reaction);
    }

    private void react(String word) {
        Callable<String> reaction;
        synchronized (this) {
            Deque<Callable<String>> waiting = reactions.get(word);
            reaction = waiting == null ? null : waiting.poll();
        }
        if (reaction != null) {
            String outcome = NettyWorld.outcome(reaction);
            add(new Entry("then(" + outcome + ")", null));
        }
    }

    /** Hears of the outcome of a future. */
    String track(ChannelFuture future) {
        if (future == null || future.isVoid()) {
            return future == null ? "null" : "void " + future.isDone() + future.isSuccess();
        }
        if (!channel.isRegistered() || !channel.eventLoop().inEventLoop()) {
            return trackLoosely(future);
        }
        futures.add(future);
        String called = "f" + (futures.size() - 1);
        String text = called + (future.channel() == channel ? "" : " of another");
        if (future instanceof ChannelProgressivePromise progressive) {
            progressive.addListener(new ChannelProgressiveFutureListener() {
                @Override
                public void operationProgressed(ChannelProgressiveFuture of, long bytes, long total) {
                    if (total > 0) { // Netty tells it of an empty buffer only if another is written with it
                        event("progress " + called + " " + bytes + "/" + total);
                    }
                }

                @Override
                public void operationComplete(ChannelProgressiveFuture of) {
                    event("done " + called + " " + NettyWorld.state(of));
                }
            });
        } else {
            future.addListener(of -> event("done " + called + " " + NettyWorld.state(of)));
        }
        return text;
    }

    /** As {@link #track}, but not when: what is done before somebody listens for it is a matter of chance. */
    String trackLoosely(ChannelFuture future) {
        if (future == null || future.isVoid()) {
            return track(future);
        }
        if (!world.isProgramsThread()) {
            return "loose"; // the order of these is a matter of chance, too
        }
        if (world.loops.isShuttingDown()) {
            return "nobody listens";
        }
        String called = world.add(future);
        future.addListener(of -> doneAtSomeTime(called + " " + NettyWorld.state(of)));
        return called;
    }

    private synchronized void doneAtSomeTime(String text) {
        world.changed();
        done.add(text);
        Collections.sort(done);
    }

    /** What was heard since it was last asked, and what has changed. */
    synchronized String news() {
        String state = state();
        String text = "";
        if (!log.isEmpty()) {
            text += log;
            log.clear();
        }
        if (!done.isEmpty()) {
            text += done;
            done.clear();
        }
        if (!state.equals(lastState)) {
            text += state;
            lastState = state;
        }
        return text.isEmpty() ? "" : "\n      " + name + text;
    }

    private String state() {
        StringBuilder text = new StringBuilder(" ");
        flag(text, "open", channel.isOpen());
        flag(text, "active", channel.isActive());
        flag(text, "registered", channel.isRegistered());
        flag(text, "writable", channel.isWritable());
        flag(text, "autoRead", channel.config().isAutoRead());
        flag(text, "takesWrites", channel.unsafe().outboundBuffer() != null);
        if (channel instanceof SocketChannel socket) {
            flag(text, "in", !socket.isInputShutdown());
            flag(text, "out", !socket.isOutputShutdown());
            flag(text, "shut", socket.isShutdown());
        }
        return text + "" + channel.bytesBeforeUnwritable() + "/" + channel.bytesBeforeWritable();
    }

    private static void flag(StringBuilder text, String flag, boolean set) {
        if (set) {
            text.append(flag).append(' ');
        }
    }

    private final class Recorder extends ChannelInboundHandlerAdapter {
        private boolean some; // was read since the last end of a read

        @Override
        public void handlerAdded(ChannelHandlerContext added) {
            context = added;
            event("handlerAdded");
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext removed) {
            event("handlerRemoved");
        }

        @Override
        public void channelRegistered(ChannelHandlerContext unused) {
            event("registered");
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext unused) {
            event("unregistered");
        }

        @Override
        public void channelActive(ChannelHandlerContext active) {
            ends = channel.localAddress() + " " + channel.remoteAddress();
            endsOfPeer = channel.remoteAddress() + " " + channel.localAddress();
            event("active");
        }

        @Override
        public void channelInactive(ChannelHandlerContext unused) {
            event("inactive");
        }

        @Override
        public void channelRead(ChannelHandlerContext unused, Object message) {
            if (message instanceof ByteBuf bytes) {
                ByteArrayOutputStream copy = new ByteArrayOutputStream();
                copy.writeBytes(ByteBufUtil.getBytes(bytes));
                bytes.release();
                some = true;
                add(new Entry("read", copy));
                react("read");
            } else if (message instanceof Channel child) {
                event("read " + world.accepted(child));
            } else {
                event("read " + message);
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext reading) {
            event(COMPLETE);
            if (some && !channel.config().isAutoRead()) {
                some = false;
                reading.read(); // what one read has left depends on how the bytes are cut
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext unused, Object event) {
            event("userEvent " + event.getClass().getSimpleName());
            outputGone |= event == ChannelOutputShutdownEvent.INSTANCE;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext unused) {
            event("writability " + channel.isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext unused, Throwable cause) {
            if (channel.parent() != null
                    && "Connection reset".equals(cause.getMessage())
                    && world.peerOf(ProgramChannel.this) == null) {
                return; // it has given up its connect: over TCP it depends on the network who hears what of that
            }
            event("exception " + NettyWorld.text(cause));
            if (cause instanceof NotYetConnectedException) {
                channel.close(); // Netty's reads would fail for ever
            }
        }
    }
}
