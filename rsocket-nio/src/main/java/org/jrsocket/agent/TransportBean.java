/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.Totals;

/** Reads the numbers where they are kept; keeps nothing itself. */
final class TransportBean implements TransportMXBean {

    static final String NAME = "org.jrsocket:type=Transport";

    private static final String NO_OVERRIDE = "none";

    private final TransportContext context;
    private final TransportHolder holder;

    TransportBean(TransportContext context, TransportHolder holder) {
        this.context = context;
        this.holder = holder;
    }

    @Override
    public String getVersion() {
        return Build.VERSION;
    }

    @Override
    public String getSockets() {
        return InstalledSockets.describe();
    }

    @Override
    public String getVerbs() {
        return holder.description();
    }

    @Override
    public String getSettings() {
        return context.describeSettings();
    }

    @Override
    public long getRdmaConnected() {
        return context.counts().rdmaConnected();
    }

    @Override
    public long getRdmaAccepted() {
        return context.counts().rdmaAccepted();
    }

    @Override
    public Map<String, Long> getTcpChosen() {
        Map<String, Long> chosen = new TreeMap<>();
        for (TcpReason reason : TcpReason.values()) {
            chosen.put(reason.name(), context.counts().tcpChosen(reason));
        }
        return chosen;
    }

    @Override
    public long getTcpAccepted() {
        return context.counts().tcpAccepted();
    }

    @Override
    public long getRdmaRefused() {
        return context.counts().rdmaRefused();
    }

    @Override
    public Map<String, Long> getRdmaRefusalMicros() {
        return context.counts().refusalMicros();
    }

    @Override
    public Map<String, Long> getRdmaConnectMicros() {
        return context.counts().connectMicros();
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
    public long getMemoryRefusals() {
        return holder.totals().memoryRefusals();
    }

    @Override
    public long getHungMillis() {
        return TimeUnit.NANOSECONDS.toMillis(holder.hungNanos());
    }

    @Override
    public List<String> listConnections() {
        return holder.streams().stream().map(TransportBean::line).sorted().toList();
    }

    @Override
    public List<ConnectionNumbers> showConnections() {
        return holder.streams().stream().map(ConnectionNumbers::new).toList();
    }

    @Override
    public String getPolicyOverride() {
        Policy policy = context.override();
        return policy == null ? NO_OVERRIDE : policy.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void setPolicyOverride(String policy) {
        if (NO_OVERRIDE.equalsIgnoreCase(policy)) {
            context.override(null);
            return;
        }
        for (Policy each : Policy.values()) {
            if (each.name().equalsIgnoreCase(policy)) {
                context.override(each);
                return;
            }
        }
        throw new IllegalArgumentException("\"" + policy + "\" is not one of none, auto, rdma, tcp");
    }

    @Override
    public int drain() {
        context.override(Policy.TCP);
        Totals totals = holder.totals();
        return totals.open() + totals.closing();
    }

    @Override
    public String reloadRules() {
        try {
            return context.reloadRules();
        } catch (ConfigurationException e) {
            throw new IllegalArgumentException(e.getMessage()); // the console does not know our class
        }
    }

    @Override
    public List<RememberedPeer> showRemembered() {
        return context.remembered().stream().map(RememberedPeer::new).toList();
    }

    @Override
    public int forgetRemembered() {
        return context.forgetRemembered();
    }

    private static String line(RdmaStream stream) {
        return stream + ", " + stream.bytesRead() + " bytes read, " + stream.bytesWritten() + " written, "
                + TimeUnit.NANOSECONDS.toSeconds(stream.nanosOpen()) + " s" + (stream.isOpen() ? "" : ", closing");
    }
}
