/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/** Loopback verbs with which RDMA cannot be started until {@link #relieve}, as if a descriptor were lacking. */
public final class ScarceVerbs extends VerbsProvider implements AutoCloseable {

    private final LoopbackProvider verbs = new LoopbackProvider();
    private volatile boolean scarce = true;
    private final TransportHolder holder = TransportHolder.opening(() -> this);
    private final RSelectorProvider selectors;

    public ScarceVerbs() throws Exception {
        Settings settings = Settings.read("policy=auto,connect.timeout=50s", new Properties(), Map.of());
        selectors = new RSelectorProvider(new TransportContext(settings, Rules.NONE, holder), holder);
    }

    public RSelectorProvider selectors() {
        return selectors;
    }

    public void relieve() {
        scarce = false;
    }

    @Override
    public Cm openCm() throws IOException {
        if (scarce) {
            throw new IOException("Too many open files");
        }
        return verbs.openCm();
    }

    @Override
    public Verbs openVerbs() throws IOException {
        return verbs.openVerbs();
    }

    @Override
    public List<DeviceInfo> devices() throws IOException {
        return verbs.devices();
    }

    @Override
    public int getVersion() {
        return verbs.getVersion();
    }

    @Override
    public String description() {
        return verbs.description();
    }

    @Override
    public void close() throws IOException {
        relieve();
        holder.transport().close();
        verbs.assertClean();
        verbs.close();
    }
}
