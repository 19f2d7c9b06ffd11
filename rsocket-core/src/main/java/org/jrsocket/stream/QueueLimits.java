/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.verbs.CmId;

/**
 * What a device granted to the queue pair of a connection.
 *
 * @param device the name of the device
 * @param sendQueue work requests that may be on their way at a time
 * @param receiveQueue receives that may be posted at a time
 * @param inline bytes of payload inside a work request
 */
public record QueueLimits(String device, int sendQueue, int receiveQueue, int inline) {

    /** Makes an endpoint on the device that has {@code local}, and frees it again. */
    static QueueLimits of(Services services, InetAddress local, StreamConfig config) throws IOException {
        CmId id = services.cm.createId(services.channel, RdmaCm.RDMA_PS_TCP);
        Endpoint endpoint;
        try {
            services.cm.bindAddr(id, new InetSocketAddress(local, 0));
            endpoint = new Endpoint(services, id, config);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(id);
            throw e;
        }
        QueueLimits granted = new QueueLimits(
                endpoint.device.name(), endpoint.sendSlots, endpoint.receiveSlots, endpoint.inlineLimit);
        endpoint.free();
        return granted;
    }
}
