/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Prints another JVM's open data for {@code ctl}. Separate from the command, whose methods are also looked at on
 * runtimes without {@code javax.management}.
 */
final class RemoteTables {

    private RemoteTables() {}

    static void status(RemoteTransport remote, PrintStream out) throws IOException {
        out.println("version: " + remote.get("Version"));
        out.println("verbs: " + remote.get("Verbs"));
        out.println("sockets: " + remote.get("Sockets"));
        out.println("settings: " + remote.get("Settings"));
        out.println("policy override: " + remote.get("PolicyOverride"));
        out.println("RDMA connections: " + remote.get("OpenConnections") + " open, " + remote.get("ClosingConnections")
                + " closing, " + remote.get("RdmaConnected") + " made, " + remote.get("RdmaAccepted") + " accepted, "
                + remote.get("RdmaRefused") + " refused");
        Map<String, Object> chosen = new TreeMap<>();
        for (Object row : ((TabularData) remote.get("TcpChosen")).values()) {
            CompositeData each = (CompositeData) row;
            if ((long) each.get("value") > 0) {
                chosen.put((String) each.get("key"), each.get("value"));
            }
        }
        out.println(
                "TCP instead: " + (chosen.isEmpty() ? "none" : chosen.toString().replaceAll("[{}]", "")) + "; "
                        + remote.get("TcpAccepted") + " accepted");
        out.println("bytes over RDMA: " + remote.get("BytesRead") + " read, " + remote.get("BytesWritten")
                + " written; registered: " + remote.get("RegisteredBytes"));
    }

    /** Prints a table with a line for each row, sorted by their text. */
    static void print(PrintStream out, Object rows, String... columns) {
        List<String[]> lines = new ArrayList<>();
        for (CompositeData row : (CompositeData[]) rows) {
            lines.add(Arrays.stream(columns)
                    .map(column -> row.containsKey(column) ? String.valueOf(row.get(column)) : "-") // an older version
                    .toArray(String[]::new));
        }
        lines.sort(Comparator.comparing(line -> String.join(" ", line)));
        lines.add(0, columns);
        int[] widths = new int[columns.length];
        for (String[] line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line[i].length());
            }
        }
        for (String[] line : lines) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                text.append(String.format(Locale.ROOT, "%-" + (widths[i] + 2) + "s", line[i]));
            }
            out.println(text.toString().stripTrailing());
        }
    }
}
