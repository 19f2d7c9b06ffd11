/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpPort;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bean as a console sees it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransportBeanTest {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private TransportContext stack;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        TransportHolder holder = TransportHolder.of(transport);
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        stack = new TransportContext(patient, Rules.NONE, holder);
        PlatformBuilder.register(server, new TransportBean(stack, holder));
    }

    @AfterEach
    void close() throws Exception {
        transport.close();
        verbs.close();
        server.unregisterMBean(name());
    }

    private static ObjectName name() throws JMException {
        return new ObjectName("org.jrsocket:type=Transport");
    }

    private Object get(String attribute) throws JMException {
        return server.getAttribute(name(), attribute);
    }

    private static final DualListener.Acceptor<RdmaStream> RDMA_ALONE = new DualListener.Acceptor<>() {
        @Override
        public RdmaStream takeTcp() {
            return null;
        }

        @Override
        public RdmaStream adopt(RdmaStream stream) {
            return stream;
        }
    };

    /** TCP's side of a listener, without a socket. */
    private record NoSocket(InetSocketAddress address) implements TcpPort {

        @Override
        public boolean isAny() {
            return false;
        }

        @Override
        public void change() {
            throw new AssertionError("the application asked for this port");
        }
    }

    private ConnectAttempt attempt(InetSocketAddress remote) throws IOException {
        return stack.connector().attempt(null, remote, StreamConfig.DEFAULT, 0);
    }

    @Test
    void shouldTellWhatIsOpenAndWhatWas() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 7471);
        try (DualListener listener = DualListener.open(stack, new NoSocket(address), 5, StreamConfig.DEFAULT)) {
            RdmaStream client = attempt(address).await();
            RdmaStream accepted = listener.accept(RDMA_ALONE, 0);
            client.write(new byte[100], 0, 100, 0);
            assertEquals(100, accepted.read(new byte[200], 0, 200, 0));

            assertEquals(1L, get("RdmaConnected"));
            assertEquals(1L, get("RdmaAccepted"));
            assertEquals(2, get("OpenConnections"));
            assertEquals(100L, get("BytesWritten"));
            assertEquals(100L, get("BytesRead"));
            assertEquals(2L * StreamConfig.DEFAULT.leastBytes(), get("RegisteredBytes"));
            String[] lines = (String[]) server.invoke(name(), "listConnections", null, null);
            assertEquals(2, lines.length);
            assertTrue(
                    lines[0].contains("/127.0.0.1:7471")
                            && lines[0].contains(verbs.devices().get(0).name()),
                    lines[0]);

            client.close();
            accepted.close();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            // A close returns before the resources are freed, and these three are not given back in one step.
            while (((long) get("RegisteredBytes") > 0
                            || (int) get("OpenConnections") > 0
                            || (int) get("ClosingConnections") > 0)
                    && System.nanoTime() - deadline < 0) {
                Thread.sleep(10);
            }
            assertEquals(0L, get("RegisteredBytes"));
            assertEquals(0, get("OpenConnections"));
            assertEquals(0, get("ClosingConnections"));
            assertEquals(100L, get("BytesWritten"));
            assertEquals(100L, get("BytesRead"));
        }
    }

    @Test
    void shouldCountTcpByReason() throws Exception {
        InetSocketAddress unserved = new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 7471);
        for (int i = 0; i < 3; i++) {
            ConnectAttempt attempt = attempt(unserved);
            assertEquals(null, attempt.await());
            attempt.reportTcpOutcome(null); // TCP connected: the address is remembered
        }
        assertEquals(1L, chosen("NO_DEVICE"));
        assertEquals(2L, chosen("REMEMBERED"));
        assertEquals(0L, get("RdmaConnected"));
    }

    private long chosen(String reason) throws JMException {
        CompositeData row = ((TabularData) get("TcpChosen")).get(new Object[] {reason});
        return (long) row.get("value");
    }

    @Test
    void shouldTellWhatItStandsOn() throws Exception {
        assertEquals(verbs.description(), get("Verbs"));
        assertTrue(((String) get("Settings")).contains("policy=auto"), () -> stack.settings()
                .toString());
    }

    @Test
    void shouldTellWhyThereAreNoVerbs() {
        TransportHolder none = TransportHolder.unavailable(
                new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "no device here", null));
        TransportBean bean = new TransportBean(new TransportContext(Settings.defaults(), Rules.NONE, none), none);
        assertEquals("none: no device here", bean.getVerbs());
        assertEquals(0, bean.getOpenConnections());
        assertEquals(0, bean.listConnections().size());
    }
}
