/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** The bean as a console sees it. */
class MetricsBeanTest {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    private long get(String attribute) throws Exception {
        return (Long) server.getAttribute(new ObjectName("org.jrsocket:type=Netty"), attribute);
    }

    @Test
    void shouldShowWhatTheTransportCounts() throws Exception {
        RdmaIoHandler.newFactory(); // which is when a program begins to use the transport
        assertTrue(server.isRegistered(new ObjectName("org.jrsocket:type=Netty")));
        RdmaMetrics.TOTAL.sentCopied(1);
        RdmaMetrics.TOTAL.receivedCopied(2);
        RdmaMetrics.TOTAL.sentLent(4);
        RdmaMetrics.TOTAL.receivedLent(8);
        assertEquals(Rdma.metrics().sentCopiedBytes(), get("SentCopiedBytes"));
        assertEquals(Rdma.metrics().receivedCopiedBytes(), get("ReceivedCopiedBytes"));
        assertEquals(Rdma.metrics().sentLentBytes(), get("SentLentBytes"));
        assertEquals(Rdma.metrics().receivedLentBytes(), get("ReceivedLentBytes"));
        assertEquals(get("SentCopiedBytes") + get("ReceivedCopiedBytes"), get("CopiedBytes"));
        assertEquals(
                "sent " + get("SentLentBytes") + " bytes lent, " + get("SentCopiedBytes") + " copied; received "
                        + get("ReceivedLentBytes") + " lent, " + get("ReceivedCopiedBytes") + " copied",
                Rdma.metrics().toString());
    }
}
