/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.List;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Why a connection did not come about, in words of which the JDK's are the first. */
class ConnectAnswersTest {

    /** DiSNI's events ask for a provider, and without one for a library that there is not. */
    @BeforeAll
    static void provide() {
        new LoopbackProvider().install();
    }

    private static void assertFailure(Reason reason, String words, EventType type, int status, byte[] privateData)
            throws IOException {
        CmEvent event = new CmEvent(type.ordinal(), status, null, null, null, privateData);
        RdmaConnectException e = ConnectAnswers.failure(event);
        assertEquals(reason, e.reason());
        assertEquals(words, e.getMessage());
    }

    private static void assertRefusal(Reason reason, String words, int status, byte[] privateData) throws IOException {
        assertFailure(reason, words, EventType.RDMA_CM_EVENT_REJECTED, status, privateData);
    }

    @Test
    void shouldSayWhyThePeerRefused() throws IOException {
        byte[] nothing = {};
        assertRefusal(Reason.REFUSED, "Connection refused, no RDMA listener there", 8, nothing);
        assertRefusal(Reason.REFUSED, "Connection refused", -Errno.ECONNREFUSED, nothing); // iWARP
        assertRefusal(Reason.REFUSED, "Connection refused, reject reason 28", 28, nothing);
        assertRefusal(
                Reason.DENIED,
                "Connection refused by the peer's rules or devices, or because the peer is drained",
                28,
                Refusal.encode(Refusal.DENIED));
        assertRefusal(
                Reason.BUSY,
                "Connection refused: the peer cannot take another RDMA connection at the moment",
                28,
                Refusal.encode(Refusal.BUSY));
        assertRefusal(
                Reason.UNABLE,
                "Connection refused: the peer's host cannot accept RDMA connections; see the server's log there",
                28,
                Refusal.encode(Refusal.UNABLE));
    }

    @Test
    void shouldTellALackOfADeviceFromAnAddressThatDoesNotResolve() throws IOException {
        EventType type = EventType.RDMA_CM_EVENT_ADDR_ERROR;
        assertFailure(Reason.NO_DEVICE, "address not resolved: No such device", type, -Errno.ENODEV, new byte[0]);
        assertFailure(
                Reason.UNRESOLVED, "address not resolved: Connection timed out", type, -Errno.ETIMEDOUT, new byte[0]);
    }

    /** The peer's queue pair went away right after its answer: it is there, and no reason to look for a lack here. */
    @Test
    void shouldTellAnAnswerThatCannotBeUsedFromALackOfResources() throws IOException {
        EventType type = EventType.RDMA_CM_EVENT_CONNECT_ERROR;
        assertFailure(Reason.REFUSED, "connecting failed: Invalid argument", type, -Errno.EINVAL, new byte[0]);
        assertFailure(Reason.RESOURCES, "connecting failed: Cannot allocate memory", type, -Errno.ENOMEM, new byte[0]);
    }

    /** After a hard reset of this host each old end there costs one request. That is no verdict on the peer. */
    @Test
    void shouldTakeARequestThatEndsAnOldConnectionForOneToBeMadeAgain() throws IOException {
        assertFailure(
                Reason.BUSY,
                "Connection refused: the peer still had an old connection of this host, which ends now",
                EventType.RDMA_CM_EVENT_REJECTED,
                10,
                new byte[0]);
    }

    private static Answer answer(EventType type, byte[] privateData) throws IOException {
        return ConnectAnswers.of(new CmEvent(type.ordinal(), 0, null, null, null, privateData));
    }

    @Test
    void shouldKnowAPeerOfItsOwnKindByItsAnswer() throws IOException {
        ConnData foreign = ConnData.local(16, 0x1000, 1, 2, 0x2000, 2, 64);
        byte[] ours = foreign.withFeatures(0).encode();
        for (EventType type : List.of(EventType.RDMA_CM_EVENT_ESTABLISHED, EventType.RDMA_CM_EVENT_CONNECT_RESPONSE)) {
            assertEquals(Answer.OURS, answer(type, ours));
            assertEquals(Answer.FOREIGN, answer(type, foreign.encode()));
            assertEquals(Answer.FOREIGN, answer(type, new byte[3]));
        }
    }

    @Test
    void shouldKnowAPeerOfItsOwnKindByItsAnswerToAProbe() throws IOException {
        EventType type = EventType.RDMA_CM_EVENT_REJECTED;
        assertEquals(Answer.OURS, answer(type, Refusal.encode(Refusal.PROBED)));
        assertEquals(Answer.REFUSED, answer(type, Refusal.encode(Refusal.BUSY)));
        assertEquals(Answer.REFUSED, answer(type, new byte[0]));
    }

    @Test
    void shouldTakeNothingOfThisHostsForAnAnswer() throws IOException {
        for (EventType type : List.of(EventType.RDMA_CM_EVENT_CONNECT_ERROR, EventType.RDMA_CM_EVENT_DISCONNECTED)) {
            assertEquals(Answer.REFUSED, answer(type, new byte[0]), type.toString());
        }
        for (EventType type : List.of(
                EventType.RDMA_CM_EVENT_ADDR_ERROR,
                EventType.RDMA_CM_EVENT_ROUTE_ERROR,
                EventType.RDMA_CM_EVENT_UNREACHABLE,
                EventType.RDMA_CM_EVENT_DEVICE_REMOVAL)) {
            assertNull(answer(type, new byte[0]), type.toString());
        }
    }

    @Test
    void shouldTellWhatIsLackingFromTheErrorOfACall() {
        for (int errno : new int[] {Errno.ENODEV, Errno.EINVAL}) {
            assertEquals(Reason.NO_DEVICE, ConnectAnswers.reasonOf(new ErrnoException("test", "", errno)));
        }
        for (int errno : new int[] {Errno.ENETUNREACH, Errno.EHOSTUNREACH}) {
            assertEquals(Reason.UNRESOLVED, ConnectAnswers.reasonOf(new ErrnoException("test", "", errno)));
        }
        assertEquals(Reason.RESOURCES, ConnectAnswers.reasonOf(new ErrnoException("test", "", Errno.ENOMEM)));
        assertEquals(Reason.RESOURCES, ConnectAnswers.reasonOf(new IOException("test")));
    }

    /** The kernel's words for it: all of net.ipv4.ip_local_port_range is in use, or the chosen port is. */
    @Test
    void shouldNotTakeALackOfLocalPortsForALackOfADevice() {
        ErrnoException e = new ErrnoException("rdma_resolve_addr", "192.0.2.1:80", Errno.EADDRNOTAVAIL);
        assertEquals(Reason.RESOURCES, ConnectAnswers.reasonOf(e));
    }
}
