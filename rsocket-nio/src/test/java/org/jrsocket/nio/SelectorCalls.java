/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls of selectors and their keys by random programs. */
final class SelectorCalls {

    private static final int[] OPS = {
        0,
        SelectionKey.OP_READ,
        SelectionKey.OP_READ,
        SelectionKey.OP_WRITE,
        SelectionKey.OP_READ | SelectionKey.OP_WRITE,
        SelectionKey.OP_CONNECT,
        SelectionKey.OP_READ | SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT,
        SelectionKey.OP_ACCEPT,
        SelectionKey.OP_ACCEPT,
        2,
        -1
    };

    private SelectorCalls() {}

    static void addTo(RandomPrograms<ChannelWorld> programs) {
        programs.with(10, "register", SelectorCalls::register)
                .with(14, "selectNow", SelectorCalls::selectNow)
                .with(3, "select", SelectorCalls::select)
                .with(3, "select with action", SelectorCalls::selectWithAction)
                .with(2, "wakeup", (w, c) -> {
                    Selector selector = w.selector(ChannelWorld.selectorPlace(c));
                    return w.call(selector::wakeup);
                })
                .with(10, "key", SelectorCalls::key)
                .with(5, "selected keys", SelectorCalls::selectedKeys)
                .with(1, "keys", SelectorCalls::keys)
                .with(1, "pipe", SelectorCalls::pipe)
                .with(1, "selector", SelectorCalls::selector);
    }

    private static int ops(Random chance) {
        return OPS[chance.nextInt(OPS.length)];
    }

    /** A channel or listener; null if nothing was accepted there. */
    private static SelectableChannel channel(ChannelWorld world, Random chance) {
        return switch (chance.nextInt(12)) {
            case 0 -> world.pipe().source();
            case 1, 2 -> world.listener(chance);
            default -> world.channel(ChannelWorld.place(chance));
        };
    }

    private static String register(ChannelWorld world, Random chance) throws Exception {
        SelectableChannel channel = channel(world, chance);
        int place = ChannelWorld.selectorPlace(chance);
        int ops = ops(chance);
        String attachment = chance.nextBoolean() ? null : "attachment " + chance.nextInt(9);
        boolean make = chance.nextInt(4) > 0;
        // A selection that waits sees what is registered meanwhile: docs/compatibility.md.
        if (channel == null || world.isSelecting(place)) {
            return "none";
        }
        return world.text(channel) + " "
                + world.call(() -> {
                    if (make && channel.isOpen() && !channel.isRegistered()) {
                        channel.configureBlocking(false);
                    }
                    Selector selector = world.selector(place);
                    return world.lastKey(
                            attachment == null
                                    ? channel.register(selector, ops)
                                    : channel.register(selector, ops, attachment));
                });
    }

    // ---- selecting ----

    /** What a selection left behind. */
    private static String selected(ChannelWorld world, Selector selector) {
        List<String> selected = new ArrayList<>();
        for (SelectionKey key : selector.selectedKeys()) {
            selected.add(world.text(key) + ready(key));
        }
        selected.sort(null);
        return selected.toString();
    }

    private static String ready(SelectionKey key) {
        return key.isValid() ? " " + readyOps(key) + "/" + key.interestOps() : "";
    }

    /** Once a connection has ended the JDK's selector forgets what was ready and is not of interest any more. */
    private static int readyOps(SelectionKey key) {
        return key.readyOps() & key.interestOps();
    }

    private static String selectNow(ChannelWorld world, Random chance) throws Exception {
        int place = ChannelWorld.selectorPlace(chance);
        Selector selector = world.selector(place);
        boolean clear = chance.nextBoolean();
        if (!world.isSelecting(place)) {
            ChannelWorld.calm(selector);
        }
        world.settle();
        return world.select(place, ChannelCalls.rarely(chance), () -> {
            if (clear) {
                selector.selectedKeys().clear();
            }
            return selector.selectNow() + " " + selected(world, selector) + " of "
                    + selector.keys().size();
        });
    }

    private static String select(ChannelWorld world, Random chance) throws Exception {
        int place = ChannelWorld.selectorPlace(chance);
        Selector selector = world.selector(place);
        int millis = chance.nextInt(5) - 2;
        boolean clear = chance.nextInt(4) > 0;
        if (!world.isSelecting(place)) {
            ChannelWorld.calm(selector);
        }
        world.settle();
        return world.select(place, ChannelCalls.rarely(chance), () -> {
            if (clear) {
                selector.selectedKeys().clear();
            }
            int n = millis < -1 ? selector.select() : selector.select(millis);
            return n + " " + selected(world, selector);
        });
    }

    private static String selectWithAction(ChannelWorld world, Random chance) throws Exception {
        int place = ChannelWorld.selectorPlace(chance);
        Selector selector = world.selector(place);
        int how = chance.nextInt(6);
        int what = chance.nextInt(16);
        int millis = chance.nextInt(3) - 1;
        ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
        Consumer<SelectionKey> action = key -> {
            seen.add(world.text(key) + ready(key));
            seen.add(acted(key, what));
        };
        if (!world.isSelecting(place)) {
            ChannelWorld.calm(selector);
        }
        world.settle();
        return world.select(place, ChannelCalls.rarely(chance), () -> {
            String outcome;
            try {
                outcome = ""
                        + switch (how) {
                            case 0 -> selector.select(action);
                            case 1 -> selector.select(action, 1);
                            case 2 -> selector.select(action, millis);
                            default -> selector.selectNow(what == 15 ? null : action);
                        };
            } catch (Exception e) {
                outcome = world.thrown(e);
            }
            List<String> sorted = new ArrayList<>(seen);
            sorted.sort(null);
            return outcome + " " + sorted + " " + selected(world, selector);
        });
    }

    /** Inside a selection. The order of keys is open, so what one does must not matter to the next. */
    private static String acted(SelectionKey key, int what) {
        try {
            return switch (what) {
                case 0 -> inside(key.selector());
                case 1 -> {
                    key.cancel();
                    yield "";
                }
                case 2 -> "" + key.selector().keys().size();
                case 3 -> "" + key.selector().selectedKeys().size();
                case 4 -> {
                    if (key.selector().keys().size() == 1) {
                        throw new IllegalStateException("by the action");
                    }
                    yield "";
                }
                case 5 -> "" + key.interestOpsAnd(0);
                default -> "";
            };
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String inside(Selector selector) throws IOException {
        try {
            return "" + selector.selectNow();
        } catch (IllegalStateException e) {
            return e.toString();
        }
    }

    // ---- keys ----

    private static SelectionKey anyKey(ChannelWorld world, int place, Random chance) {
        Selector selector = world.selector(place);
        List<SelectionKey> keys = new ArrayList<>(selector.isOpen() ? selector.keys() : List.of());
        keys.sort(Comparator.comparing(world::text));
        return keys.isEmpty() ? null : keys.get(chance.nextInt(keys.size()));
    }

    private static String key(ChannelWorld world, Random chance) throws Exception {
        int place = ChannelWorld.selectorPlace(chance);
        int which = chance.nextInt(14);
        int ops = ops(chance);
        SelectionKey key = chance.nextInt(6) == 0 ? world.lastKey() : anyKey(world, place, chance);
        if (key == null) {
            return "none";
        }
        // A selection that waits sees interests that change: docs/compatibility.md.
        if (which < 5 && world.isSelecting(key.selector())) {
            return "none";
        }
        return world.text(key.channel()) + " "
                + world.call(() -> world.text(called(world, key, which, ops)) + ready(key));
    }

    private static Object called(ChannelWorld world, SelectionKey key, int which, int ops) {
        return switch (which) {
            case 0, 1 -> key.interestOps(ops);
            case 2, 3 -> key.interestOpsOr(ops);
            case 4 -> key.interestOpsAnd(ops);
            case 5 -> key.interestOps();
            case 6 -> readyOps(key);
            case 7 -> key.isConnectable() + " " + key.isAcceptable();
            case 8 -> key.attach("attached " + ops);
            case 9 -> key.attachment();
            case 10, 11 -> {
                key.cancel();
                yield key;
            }
            case 12 -> world.text(key.channel()) + " " + world.text(key.selector()) + " " + key.attachment();
            default -> key.toString().replaceAll("readyOps=\\d+", "readyOps");
        };
    }

    private static String selectedKeys(ChannelWorld world, Random chance) throws Exception {
        int place = ChannelWorld.selectorPlace(chance);
        Selector selector = world.selector(place);
        if (world.isSelecting(place)) {
            return "none"; // has them for itself
        }
        int which = chance.nextInt(8);
        return world.call(() -> {
            Set<SelectionKey> selected = selector.selectedKeys();
            return changed(world, selected, selector.keys(), which);
        });
    }

    private static String keys(ChannelWorld world, Random chance) throws Exception {
        Selector selector = world.selector(ChannelWorld.selectorPlace(chance));
        int which = chance.nextInt(8);
        return world.call(() -> changed(world, selector.keys(), selector.keys(), which));
    }

    private static String changed(ChannelWorld world, Set<SelectionKey> set, Set<SelectionKey> all, int which) {
        String what = world.text(set) + " ";
        switch (which) {
            case 0 -> set.clear();
            case 1 -> {
                Iterator<SelectionKey> each = set.iterator();
                if (set.size() == 1) { // of several the order is open
                    each.next();
                    each.remove();
                }
            }
            case 2 -> what += set.remove(first(world, all));
            case 3 -> what += set.add(first(world, all));
            case 4 -> what += set.removeIf(key -> key.channel() instanceof SocketChannel);
            case 5 -> what += set.retainAll(List.of());
            case 6 -> what += set.contains(null) + " " + set.isEmpty() + " " + all.containsAll(set);
            default -> what += set.removeAll(Set.copyOf(all));
        }
        return what + world.text(set);
    }

    private static SelectionKey first(ChannelWorld world, Set<SelectionKey> keys) {
        return keys.stream().min(Comparator.comparing(world::text)).orElse(null);
    }

    private static String pipe(ChannelWorld world, Random chance) throws Exception {
        var pipe = world.pipe();
        return switch (chance.nextInt(8)) {
            case 0 ->
                world.call(() -> {
                    pipe.source().close();
                    return null;
                });
            case 1, 2 -> world.call(() -> pipe.source().read(ByteBuffer.allocate(1)));
            default -> world.call(() -> pipe.sink().write(ByteBuffer.allocate(1)));
        };
    }

    private static String selector(ChannelWorld world, Random chance) throws Exception {
        Selector selector = world.selector(ChannelWorld.selectorPlace(chance));
        if (chance.nextInt(3) > 0) {
            return world.call(() -> selector.isOpen() + " " + (selector.provider() == world.kind.provider()));
        }
        return world.call(() -> {
            selector.close();
            return null;
        });
    }
}
