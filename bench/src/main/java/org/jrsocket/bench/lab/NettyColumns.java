/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Netty's channels and gRPC's calls: with Netty's NIO transport over TCP and under the agent, and with our transport,
 * which an application names. What a call is to gRPC is a round trip here, and a stream of its messages one of writes.
 */
final class NettyColumns {

    /** In the order of the table. */
    static final List<String> IDS =
            List.of("tcp-netty", "agent-netty", "plugin", "plugin-lend", "tcp-grpc", "agent-grpc", "plugin-grpc");

    /** Starts the processes of a column. */
    interface Jvms {
        PairColumn.Shared pair(
                String name,
                int port,
                List<String> flags,
                Map<String, String> environment,
                List<String> server,
                List<String> client);
    }

    private static final String SERVER = "org.jrsocket.bench.netty.Server";
    private static final String CLIENT = "org.jrsocket.bench.netty.Client";

    private NettyColumns() {}

    private static PairColumn.Shared pair(
            Jvms jvms, String name, String framework, String transport, int port, List<String> flags) {
        return jvms.pair(
                name,
                port,
                flags,
                Map.of(),
                List.of(SERVER, framework, transport),
                List.of(CLIENT, framework, transport));
    }

    /** @param among those of some rows that are measured this time */
    static List<Column> of(Path agent, Jvms jvms, UnaryOperator<Set<Row>> among) {
        List<String> underAgent = List.of("-javaagent:" + agent + "=connect.timeout=60s");
        // Where there is no agent, the transport needs this option.
        List<String> ours =
                List.of("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED", "-Dorg.jrsocket.connect.timeout=60s");
        Set<Row> stream = among.apply(EnumSet.of(Row.BW_64K));
        Set<Row> messages = among.apply(EnumSet.of(Row.RTT_64, Row.BW_64K));
        Set<Row> calls = among.apply(EnumSet.of(Row.RTT_64, Row.RTT_64K, Row.BW_64K));
        PairColumn.Shared plugin = pair(jvms, "plugin", "netty", "rdma", 20_160, ours);
        return List.of(
                column(
                        "tcp-netty",
                        "Netty TCP",
                        false,
                        pair(jvms, "tcp-netty", "netty", "nio", 20_140, List.of()),
                        messages),
                column(
                        "agent-netty",
                        "Netty agent",
                        true,
                        pair(jvms, "agent-netty", "netty", "nio", 20_150, underAgent),
                        messages),
                column("plugin", "plugin", true, plugin, messages),
                new PairColumn("plugin-lend", "plugin lend", true, "lend", plugin, stream),
                column("tcp-grpc", "gRPC TCP", false, pair(jvms, "tcp-grpc", "grpc", "nio", 20_170, List.of()), calls),
                column(
                        "agent-grpc",
                        "gRPC agent",
                        true,
                        pair(jvms, "agent-grpc", "grpc", "nio", 20_180, underAgent),
                        calls),
                column(
                        "plugin-grpc",
                        "gRPC plugin",
                        true,
                        pair(jvms, "plugin-grpc", "grpc", "rdma", 20_190, ours),
                        calls));
    }

    private static PairColumn column(String id, String title, boolean rdma, PairColumn.Shared pair, Set<Row> rows) {
        return new PairColumn(id, title, rdma, "sleep", pair, rows);
    }

    /** What the transport promises. The ratio to TCP is the one that hadroNIO has published. */
    static List<Target> targets() {
        List<Target> all = new ArrayList<>();
        all.add(Target.of("plugin / blocking channel", Row.RTT_64, "p50", "plugin", "channel", true, 1.1));
        all.add(Target.of("plugin / Netty over TCP", Row.RTT_64, "p50", "plugin", "tcp-netty", true, 0.35));
        for (String column : List.of("plugin", "plugin-lend")) {
            all.add(Target.of(column + " / ib_write_bw", Row.BW_64K, "rate", column, "verbs-write", false, 0.9));
            all.add(Target.of(
                    column + " / bare verbs that are read", Row.BW_64K, "rate", column, "verbs-lend", false, 0.9));
        }
        for (String key : Row.RTT_64.kind.keys) {
            all.add(Target.of("gRPC, plugin / TCP", Row.RTT_64, key, "plugin-grpc", "tcp-grpc", true, 1));
            all.add(Target.of(
                    "gRPC, plugin / NIO with the agent", Row.RTT_64, key, "plugin-grpc", "agent-grpc", true, 1));
        }
        return all;
    }
}
