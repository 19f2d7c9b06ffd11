/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.jrsocket.connect.ConnectAttempt;
import org.jrsocket.connect.DualListener;
import org.jrsocket.connect.Rules;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TcpConnection;
import org.jrsocket.connect.TcpReason;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bean as a console sees it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransportBeanTest {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private LoopbackProvider verbs;
    private RdmaTransport transport;
    private TransportContext context;

    @BeforeEach
    void open() throws Exception {
        verbs = new LoopbackProvider();
        transport = RdmaTransport.over(verbs);
        TransportHolder holder = TransportHolder.of(transport);
        // A busy machine is not a silent peer.
        Settings patient = Settings.read("connect.timeout=50s", new Properties(), Map.of());
        context = new TransportContext(patient, Rules.NONE, holder);
        PlatformBuilder.register(server, new TransportBean(context, holder));
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

    private ConnectAttempt attempt(InetSocketAddress remote) throws IOException {
        return context.connector().attempt(null, remote, StreamConfig.DEFAULT, 0);
    }

    @Test
    void shouldTellWhatIsOpenAndWhatWas() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 7471);
        try (DualListener listener = DualListener.open(context, new NoSocket(address), 5, StreamConfig.DEFAULT)) {
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

    /** Its peer has no room for all that is left to be sent. */
    @Test
    void shouldTellWhatIsBeingClosed() throws Exception {
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            RdmaStream client = attempt(HERE).await();
            RdmaStream accepted = listener.accept(RDMA_ALONE, 0);
            RdmaStream idle = attempt(HERE).await();
            RdmaStream other = listener.accept(RDMA_ALONE, 0);
            byte[] more = new byte[StreamConfig.DEFAULT.sendBuffer()];
            long written = 0;
            for (int n = 1; n > 0; written += n) {
                n = client.write(ByteBuffer.wrap(more));
            }
            accepted.write(new byte[3], 0, 3, 0);
            assertEquals(3, client.read(new byte[10], 0, 10, 0));
            client.close();
            assertEquals(3, get("OpenConnections"));
            assertEquals(1, get("ClosingConnections"));
            assertEquals(4, invoke("drain"), "a connection that is being closed is not over");
            List<String> lines = List.of((String[]) invoke("listConnections"));
            assertEquals(lines.stream().sorted().toList(), lines);
            String text = "%s to %s over %s, %d bytes read, %d written, [0-9]+ s";
            String here = "/127.0.0.1:" + HERE.getPort();
            String there = "/127.0.0.1:" + accepted.remoteAddress().getPort();
            String device = verbs.devices().get(0).name();
            for (String line : List.of(
                    text.formatted(there, here, device, 3, written) + ", closing",
                    text.formatted(here, there, device, 0, 3))) {
                assertEquals(
                        1, lines.stream().filter(each -> each.matches(line)).count(), () -> line + " in " + lines);
            }
            idle.abort();
            other.abort();
            accepted.abort();
        }
    }

    @Test
    void shouldTellWhatAConnectionWaitsFor() throws Exception {
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            RdmaStream client = attempt(HERE).await();
            RdmaStream accepted = listener.accept(RDMA_ALONE, 0);
            transport.limitMemory(transport.registeredMemory());
            byte[] more = new byte[100_000];
            while (client.write(ByteBuffer.wrap(more)) > 0) {
                // until nobody has room
            }
            assertTrue(accepted.awaitReadable(0));
            for (CompositeData row : (CompositeData[]) invoke("showConnections")) {
                boolean isClient = row.get("remotePort").equals(HERE.getPort());
                assertEquals(isClient ? "GRANT" : "NOTHING", row.get("waitsFor"), row::toString);
                assertEquals(isClient, (long) row.get("bytesUnsent") > 0, row::toString);
                assertEquals(!isClient, (long) row.get("bytesUnread") > 0, row::toString);
            }
            assertTrue((long) get("MemoryRefusals") > 0);
            client.abort();
            accepted.abort();
        }
    }

    @Test
    void shouldTellThatADeviceHangs() throws Exception {
        assertEquals(0L, get("HungMillis"));
        CountDownLatch goOn = new CountDownLatch(1);
        transport.service().execute(() -> awaitQuietly(goOn));
        long hung = 0;
        while (hung == 0) { // what hangs ends by itself, and then this goes on for ever
            Thread.sleep(10);
            hung = (long) get("HungMillis");
        }
        goOn.countDown();
        assertTrue(hung >= 1000, "that is not long");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(50, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Requests that are refused have their own. */
    @Test
    void shouldTellHowLongConnectionsTook() throws Exception {
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            assertFalse(listener.isRdmaAlone());
            assertTrue(connectsOverRdma());
            assertTrue(connectsOverRdma());
            assertEquals(2L, value("RdmaConnectMicros", "+Inf"));
            assertEquals(0L, value("RdmaRefusalMicros", "+Inf"));
            set("PolicyOverride", "TCP");
            assertThrows(
                    RdmaConnectException.class,
                    () -> transport.connect(null, HERE, StreamConfig.DEFAULT).await(0),
                    "another process's connection");
            assertEquals(2L, value("RdmaConnectMicros", "+Inf"));
            assertEquals(1L, value("RdmaRefusalMicros", "+Inf"));
            set("PolicyOverride", "NONE");
            assertEquals("none", get("PolicyOverride"));
        }
    }

    @Test
    void shouldCountWhatServersTakeOverTcp() throws Exception {
        TcpConnection.accepted(context.counts(), () -> HERE, () -> HERE);
        assertEquals(1L, get("TcpAccepted"));
        assertEquals(0L, get("RdmaAccepted"));
    }

    @Test
    void shouldCountTcpByReason() throws Exception {
        InetSocketAddress unserved = new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 7471);
        for (TcpReason reason : TcpReason.values()) {
            assertEquals(0L, chosen(reason.name()), "a series has to begin before its first event");
        }
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
        return value("TcpChosen", reason);
    }

    private long value(String attribute, String key) throws JMException {
        CompositeData row = ((TabularData) get(attribute)).get(new Object[] {key});
        return (long) row.get("value");
    }

    // ---- at run time ----

    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

    private Object invoke(String operation) throws JMException {
        return server.invoke(name(), operation, null, null);
    }

    private void set(String attribute, Object value) throws JMException {
        server.setAttribute(name(), new Attribute(attribute, value));
    }

    private boolean connectsOverRdma() throws IOException {
        ConnectAttempt attempt = attempt(HERE);
        RdmaStream stream = attempt.await();
        if (stream != null) {
            stream.close();
        }
        return stream != null;
    }

    @Test
    void shouldSwitchNewConnectionsToTcpAndBack() throws Exception {
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            assertEquals("none", get("PolicyOverride"));
            RdmaStream before = attempt(HERE).await();
            RdmaStream accepted = listener.accept(RDMA_ALONE, 0);
            set("PolicyOverride", "tcp");
            assertEquals("tcp", get("PolicyOverride"));
            assertTrue(attempt(HERE).isTcp());
            assertEquals(1L, chosen("POLICY"));
            assertThrows(
                    RdmaConnectException.class,
                    () -> transport.connect(null, HERE, StreamConfig.DEFAULT).await(0),
                    "another process's connection");
            assertEquals(1L, get("RdmaRefused"));
            before.write(new byte[10], 0, 10, 0);
            assertEquals(10, accepted.read(new byte[10], 0, 10, 0));
            set("PolicyOverride", "none");
            assertTrue(connectsOverRdma());
            Exception wrong = assertThrows(RuntimeMBeanException.class, () -> set("PolicyOverride", "fast"));
            assertEquals(
                    "\"fast\" is not one of none, auto, rdma, tcp",
                    wrong.getCause().getMessage());
            before.close();
            accepted.close();
        }
    }

    @Test
    void shouldReadTheRulesAgain(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), "connect * * tcp\nbind * *\n");
        Settings settings = Settings.read("connect.timeout=50s,rules=" + file, new Properties(), Map.of());
        TransportHolder holder = TransportHolder.of(transport);
        context = TransportContext.open(settings, holder);
        server.unregisterMBean(name());
        PlatformBuilder.register(server, new TransportBean(context, holder));
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            assertFalse(listener.isRdmaAlone());
            assertFalse(connectsOverRdma());
            Files.writeString(file, "connect * * auto\n");
            assertEquals("1 rule of " + file, invoke("reloadRules"));
            assertTrue(connectsOverRdma());
            Files.writeString(file, "connect * * fast\n");
            Exception wrong = assertThrows(RuntimeMBeanException.class, () -> invoke("reloadRules"));
            assertTrue(wrong.getCause().getMessage().startsWith(file + " line 1: not one of"), wrong::toString);
            assertTrue(connectsOverRdma(), "the rules before stay");
            Files.writeString(file, "connect * * auto\naccept 10.0.0.0/8 *\n");
            invoke("reloadRules");
            assertFalse(connectsOverRdma(), "a listener that exists follows too");
            assertEquals(1L, get("RdmaRefused"));
        }
    }

    @Test
    void shouldSayThatThereAreNoRulesToRead() {
        Exception wrong = assertThrows(RuntimeMBeanException.class, () -> invoke("reloadRules"));
        assertEquals("rules: no rules file is set", wrong.getCause().getMessage());
    }

    @Test
    void shouldShowAndForgetWhatIsRemembered() throws Exception {
        InetSocketAddress unserved = new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 7471);
        ConnectAttempt refused = attempt(unserved);
        assertEquals(null, refused.await());
        refused.reportTcpOutcome(null);
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            assertTrue(connectsOverRdma());
            assertFalse(listener.isRdmaAlone());
        }
        Map<String, CompositeData> rows = new HashMap<>();
        for (CompositeData row : (CompositeData[]) invoke("showRemembered")) {
            rows.put((String) row.get("kind"), row);
        }
        assertEquals(Set.of("REFUSED", "ANSWERS"), rows.keySet());
        assertEquals("127.0.0.2", rows.get("REFUSED").get("address"));
        assertEquals(7471, rows.get("REFUSED").get("port"));
        assertTrue((long) rows.get("REFUSED").get("avoidedMillis") > 0);
        assertEquals("127.0.0.1", rows.get("ANSWERS").get("address"));
        assertEquals(0, rows.get("ANSWERS").get("port"));
        assertEquals(0L, rows.get("ANSWERS").get("avoidedMillis"));
        assertTrue(attempt(unserved).isTcp());
        assertEquals(2, invoke("forgetRemembered"));
        assertEquals(0, ((CompositeData[]) invoke("showRemembered")).length);
        assertFalse(attempt(unserved).isTcp());
    }

    @Test
    void shouldShowConnectionsAsNumbers() throws Exception {
        try (DualListener listener = DualListener.open(context, new NoSocket(HERE), 50, StreamConfig.DEFAULT)) {
            RdmaStream client = attempt(HERE).await();
            RdmaStream accepted = listener.accept(RDMA_ALONE, 0);
            client.write(new byte[100], 0, 100, 0);
            assertEquals(100, accepted.read(new byte[200], 0, 200, 0));
            CompositeData[] rows = (CompositeData[]) invoke("showConnections");
            assertEquals(2, rows.length);
            for (CompositeData row : rows) {
                boolean isClient = row.get("remotePort").equals(7471);
                assertEquals(isClient ? 100L : 0L, row.get("bytesWritten"));
                assertEquals(isClient ? 0L : 100L, row.get("bytesRead"));
                assertEquals("127.0.0.1", row.get("localAddress"));
                assertEquals("127.0.0.1", row.get("remoteAddress"));
                assertEquals(verbs.devices().get(0).name(), row.get("device"));
                assertEquals(true, row.get("open"));
                assertEquals("RDMA", row.get("transport"));
                assertEquals(0L, row.get("stalls"));
                assertEquals("NOTHING", row.get("waitsFor"));
                assertEquals(0L, row.get("bytesUnsent"));
                assertEquals(0L, row.get("bytesUnread"));
                assertEquals(0L, row.get("silentSeconds"));
                assertTrue((long) row.get("ageMillis") >= 0);
                assertTrue((long) row.get("registeredBytes") > 0);
            }
            client.close();
            accepted.close();
        }
    }

    @Test
    void shouldTellWhatItStandsOn() throws Exception {
        assertEquals(verbs.description(), get("Verbs"));
        assertTrue(((String) get("Settings")).contains("policy=auto"), () -> context.settings()
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

    /** Where all is left to TCP, say: a collector of numbers reads all attributes every few seconds. */
    @Test
    void shouldNotOpenRdmaToTellOfIt() {
        AtomicInteger opened = new AtomicInteger();
        TransportHolder closed = TransportHolder.opening(() -> {
            opened.incrementAndGet();
            return verbs;
        });
        TransportBean bean = new TransportBean(new TransportContext(Settings.defaults(), Rules.NONE, closed), closed);
        assertEquals("none: nothing has needed RDMA so far", bean.getVerbs());
        assertEquals(0, opened.get());
    }

    @Test
    void shouldNotWaitForADeviceThatHangsWhileItIsOpened() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        TransportHolder hanging = TransportHolder.opening(() -> {
            reached.countDown();
            awaitUninterrupted(answer);
            return verbs;
        });
        TransportBean bean = new TransportBean(new TransportContext(Settings.defaults(), Rules.NONE, hanging), hanging);
        CompletableFuture<VerbsProvider> opening = new CompletableFuture<>();
        Thread opener = new Thread(() -> {
            try {
                opening.complete(hanging.provider());
            } catch (VerbsUnavailableException e) {
                opening.completeExceptionally(e);
            }
        });
        opener.start();
        try {
            reached.await();
            assertEquals("none: RDMA is being opened at this moment", bean.getVerbs());
            assertFalse(hanging.hasVerbs());
            assertEquals(0, bean.getOpenConnections());
        } finally {
            answer.countDown();
        }
        assertEquals(verbs, opening.get());
        assertEquals(verbs.description(), bean.getVerbs());
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
