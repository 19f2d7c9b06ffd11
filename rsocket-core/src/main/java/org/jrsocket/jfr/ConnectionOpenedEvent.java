/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import java.net.InetSocketAddress;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;

@Name("org.jrsocket.ConnectionOpened")
@Label("Connection Opened")
@Description("A connection was made or accepted, and over what")
@Category({"jrsocket"})
public final class ConnectionOpenedEvent extends Event {

    @Label("Local Address")
    String localAddress;

    @Label("Local Port")
    int localPort;

    @Label("Remote Address")
    String remoteAddress;

    @Label("Remote Port")
    int remotePort;

    @Label("Accepted")
    @Description("Whether it was accepted by a server, rather than made by a client")
    boolean accepted;

    @Label("Transport")
    @Description("RDMA or TCP")
    String transport;

    @Label("Device")
    @Description("The RDMA device that carries it")
    String device;

    @Label("Reason")
    @Description("Why it is TCP; not set where the peer decided")
    String reason;

    @Label("Setup Time")
    @Description("From the call of connect, including RDMA attempts, until connected;"
            + " accepted over RDMA: from established until accepted")
    @Timespan(Timespan.NANOSECONDS)
    long setupTime;

    static boolean isRecorded() {
        return new ConnectionOpenedEvent().isEnabled();
    }

    static void emit(
            InetSocketAddress local,
            InetSocketAddress remote,
            boolean accepted,
            String device,
            String reason,
            long setupNanos) {
        ConnectionOpenedEvent event = new ConnectionOpenedEvent();
        if (event.isEnabled() && event.shouldCommit()) {
            event.localAddress = Addresses.host(local);
            event.localPort = Addresses.port(local);
            event.remoteAddress = Addresses.host(remote);
            event.remotePort = Addresses.port(remote);
            event.accepted = accepted;
            event.transport = device == null ? "TCP" : "RDMA";
            event.device = device;
            event.reason = reason;
            event.setupTime = setupNanos;
            event.commit();
        }
    }
}
