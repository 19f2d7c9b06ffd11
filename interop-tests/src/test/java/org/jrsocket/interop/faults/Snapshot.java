/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Tool;

/** What the two hosts are at when a promise was not kept: threads that are in our code, and connections. */
final class Snapshot {

    private static final Pattern PARAGRAPH = Pattern.compile("\n\\s*\n");

    private static final List<String> CONNECTIONS =
            List.of("ss -tan", "rdma resource show qp", "rdma resource show cm_id", "rdma statistic show");

    private Snapshot() {}

    private static final String THREADS = Path.of(System.getProperty("java.home"), "bin", "jcmd") + " %s Thread.print";

    /** Of one client of this host, that process. */
    static String of(JvmProcess client, String pid) throws IOException, InterruptedException {
        StringBuilder all = new StringBuilder(TwoHosts.flows(client)).append('\n');
        CONNECTIONS.forEach(command -> all.append(here(command)));
        return all.append(ours(here(THREADS.formatted(pid))))
                .append(client.errors())
                .toString();
    }

    static String of(TwoHosts hosts) throws IOException, InterruptedException {
        StringBuilder all = new StringBuilder("-- here\n").append(of(hosts.client(), hosts.clientPid()));
        if (!hosts.isFarGone()) {
            all.append("-- there\n");
            CONNECTIONS.forEach(command -> all.append(there(hosts, command)));
            all.append(ours(there(hosts, THREADS.formatted(hosts.serverPid()))));
        }
        return all.toString();
    }

    private static String here(String command) {
        try {
            return Tool.run(command.split(" ")) + '\n';
        } catch (AssertionError e) {
            return e.getMessage() + '\n';
        }
    }

    /** What comes from there is in one line. */
    private static String there(TwoHosts hosts, String command) {
        try {
            return hosts.far().run(command).replace("; ", "\n") + '\n';
        } catch (IOException | AssertionError e) {
            return command + ": " + e + '\n';
        }
    }

    private static String ours(String threads) {
        return PARAGRAPH
                .splitAsStream(threads)
                .filter(thread -> thread.contains("org.jrsocket"))
                .collect(Collectors.joining("\n\n", "", "\n"));
    }
}
