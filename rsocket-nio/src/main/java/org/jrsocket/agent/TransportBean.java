/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.verbs.VerbsUnavailableException;

/** Reads where the numbers are kept; keeps nothing itself. */
final class TransportBean implements TransportMXBean {

    static final String NAME = "org.jrsocket:type=Transport";

    private final TransportContext stack;
    private final TransportHolder holder;

    TransportBean(TransportContext stack, TransportHolder holder) {
        this.stack = stack;
        this.holder = holder;
    }

    @Override
    public String getVersion() {
        return Main.version();
    }

    @Override
    public String getVerbs() {
        try {
            return holder.description();
        } catch (VerbsUnavailableException e) {
            return "none: " + e.getMessage();
        }
    }

    @Override
    public String getSettings() {
        return stack.settings().toString();
    }

    @Override
    public long getRdmaConnected() {
        return stack.counts().rdmaConnected();
    }

    @Override
    public long getRdmaAccepted() {
        return stack.counts().rdmaAccepted();
    }

    @Override
    public Map<String, Long> getTcpChosen() {
        Map<String, Long> chosen = new TreeMap<>();
        for (TcpReason reason : TcpReason.values()) {
            long count = stack.counts().tcpChosen(reason);
            if (count > 0) {
                chosen.put(reason.name(), count);
            }
        }
        return chosen;
    }

    @Override
    public long getTcpAccepted() {
        return stack.counts().tcpAccepted();
    }

    @Override
    public int getOpenConnections() {
        return holder.totals().open();
    }

    @Override
    public int getClosingConnections() {
        return holder.totals().closing();
    }

    @Override
    public long getBytesRead() {
        return holder.totals().bytesRead();
    }

    @Override
    public long getBytesWritten() {
        return holder.totals().bytesWritten();
    }

    @Override
    public long getRegisteredBytes() {
        return holder.totals().registeredBytes();
    }

    @Override
    public List<String> listConnections() {
        return holder.streams().stream().map(TransportBean::line).sorted().toList();
    }

    private static String line(RdmaStream stream) {
        return stream + ", " + stream.bytesRead() + " bytes read, " + stream.bytesWritten() + " written, "
                + TimeUnit.NANOSECONDS.toSeconds(stream.nanosOpen()) + " s" + (stream.isOpen() ? "" : ", closing");
    }
}
