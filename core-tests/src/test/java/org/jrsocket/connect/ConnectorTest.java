/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.stream.RdmaListener;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is decided for a connection and for a listener when RDMA does not come about. */
class ConnectorTest {

    private static final InetSocketAddress PEER = new InetSocketAddress("10.0.0.1", 80);
    private static final InetSocketAddress OTHER_PORT = new InetSocketAddress("10.0.0.1", 81);
    private final VerbsUnavailableException none = new VerbsUnavailableException(
            VerbsUnavailableException.Reason.NO_DEVICE, "no RDMA device on this host: add one", null);

    private final FakeRdma rdma = new FakeRdma();

    private TransportContext context(String settings, String... rules) throws ConfigurationException {
        return new TransportContext(
                Settings.read(settings, new Properties(), Map.of()),
                rules.length == 0 ? Rules.NONE : RulesFile.parse("rules", List.of(rules)),
                rdma);
    }

    private static ConnectAttempt attempt(TransportContext context, InetSocketAddress peer, long timeoutNanos)
            throws ConnectException {
        ConnectAttempt attempt = context.connector().attempt(null, peer, StreamConfig.DEFAULT, timeoutNanos);
        return attempt.isTcp() ? null : attempt;
    }

    /** One connection as a socket makes it: RDMA fails, and TCP comes to {@code tcp}. */
    private static void connect(TransportContext context, InetSocketAddress peer, IOException tcp) throws IOException {
        ConnectAttempt attempt = attempt(context, peer, 0);
        if (attempt != null) {
            assertNull(attempt.await());
            attempt.reportTcpOutcome(tcp);
        }
    }

    @Test
    void shouldNotTryRdmaWhereThePolicyIsTcp() throws Exception {
        TransportContext context = context("policy=tcp");
        assertNull(attempt(context, PEER, 0));
        assertEquals(0, rdma.attempts);
        assertEquals(1, context.counts().tcpChosen(TcpReason.POLICY));
    }

    @Test
    void shouldFollowTheRuleBeforeThePolicy() throws Exception {
        TransportContext context = context("policy=tcp", "connect 10.0.0.1 80 auto");
        assertNotNull(attempt(context, PEER, 0));
        assertNull(attempt(context, OTHER_PORT, 0));
    }

    @Test
    void shouldUseTcpWhereNoRuleNamesAPeerAndNoPolicyIsGiven() throws Exception {
        assertNull(attempt(context(null, "connect 10.0.0.2 * auto"), PEER, 0));
        assertNotNull(attempt(context("policy=auto", "connect 10.0.0.2 * auto"), PEER, 0));
    }

    @Test
    void shouldUseTcpWithoutRdma() throws Exception {
        rdma.unavailable = none;
        TransportContext context = context(null);
        assertNull(attempt(context, PEER, 0));
        assertEquals(1, context.counts().tcpChosen(TcpReason.UNAVAILABLE));
    }

    @Test
    void shouldSayWhyThereIsNoRdmaWhereItIsWanted() throws Exception {
        rdma.unavailable = none;
        TransportContext context = context("policy=rdma");
        assertEquals(
                none.getMessage(),
                assertThrows(ConnectException.class, () -> attempt(context, PEER, 0))
                        .getMessage());
    }

    @ParameterizedTest
    @EnumSource(value = Reason.class, names = "CANCELLED", mode = EnumSource.Mode.EXCLUDE)
    void shouldFallBackForEveryReason(Reason reason) throws Exception {
        rdma.outcome = reason;
        TransportContext context = context(null);
        assertNull(attempt(context, PEER, 0).await());
        assertEquals(1, context.counts().tcpChosen(TcpReason.of(reason)));
    }

    @Test
    void shouldNotFallBackWhereRdmaIsWanted() throws Exception {
        ConnectAttempt attempt = attempt(context("policy=rdma"), PEER, 0);
        assertEquals(
                Reason.REFUSED,
                assertThrows(RdmaConnectException.class, attempt::await).reason());
        assertEquals(Long.MAX_VALUE, rdma.lastWait, "nothing comes after it, so it has no budget");
    }

    @Test
    void shouldTimeOutAsASocketDoesWhereRdmaIsWanted() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        ConnectAttempt attempt = attempt(context("policy=rdma"), PEER, TimeUnit.MILLISECONDS.toNanos(700));
        assertEquals(
                "Connect timed out",
                assertThrows(SocketTimeoutException.class, attempt::await).getMessage());
        assertTrue(rdma.lastWait > 0 && rdma.lastWait <= TimeUnit.MILLISECONDS.toNanos(700));
    }

    @ParameterizedTest
    @CsvSource({"0,100", "10000,100", "150,75"})
    void shouldLeaveTcpHalfOfTheCallersTimeAtLeast(long timeout, long most) throws Exception {
        attempt(context(null), PEER, TimeUnit.MILLISECONDS.toNanos(timeout)).await();
        assertTrue(rdma.lastWait <= TimeUnit.MILLISECONDS.toNanos(most), () -> rdma.lastWait + " ns");
    }

    @Test
    void shouldSayWhatElseFailedWhereRdmaIsWantedInTime() throws Exception {
        rdma.outcome = Reason.UNREACHABLE;
        ConnectAttempt attempt = attempt(context("policy=rdma"), PEER, TimeUnit.HOURS.toNanos(1));
        assertEquals(
                Reason.UNREACHABLE,
                assertThrows(RdmaConnectException.class, attempt::await).reason());
    }

    @Test
    void shouldSayThatTheSocketClosedWhenCancelled() throws Exception {
        ConnectAttempt attempt = attempt(context(null), PEER, 0);
        attempt.cancel();
        assertEquals(
                "Socket closed",
                assertThrows(SocketException.class, attempt::await).getMessage());
    }

    @Test
    void shouldRememberARefusalForThatPort() throws Exception {
        TransportContext context = context(null);
        connect(context, PEER, null);
        assertNull(attempt(context, PEER, 0));
        assertEquals(1, context.counts().tcpChosen(TcpReason.REMEMBERED));
        assertNotNull(attempt(context, OTHER_PORT, 0));
    }

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"TIMEOUT", "UNREACHABLE", "UNRESOLVED"})
    void shouldRememberASilentHostForAllItsPorts(Reason reason) throws Exception {
        rdma.outcome = reason;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, null);
        assertNull(attempt(context, OTHER_PORT, 0));
    }

    @Test
    void shouldRememberAHostThatAnswersOverTcpIfOnlyToRefuse() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, new ConnectException("Connection refused"));
        assertNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldLearnNothingFromAPortThatRefusesBoth() throws Exception {
        TransportContext context = context(null);
        connect(context, PEER, new ConnectException("Connection refused")); // its server restarts
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldTakeABusyListenerForOneThatWillHaveRoom() throws Exception {
        rdma.outcome = Reason.BUSY;
        TransportContext context = context(null);
        connect(context, PEER, null);
        assertEquals(1, context.counts().tcpChosen(TcpReason.BUSY));
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldRememberAHostThatDidNotAnswerBeforeTheCallerClosed() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=20ms");
        int tries = 0;
        for (ConnectAttempt attempt = attempt(context, PEER, 0); attempt != null; attempt = attempt(context, PEER, 0)) {
            tries++;
            Thread.sleep(1); // the caller's own timer, shorter than any of ours
            attempt.cancel();
        }
        assertTrue(tries > 0);
        assertEquals(1, context.counts().tcpChosen(TcpReason.REMEMBERED));
    }

    /** Whoever waits already has been told of the time that resolving may take, which is five times as long. */
    @Test
    void shouldCountTheHeadStartFromTheRequest() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        rdma.lastLimit = Long.MAX_VALUE;
        rdma.asks = false;
        TransportContext context = context("connect.timeout=1h");
        assertNotNull(attempt(context, PEER, 0));
        rdma.peer.asked();
        assertTrue(rdma.lastLimit <= TimeUnit.HOURS.toNanos(1), () -> rdma.lastLimit + " ns");
    }

    /** Its route may not be found. */
    @Test
    void shouldLimitTheTimeOfACallerThatDoesNotBlockBeforeThePeerIsAsked() throws Exception {
        rdma.lastLimit = Long.MAX_VALUE;
        rdma.asks = false;
        attempt(context("connect.timeout=1h"), PEER, 0).whenDecided(() -> {});
        assertTrue(rdma.lastLimit <= TimeUnit.HOURS.toNanos(5), () -> rdma.lastLimit + " ns");
    }

    @Test
    void shouldWaitForADeviceThatTakesLongOnlyWithoutAnAlternative() throws Exception {
        assertNotNull(attempt(context("policy=auto"), PEER, 0));
        assertFalse(rdma.peer.isPatient());
        assertNotNull(attempt(context("policy=rdma"), PEER, 0));
        assertTrue(rdma.peer.isPatient());
    }

    @Test
    void shouldForgetASilenceWhenTheAnswerWasOnlyLate() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, null);
        assertNull(attempt(context, PEER, 0));
        rdma.peer.answered(Answer.OURS);
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldHaveAProbeAskASilentHostAndNoConnectionWait() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, null);
        for (int i = 0; i < 3; i++) {
            assertNull(attempt(context, PEER, 0));
            assertNull(attempt(context, OTHER_PORT, 0));
            assertEquals(1, rdma.scheduled.size(), "one probe for all");
            rdma.scheduled.remove(0).run();
        }
        assertEquals(3, rdma.probes);
        assertNull(attempt(context, PEER, 0));
        rdma.probeAnswer = Answer.OURS;
        rdma.scheduled.remove(0).run();
        assertNotNull(attempt(context, PEER, 0));
        assertEquals(2, rdma.attempts, "the first, and now");
    }

    /** For lack of memory, say. The host would be silent for ever if everybody relied on that probe. */
    @Test
    void shouldArrangeForAProbeAgainWhenThatHasFailed() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, null);
        rdma.atService = () -> {
            throw new OutOfMemoryError("says a test");
        };
        assertThrows(OutOfMemoryError.class, () -> attempt(context, PEER, 0));
        rdma.atService = () -> {};
        assertNull(attempt(context, PEER, 0));
        rdma.probeAnswer = Answer.OURS;
        rdma.scheduled.remove(0).run();
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldLearnNothingFromAHostThatIsDown() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, new NoRouteToHostException("No route to host"));
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldLeaveTcpAllTheTimeAfterItHadTooLittle() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, new SocketTimeoutException("Connect timed out"));
        ConnectAttempt tcp = context.connector().attempt(null, PEER, StreamConfig.DEFAULT, 0);
        assertTrue(tcp.isTcp());
        tcp.reportTcpOutcome(new SocketTimeoutException("Connect timed out")); // so it was not for lack of time
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldNotBlameThePeerForWhatThisHostLacks() throws Exception {
        rdma.outcome = Reason.RESOURCES;
        TransportContext context = context(null);
        connect(context, PEER, null);
        assertNotNull(attempt(context, PEER, 0));
    }

    /** It would say so to each connection. */
    @Test
    void shouldSpareAPortWhoseHostIsUnable() throws Exception {
        rdma.outcome = Reason.UNABLE;
        TransportContext context = context(null);
        connect(context, PEER, null);
        assertNull(attempt(context, PEER, 0));
        assertNotNull(attempt(context, OTHER_PORT, 0));
    }

    @Test
    void shouldNotAvoidAHostThatHadLittleTime() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1h");
        ConnectAttempt attempt = attempt(context, PEER, TimeUnit.MILLISECONDS.toNanos(2));
        assertNull(attempt.await());
        attempt.reportTcpOutcome(null);
        assertNotNull(attempt(context, PEER, 0));
    }

    /** Its request had not left yet when the caller's time was over: that says nothing of the host. */
    @Test
    void shouldNotAvoidAHostThatHasAnsweredBeforeForOneThatHadLittleTime() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        TransportContext context = context("connect.timeout=1h");
        assertNotNull(attempt(context, PEER, 0));
        rdma.peer.answered(Answer.OURS);
        rdma.asks = false;
        ConnectAttempt attempt = attempt(context, PEER, TimeUnit.MILLISECONDS.toNanos(2));
        assertNull(attempt.await());
        attempt.reportTcpOutcome(null);
        assertNotNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldRememberAHostToWhichNoRouteIsFoundInTime() throws Exception {
        rdma.outcome = Reason.TIMEOUT;
        rdma.asks = false;
        TransportContext context = context("connect.timeout=1ms");
        connect(context, PEER, null);
        assertEquals(1, context.counts().tcpChosen(TcpReason.UNRESOLVED));
        assertNull(attempt(context, PEER, 0));
    }

    @Test
    void shouldTryEvenARememberedPeerWhereRdmaIsWanted() throws Exception {
        TransportContext context = context("policy=rdma,connect.timeout=1ms", "connect * 80 auto");
        rdma.outcome = Reason.TIMEOUT;
        connect(context, PEER, null);
        assertNull(attempt(context, PEER, 0));
        assertNotNull(attempt(context, OTHER_PORT, 0));
    }

    // ---- listening ----

    private final FakePort port = FakePort.given(PEER);

    private DualListener listen(TransportContext context) throws IOException {
        return DualListener.open(context, port, 50, StreamConfig.DEFAULT);
    }

    @Test
    void shouldListenOverTcpAloneWithoutADevice() throws Exception {
        rdma.listenFailure = new ErrnoException("rdma_bind_addr", "10.0.0.1", Errno.ENODEV);
        assertNull(listen(context(null)));
        rdma.listenFailure = new ErrnoException("rdma_listen", "10.0.0.1", Errno.ENOMEM);
        assertNull(listen(context(null)));
        rdma.unavailable = none;
        assertNull(listen(context(null)));
    }

    @Test
    void shouldListenOverTcpAloneWhereThePolicySaysSo() throws Exception {
        assertNull(listen(context("policy=tcp")));
        assertNull(listen(context("policy=auto,listen=off")));
    }

    @Test
    void shouldWaitForAPortThatIsTakenOverRdmaOrSaySo() throws Exception {
        rdma.listenFailure = new ErrnoException("rdma_bind_addr", "10.0.0.1", Errno.EADDRINUSE);
        rdma.listener = mock(RdmaListener.class);
        TransportContext context = context(null);
        assertNotNull(listen(context));
        assertEquals(RdmaListener.Patience.Next.TRY, rdma.patience.next());
        context.override(Policy.TCP);
        assertEquals(RdmaListener.Patience.Next.NOT_NOW, rdma.patience.next(), "nobody wants RDMA there any more");
        context.override(null);
        assertEquals(RdmaListener.Patience.Next.TRY, rdma.patience.next());
        assertThrows(BindException.class, () -> listen(context("policy=rdma")));
    }

    /** A specific address beside somebody's wildcard. */
    @Test
    void shouldNotWaitForThePortOfAWildcard() throws Exception {
        rdma.listenFailure = new ErrnoException("rdma_bind_addr", "10.0.0.1", Errno.EADDRNOTAVAIL);
        assertNull(listen(context(null)));
    }

    @Test
    void shouldNotListenOverTcpAloneWhereRdmaIsWanted() throws Exception {
        rdma.unavailable = none;
        TransportContext context = context("policy=rdma");
        assertEquals(
                "cannot listen over RDMA: " + none.getMessage(),
                assertThrows(SocketException.class, () -> listen(context)).getMessage());
    }

    @Test
    void shouldNotListenOverRdmaWhereThatIsSwitchedOff() throws Exception {
        assertNull(listen(context("policy=rdma,listen=off", "bind * 80 rdma")));
        assertNotNull(attempt(context("listen=off"), PEER, 0), "clients are not concerned");
    }

    @Test
    void shouldUseRdmaAsBeforeBesideAcceptRules() throws Exception {
        assertNotNull(attempt(context(null, "accept 10.0.0.9 *"), PEER, 0));
        assertNull(attempt(context(null, "accept 10.0.0.9 *", "bind * *"), PEER, 0));
        TransportContext tcp = context("policy=tcp", "accept 10.0.0.9 *");
        assertFalse(tcp.mayUse(Policy.AUTO));
    }

    @Test
    void shouldTakeBindRulesForListeners() throws Exception {
        rdma.unavailable = none;
        assertNull(listen(context("policy=rdma", "bind 10.0.0.1 80 tcp")));
        assertThrows(SocketException.class, () -> listen(context("policy=tcp", "bind * 80 rdma")));
    }
}
