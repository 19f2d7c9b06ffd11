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
import jdk.jfr.Threshold;

@Name("org.jrsocket.CreditStall")
@Label("Credit Stall")
@Description("Written data waited for the peer to grant memory or credits: it does not read, or not fast enough")
@Category({"jrsocket"})
@StackTrace(false)
@Threshold("10 ms")
public final class CreditStallEvent extends Event implements Stall {

    @Label("Local Address")
    String localAddress;

    @Label("Local Port")
    int localPort;

    @Label("Remote Address")
    String remoteAddress;

    @Label("Remote Port")
    int remotePort;

    @Label("Device")
    String device;

    @Label("Bytes Waiting")
    @Description("In this side's send buffer when the wait ended")
    @DataAmount
    long bytesWaiting;

    static Stall start() {
        CreditStallEvent event = new CreditStallEvent();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }

    @Override
    public void over(InetSocketAddress local, InetSocketAddress remote, String carrier, long bytes) {
        end();
        if (shouldCommit()) {
            localAddress = Addresses.host(local);
            localPort = Addresses.port(local);
            remoteAddress = Addresses.host(remote);
            remotePort = Addresses.port(remote);
            device = carrier;
            bytesWaiting = bytes;
            commit();
        }
    }
}
