/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import org.jrsocket.os.Errno;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.wire.Refusal;
import org.junit.jupiter.api.Test;

/** Why a connection did not come about, in words of which the JDK's are the first. */
class ConnectAnswersTest {

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
}
