/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/** Connections that come and go, so many a minute, of each kind in turn: one burst, then the end in order. */
final class Churn {

    /** More at once are not opened: a slow machine is not to be flooded, only kept busy. */
    private static final int MOST_AT_ONCE = 8;

    private static final int MOST_ENDINGS = 5;

    private final List<Kind> kinds = new ArrayList<>();
    private final List<String> names;
    private final List<InetSocketAddress> servers;
    private final long periodNanos;

    // Guarded by this.
    private final List<Flow> flows = new ArrayList<>();
    private final Map<Flow.State, Integer> ended = new EnumMap<>(Flow.State.class);
    private final TreeSet<String> endings = new TreeSet<>();
    private boolean running;
    private int opened;

    /** @param servers of the kinds with these names */
    Churn(List<String> names, List<InetSocketAddress> servers, int perMinute) throws IOException {
        this.names = names;
        this.servers = servers;
        periodNanos = TimeUnit.MINUTES.toNanos(1) / perMinute;
        for (String name : names) {
            kinds.add(Kind.named(name));
        }
        Thread thread = new Thread(this::run, "churn");
        thread.setDaemon(true);
        thread.start();
    }

    /** Goes on, or opens no more. */
    synchronized void set(boolean running) {
        this.running = running;
        notifyAll();
    }

    private void run() {
        try {
            for (long next = System.nanoTime(); ; next += periodNanos) {
                if (awaitTurn()) {
                    next = System.nanoTime();
                }
                open();
                TimeUnit.NANOSECONDS.sleep(next + periodNanos - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether it had to wait. */
    private synchronized boolean awaitTurn() throws InterruptedException {
        boolean waited = false;
        for (sweep(); !running || flows.size() >= MOST_AT_ONCE; sweep()) {
            waited = true;
            wait(running ? 10 : 0);
        }
        return waited;
    }

    /** Counts those that have ended. */
    private synchronized void sweep() {
        for (Iterator<Flow> each = flows.iterator(); each.hasNext(); ) {
            Flow flow = each.next();
            Flow.State state = flow.state();
            if (state != Flow.State.OPENING && state != Flow.State.OPEN) {
                each.remove();
                ended.merge(state, 1, Integer::sum);
                if (endings.size() < MOST_ENDINGS && !flow.ending().isEmpty()) {
                    endings.add(flow.kind + ' ' + flow.ending());
                }
            }
        }
    }

    private void open() {
        Flow flow;
        int kind;
        synchronized (this) {
            kind = opened % kinds.size();
            flow = Flow.brief(++opened, names.get(kind));
            flows.add(flow);
        }
        try {
            kinds.get(kind).connect(servers.get(kind), flow);
        } catch (IOException | RuntimeException | OutOfMemoryError e) { // no thread to be had
            flow.failed(e);
        }
    }

    /** In one line; those that have ended, and their reasons, are told once. */
    synchronized String report() {
        sweep();
        String report = "left=" + flows.size() + " done=" + ended.getOrDefault(Flow.State.DONE, 0) + " lost="
                + ended.getOrDefault(Flow.State.LOST, 0) + " altered=" + ended.getOrDefault(Flow.State.ALTERED, 0)
                + " endings=" + String.join("; ", endings);
        ended.clear();
        endings.clear();
        return report;
    }
}
