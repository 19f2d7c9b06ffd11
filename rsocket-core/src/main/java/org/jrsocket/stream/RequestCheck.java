/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.Refusal;
import org.jrsocket.wire.WireException;

/** Checks requests before anything is made for them. Used on the service thread. */
final class RequestCheck {

    private final Access access;
    private final Refusals refusals;
    private final LimitedLog unwelcome = new LimitedLog(Logs.LISTENER);

    RequestCheck(Access access, Refusals refusals) {
        this.access = access;
        this.refusals = refusals;
    }

    /**
     * Returns what was asked for, or null if it has been refused.
     *
     * @param address the listener's
     */
    Admission.Request checked(CmId request, byte[] privateData, InetSocketAddress address) {
        long taken = System.nanoTime();
        InetAddress source = null;
        try {
            source = ((InetSocketAddress) request.getDestination()).getAddress();
            InetAddress local = ((InetSocketAddress) request.getSource()).getAddress();
            Device device = request.getVerbs();
            String why = access.refusal(source, new InetSocketAddress(local, address.getPort()), device.name());
            if (why != null) {
                refusals.refuse(
                        request, Refusal.encode(Refusal.DENIED), () -> access.refused(System.nanoTime() - taken));
                unwelcome.warn("RDMA connection request to {} from {} refused: {}", address, source, why);
                return null;
            }
            ConnData peer = ConnData.parse(privateData);
            return new Admission.Request(request, device, peer, source, taken);
        } catch (WireException e) {
            unwelcome.warn("RDMA connection request to {} from {} refused: {}", address, source, e.getMessage());
            refusals.refuse(request, Refusals.nothing());
        } catch (IOException | RuntimeException e) { // most likely the request is gone already
            Logs.LISTENER.debug("RDMA connection request to {} refused: it cannot be checked", address, e);
            refusals.refuse(request, Refusals.nothing());
        } catch (OutOfMemoryError e) {
            refusals.refuse(request, Refusal.encode(Refusal.BUSY));
            unwelcome.warn("RDMA connection request to {} from {} refused: {}", address, source, e.toString());
        }
        return null;
    }
}
