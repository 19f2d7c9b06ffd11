/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.jfr;

import java.net.InetSocketAddress;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("org.jrsocket.ConnectionClosed")
@Label("Connection Closed")
@Description("A connection is over; over RDMA, after what was written was delivered")
@Category({"jrsocket"})
@StackTrace(false)
public final class ConnectionClosedEvent extends Event {

    @Label("Local Address")
    String localAddress;

    @Label("Local Port")
    int localPort;

    @Label("Remote Address")
    String remoteAddress;

    @Label("Remote Port")
    int remotePort;

    @Label("Transport")
    @Description("RDMA or TCP")
    String transport;

    @Label("Device")
    @Description("The RDMA device that carried it")
    String device;

    @Label("Bytes Read")
    @Description("By the application; -1 over TCP, where the JDK does the work and is not watched")
    @DataAmount
    long bytesRead;

    @Label("Bytes Written")
    @Description("By the application; -1 over TCP, where the JDK does the work and is not watched")
    @DataAmount
    long bytesWritten;

    @Label("Lifetime")
    @Timespan(Timespan.NANOSECONDS)
    long lifetime;

    @Label("Outcome")
    @Description("closed; reset, if this side dropped data; failed, if something other than this side ended it")
    String outcome;

    @Label("Detail")
    @Description("What failed")
    String detail;

    static boolean isRecorded() {
        return new ConnectionClosedEvent().isEnabled();
    }

    static void emit(
            InetSocketAddress local,
            InetSocketAddress remote,
            String device,
            long bytesRead,
            long bytesWritten,
            long lifeNanos,
            String outcome,
            String detail) {
        ConnectionClosedEvent event = new ConnectionClosedEvent();
        if (event.isEnabled() && event.shouldCommit()) {
            event.localAddress = Addresses.host(local);
            event.localPort = Addresses.port(local);
            event.remoteAddress = Addresses.host(remote);
            event.remotePort = Addresses.port(remote);
            event.transport = device == null ? "TCP" : "RDMA";
            event.device = device;
            event.bytesRead = bytesRead;
            event.bytesWritten = bytesWritten;
            event.lifetime = lifeNanos;
            event.outcome = outcome;
            event.detail = detail;
            event.commit();
        }
    }
}
