/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.traffic;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * {@code TrafficClient}: what it is to do comes as lines of its input.
 *
 * <ul>
 *   <li>{@code open KIND ADDRESS PORT COUNT}: connections; how each ends is printed, see {@link Flow}
 *   <li>{@code finish}: all of them end in order; those that are being opened, too
 *   <li>{@code forget}: the agent forgets what it remembers of peers
 *   <li>{@code report N}: prints {@code report=N opening=.. open=.. done=.. lost=.. altered=.. fresh=COUNT least=BYTES
 *       bytes=BYTES rdma=COUNT endings=TEXTS}: how many are in which state; how many of those that are open have got
 *       nothing back yet; what the slowest of them has got back of bursts begun since {@code mark}; all bytes that came
 *       back; how many connections the agent has made over RDMA so far; why those that have ended did. Forgets these.
 *   <li>{@code mark}: see there
 *   <li>{@code flows N}: prints {@code flows=N TEXTS}, what each connection is at
 *   <li>{@code churn ADDRESS PORTS PER_MINUTE}: brief connections, to the ports of net, nio and netty in turn; more of
 *       them until {@code rest}, and from the next {@code churn} on again, which needs no arguments
 *   <li>{@code churned N}: prints {@code churned=N rdma=.. left=.. done=.. lost=.. altered=.. endings=TEXTS}: what has
 *       become of those since the last time; how many are not at their end
 * </ul>
 */
public final class TrafficClient {

    private static final List<String> KINDS = List.of("net", "nio", "netty");

    private final Map<String, Kind> kinds = new HashMap<>();
    private final List<Flow> flows = new ArrayList<>();
    private Churn churn;
    private int opened;
    private long bytesOfEnded;

    private TrafficClient() {}

    public static void main(String[] args) throws IOException {
        TrafficClient client = new TrafficClient();
        for (String kind : KINDS) {
            client.kinds.put(kind, Kind.named(kind));
        }
        System.out.println("ready=" + ProcessHandle.current().pid());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            client.handle(line.split(" "));
        }
        System.exit(0);
    }

    private void handle(String[] words) throws IOException {
        switch (words[0]) {
            case "open" ->
                open(words[1], new InetSocketAddress(words[2], Integer.parseInt(words[3])), Integer.parseInt(words[4]));
            case "finish" -> flows.forEach(Flow::finish);
            case "forget" -> forget();
            case "mark" -> flows.forEach(Flow::mark);
            case "report" -> report(words[1]);
            case "flows" ->
                System.out.println("flows=" + words[1] + ' '
                        + flows.stream().map(Flow::toString).collect(Collectors.joining("; ")));
            case "churn" -> churn(words);
            case "rest" -> churn.set(false);
            case "churned" ->
                System.out.println("churned=" + words[1] + " rdma=" + rdmaConnected() + ' ' + churn.report());
            default -> System.out.println("unknown=" + words[0]);
        }
    }

    private void open(String kind, InetSocketAddress server, int count) {
        for (int i = 0; i < count; i++) {
            Flow flow = new Flow(++opened, kind);
            flows.add(flow);
            try {
                kinds.get(kind).connect(server, flow);
            } catch (IOException | RuntimeException e) {
                flow.failed(e);
            } catch (OutOfMemoryError e) { // no thread to be had
                flow.failed(e);
            }
        }
    }

    private void churn(String[] words) throws IOException {
        if (churn == null) {
            List<InetSocketAddress> servers = new ArrayList<>();
            for (int i = 0; i < KINDS.size(); i++) {
                servers.add(new InetSocketAddress(words[1], Integer.parseInt(words[2 + i])));
            }
            churn = new Churn(KINDS, servers, Integer.parseInt(words[2 + KINDS.size()]));
        }
        churn.set(true);
    }

    private void report(String number) {
        Map<Flow.State, Integer> states = new HashMap<>();
        Set<String> endings = new TreeSet<>();
        long least = Long.MAX_VALUE;
        int fresh = 0;
        long bytes = bytesOfEnded;
        for (Flow flow : List.copyOf(flows)) {
            Flow.State state = flow.state();
            states.merge(state, 1, Integer::sum);
            bytes += flow.checked();
            if (state == Flow.State.OPEN) {
                least = Math.min(least, flow.news());
                fresh += flow.checked() == 0 ? 1 : 0;
            } else if (state != Flow.State.OPENING) {
                flows.remove(flow);
                endings.add(flow.ending());
                bytesOfEnded += flow.checked();
            }
        }
        StringBuilder line = new StringBuilder("report=" + number);
        for (Flow.State state : Flow.State.values()) {
            line.append(' ')
                    .append(state.name().toLowerCase(Locale.ROOT))
                    .append('=')
                    .append(states.getOrDefault(state, 0));
        }
        line.append(" fresh=").append(fresh);
        line.append(" least=").append(least == Long.MAX_VALUE ? 0 : least);
        line.append(" bytes=")
                .append(bytes)
                .append(" rdma=")
                .append(rdmaConnected())
                .append(" endings=")
                .append(String.join("; ", endings));
        System.out.println(line);
    }

    private static void forget() {
        try {
            MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
            beans.invoke(transport(), "forgetRemembered", null, null);
        } catch (JMException e) {
            System.err.println("nothing was forgotten: " + e);
        }
    }

    /** -1 without the agent. */
    private static long rdmaConnected() {
        try {
            MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = transport();
            return beans.isRegistered(name) ? ((Number) beans.getAttribute(name, "RdmaConnected")).longValue() : -1;
        } catch (JMException e) {
            return -1;
        }
    }

    private static ObjectName transport() throws JMException {
        return new ObjectName("org.jrsocket:type=Transport");
    }
}
