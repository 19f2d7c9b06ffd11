/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.testkit.programs.World;

/**
 * Two clients, what was accepted last, two listeners and two selectors, each in a place of its own. What calls return
 * becomes text that is the same for all providers: places instead of objects, ports numbered as they come.
 */
final class ChannelWorld extends World {

    /** What is there in the beginning. */
    enum Beginning {
        NOTHING,
        LISTENING,
        CONNECTED,
        SELECTED
    }

    static final int SELECTORS = 2;

    /** Of one channel, so that sizes of buffers, which differ, do not matter. */
    private static final int MOST_BYTES = 6000;

    private static final String[] PLACES = {"a", "b", "c", "d"}; // of which the last two are accepted
    private static final int ACCEPTED = 2;
    private static final Pattern PORT = Pattern.compile("(:|port=)([1-9]\\d{3,4})\\b");

    final NioKind kind;
    private final SocketChannel[] channels = new SocketChannel[PLACES.length];
    private final ServerSocketChannel[] listeners = new ServerSocketChannel[2];
    private final Selector[] selectors = new Selector[SELECTORS];
    private final AtomicIntegerArray selecting = new AtomicIntegerArray(SELECTORS);
    private final Map<SocketChannel, AtomicInteger> written = new ConcurrentHashMap<>();
    private final List<String> ports = new ArrayList<>();
    private final List<Closeable> opened = new CopyOnWriteArrayList<>();
    private final Pipe pipe;
    private InetSocketAddress nobody;
    private volatile SelectionKey lastKey;

    ChannelWorld(NioKind kind, Beginning beginning) throws Exception {
        this.kind = kind;
        for (int i = 0; i < SELECTORS; i++) {
            selectors[i] = opened(kind.openSelector());
        }
        pipe = kind.provider().openPipe();
        opened(pipe.source()).configureBlocking(false);
        opened(pipe.sink()).configureBlocking(false);
        for (int i = 0; i < ACCEPTED; i++) {
            channels[i] = opened(kind.provider().openSocketChannel());
            listeners[i] = opened(kind.provider().openServerSocketChannel());
        }
        if (beginning != Beginning.NOTHING) {
            listeners[0].bind(new InetSocketAddress(kind.address(), 0));
        }
        if (beginning == Beginning.CONNECTED || beginning == Beginning.SELECTED) {
            channels[0].connect(listeners[0].getLocalAddress());
            accepted(listeners[0].accept());
            kind.check(channels[0]);
        }
        if (beginning == Beginning.SELECTED) {
            listeners[0].configureBlocking(false);
            listeners[0].register(selectors[0], SelectionKey.OP_ACCEPT, "listener");
            for (int i = 0; i <= ACCEPTED; i += ACCEPTED) {
                channels[i].configureBlocking(false);
                channels[i].register(selectors[0], SelectionKey.OP_READ, PLACES[i]);
            }
        }
    }

    private synchronized <T extends Closeable> T opened(T closeable) {
        opened.add(closeable);
        return closeable;
    }

    // ---- what is where ----

    private static final int[] OFTEN = {0, 0, 0, 1, 2, 2, 2, 3};

    static int place(Random chance) {
        return OFTEN[chance.nextInt(OFTEN.length)];
    }

    /** Null if nothing has been accepted there. */
    synchronized SocketChannel channel(int place) {
        return channels[place];
    }

    ServerSocketChannel listener(Random chance) {
        return listeners[chance.nextInt(4) == 0 ? 1 : 0];
    }

    Pipe pipe() {
        return pipe;
    }

    Selector selector(int place) {
        return selectors[place];
    }

    static int selectorPlace(Random chance) {
        return chance.nextInt(4) == 0 ? 1 : 0;
    }

    /** One that was accepted, where there is room or what is there is closed; else it takes the last one's place. */
    synchronized SocketChannel accepted(SocketChannel channel) throws IOException {
        if (channel != null) {
            opened(channel);
            int place = channels[2] == null || !channels[2].isOpen() ? 2 : 3;
            if (channels[place] != null) {
                channels[place].close();
            }
            channels[place] = channel;
        }
        return channel;
    }

    /** A new client, listener or selector in the place of one that is closed. */
    String renewed(Random chance) throws IOException {
        int place = chance.nextInt(ACCEPTED);
        switch (chance.nextInt(4)) {
            case 0 -> {
                if (!listeners[place].isOpen()) {
                    listeners[place] = opened(
                            chance.nextInt(4) == 0
                                    ? kind.provider().openServerSocketChannel(StandardProtocolFamily.INET)
                                    : kind.provider().openServerSocketChannel());
                    return "listener " + place;
                }
            }
            case 1 -> {
                if (!selectors[place].isOpen()) {
                    selectors[place] = opened(kind.openSelector());
                    return "selector " + place;
                }
            }
            default -> {
                if (!channels[place].isOpen()) {
                    SelectorProvider provider = kind.provider();
                    channels[place] = opened(
                            switch (chance.nextInt(5)) {
                                case 0 -> provider.openSocketChannel(StandardProtocolFamily.INET);
                                case 1 -> provider.openSocketChannel(StandardProtocolFamily.INET6);
                                default -> provider.openSocketChannel();
                            });
                    return PLACES[place];
                }
            }
        }
        return "none";
    }

    /** Where a listener listens; where none does if it is not bound or is closed. */
    InetSocketAddress target(Random chance) throws IOException {
        ServerSocketChannel listener = listener(chance);
        SocketAddress local = listener.isOpen() ? listener.getLocalAddress() : null;
        return local == null ? nobody() : (InetSocketAddress) local;
    }

    /** A port that stays taken, and where nobody listens. */
    private InetSocketAddress nobody() throws IOException {
        if (nobody == null) {
            SocketChannel taken = opened(NioKind.jdk().provider().openSocketChannel());
            taken.bind(new InetSocketAddress(kind.address(), 0));
            nobody = (InetSocketAddress) taken.getLocalAddress();
        }
        return nobody;
    }

    /** That was registered last, be it valid or not. */
    SelectionKey lastKey() {
        return lastKey;
    }

    SelectionKey lastKey(SelectionKey key) {
        lastKey = key;
        return key;
    }

    /** How many bytes may still be written to a channel. */
    int room(SocketChannel channel, int wanted) {
        AtomicInteger before = written.computeIfAbsent(channel, any -> new AtomicInteger());
        return before.get() + wanted > MOST_BYTES ? 0 : wanted;
    }

    /** @return where the bytes begin in all that was written */
    int writes(SocketChannel channel, int bytes) {
        return written.computeIfAbsent(channel, any -> new AtomicInteger()).getAndAdd(bytes);
    }

    // ---- calls ----

    /** A call that may wait, with what it does to its thread's interrupt status. */
    String call(boolean interrupted, Callable<?> call) throws InterruptedException {
        String outcome = mayWait(() -> {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            String text;
            try {
                text = text(call.call());
            } catch (Throwable e) {
                text = thrown(e);
            }
            return text + (Thread.currentThread().isInterrupted() ? ", interrupted" : "");
        });
        return outcome;
    }

    String call(Callable<?> call) throws InterruptedException {
        return call(false, call);
    }

    /** A selection; {@link #isSelecting} meanwhile. */
    String select(int place, boolean interrupted, Callable<?> call) throws InterruptedException {
        return call(interrupted, () -> {
            selecting.incrementAndGet(place);
            try {
                return call.call();
            } finally {
                selecting.decrementAndGet(place);
            }
        });
    }

    boolean isSelecting(int place) {
        return selecting.get(place) > 0;
    }

    /** Whether somebody waits in a selection for this channel, too, which puts off the JDK's close. */
    boolean isSelected(SocketChannel channel) {
        for (int i = 0; i < SELECTORS; i++) {
            if (isSelecting(i) && channel.keyFor(selectors[i]) != null) {
                return true;
            }
        }
        return false;
    }

    boolean isSelecting(Selector selector) {
        for (int i = 0; i < SELECTORS; i++) {
            if (selectors[i] == selector) {
                return isSelecting(i);
            }
        }
        return false;
    }

    /** Whether the other end has shut both directions, which over TCP makes it answer data with a reset. */
    synchronized boolean isPeerDeaf(SocketChannel channel) throws IOException {
        for (SocketChannel each : channels) {
            boolean deaf = each != null
                    && each.isOpen()
                    && each.socket().isInputShutdown()
                    && each.socket().isOutputShutdown();
            if (deaf && channel.isOpen() && each.getLocalAddress().equals(channel.getRemoteAddress())) {
                return true;
            }
        }
        return false;
    }

    /**
     * After the close of a channel. One of the JDK's that is registered only sends the end of the stream, or still
     * listens, until the next selection.
     */
    void endClosed() throws IOException {
        for (int i = 0; i < SELECTORS; i++) {
            if (selectors[i].isOpen() && !isSelecting(i)) {
                calm(selectors[i]);
                selectors[i].selectNow(key -> {});
            }
        }
        settle();
    }

    /**
     * Before a selection. OP_CONNECT of what is connected already means nothing: the JDK's select does not wait with
     * it, but returns 0 at once, again and again; over RDMA it is never ready.
     */
    static void calm(Selector selector) {
        for (SelectionKey key : selector.isOpen() ? selector.keys() : List.<SelectionKey>of()) {
            if (key.channel() instanceof SocketChannel channel && channel.isConnected() && key.isValid()) {
                key.interestOpsAnd(~SelectionKey.OP_CONNECT);
            }
        }
    }

    String interrupt() {
        return interruptOldest();
    }

    /** Until what was done has reached the other end. */
    void settle() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(patience() <= 10 ? 1 : patience() / 4));
    }

    // ---- texts ----

    String text(Object result) {
        if (result instanceof SocketChannel channel) {
            return nameOf(channel);
        } else if (result instanceof ServerSocketChannel listener) {
            return listener == listeners[0] ? "listener 0" : listener == listeners[1] ? "listener 1" : "a listener";
        } else if (result instanceof Socket socket) {
            return "socket of " + nameOf(socket.getChannel());
        } else if (result instanceof ServerSocket socket) {
            return "socket of " + text(socket.getChannel());
        } else if (result instanceof Pipe.SourceChannel) {
            return "pipe";
        } else if (result instanceof Selector selector) {
            return selector == selectors[0] ? "selector 0" : selector == selectors[1] ? "selector 1" : "a selector";
        } else if (result instanceof SelectionKey key) {
            return "key of " + text(key.channel()) + (key.isValid() ? "" : " invalid");
        } else if (result instanceof Collection<?> several) {
            return several.stream().map(this::text).sorted().toList().toString();
        }
        return masked(String.valueOf(result));
    }

    private synchronized String nameOf(SocketChannel channel) {
        for (int i = 0; i < PLACES.length; i++) {
            if (channels[i] == channel && channel != null) {
                return PLACES[i];
            }
        }
        return channel == null ? "null" : "a channel";
    }

    private synchronized String masked(String text) {
        String plain = text.replace(" over RDMA]", "]")
                .replace("sun.nio.ch.ServerSocketChannelImpl", "java.nio.channels.ServerSocketChannel")
                .replaceAll("selector=[^,]+", "selector")
                .replaceAll("@[0-9a-f]{4,}", "@");
        if (Runtime.version().feature() >= 24) { // where the JDK's forgets to say where it is bound
            plain = plain.replaceAll("ServerSocketChannel\\[(/.*?:\\d{4,5})?]", "ServerSocketChannel[bound]");
        }
        Matcher port = PORT.matcher(plain);
        StringBuilder masked = new StringBuilder();
        while (port.find()) {
            if (!ports.contains(port.group(2))) {
                ports.add(port.group(2));
            }
            port.appendReplacement(masked, port.group(1) + "#" + ports.indexOf(port.group(2)));
        }
        return port.appendTail(masked).toString();
    }

    /** The virtual machine's own words for a null name local variables. */
    String thrown(Throwable e) {
        boolean byMachine = e instanceof NullPointerException
                && String.valueOf(e.getMessage()).startsWith("Cannot ");
        return byMachine ? e.getClass().getName() : masked(nameOf(e));
    }

    /** What is between position and limit. */
    static String text(ByteBuffer bytes) {
        int sum = 0;
        for (int i = bytes.position(); i < bytes.limit(); i++) {
            sum = 31 * sum + bytes.get(i);
        }
        return bytes.remaining() + " bytes " + Integer.toHexString(sum);
    }

    @Override
    public void close() throws IOException {
        boolean somebodyHears = someWait();
        for (Closeable each : opened) {
            each.close();
            if (somebodyHears) {
                settle(); // or the end of the stream and a close would race
            }
        }
    }
}
