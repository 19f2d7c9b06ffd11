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

@Name("org.jrsocket.Fallback")
@Label("Fallback to TCP")
@Description("TCP is used, or tried, where the policy allows RDMA")
@Category({"jrsocket"})
public final class FallbackEvent extends Event {

    @Label("Address")
    @Description("The peer's; where a server listens, its own")
    String address;

    @Label("Port")
    int port;

    @Label("Listening")
    @Description("Whether a server listens over TCP alone, rather than a client connecting over TCP")
    boolean listening;

    @Label("Reason")
    String reason;

    @Label("Detail")
    @Description("What the device or the library said")
    String detail;

    static void emit(InetSocketAddress address, boolean listening, String reason, String detail) {
        FallbackEvent event = new FallbackEvent();
        if (event.isEnabled() && event.shouldCommit()) {
            event.address = Addresses.host(address);
            event.port = Addresses.port(address);
            event.listening = listening;
            event.reason = reason;
            event.detail = detail;
            event.commit();
        }
    }
}
