/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.wire.ConnData;

/**
 * What one attempt to connect has at the connection manager (the id, later the endpoint), and the steps that it takes
 * there. It owns both until there is a stream. Unless stated otherwise, each method is called with the lock of its
 * {@link CmConnect} held.
 */
final class ConnectRequest {

    /** The timeout for each stage of resolution. The kernel repeats an ARP request that is not answered each second. */
    private static final int RESOLVE_MILLIS = 2000;

    private final RdmaTransport transport;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final StreamConfig config;
    private final boolean probe;

    private CmId id;
    private Endpoint endpoint;
    private boolean asked;
    private RdmaStream unlogged; // used on the service thread

    ConnectRequest(
            RdmaTransport transport,
            InetSocketAddress local,
            InetSocketAddress remote,
            StreamConfig config,
            boolean probe) {
        this.transport = transport;
        this.local = local;
        this.remote = remote;
        this.config = config;
        this.probe = probe;
    }

    /** Returns whether the request connects from a port of the caller's choice. */
    boolean isFromPort() {
        return local != null && local.getPort() != 0;
    }

    /** Returns whether only the answer is wanted, not a connection. */
    boolean isProbe() {
        return probe;
    }

    /** Returns whether the peer was asked. */
    boolean wasAsked() {
        return asked;
    }

    /** Begins the attempt; {@code handler} is told of its events. */
    void resolveAddress(CmHandler handler) throws IOException {
        Cm cm = transport.cm();
        id = cm.createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
        id.attach(handler);
        PathTimers.setAckTimeout(cm, id, config);
        if (config.typeOfService() != 0) {
            cm.setOption(id, Cm.OPTION_TOS, config.typeOfService());
        }
        if (isFromPort()) {
            cm.setOption(id, Cm.OPTION_REUSEADDR, 1); // TCP may have held the port just before
        }
        cm.resolveAddr(id, local, remote, RESOLVE_MILLIS);
    }

    /** Describes where the request leads, for people: the peer's address, and the device if it is known. */
    String where() {
        String address = remote.toString();
        Device device = id == null ? null : id.getVerbs();
        return address.substring(address.indexOf('/') + 1) + (device == null ? "" : " over " + device.name());
    }

    /** Returns the name of the device that the address has led to. */
    String device() {
        return id.getVerbs().name();
    }

    /** Returns the address of this host that the route leaves by. */
    InetAddress source() throws IOException {
        return ((InetSocketAddress) id.getSource()).getAddress();
    }

    void resolveRoute() throws IOException {
        transport.cm().resolveRoute(id, RESOLVE_MILLIS);
    }

    /**
     * Makes the endpoint, once the device is known; the kernel may be finding the route at the same time.
     *
     * @throws RdmaConnectException with the reason: an errno from here says nothing about the address
     */
    void makeEndpoint() throws RdmaConnectException {
        try {
            endpoint = new Endpoint(transport, id, config);
        } catch (IOException e) {
            boolean gone = e instanceof ErrnoException v && v.errno() == Errno.ENODEV;
            throw new RdmaConnectException(gone ? Reason.NO_DEVICE : Reason.RESOURCES, e.getMessage(), e);
        }
    }

    /** Sends the request to the peer. */
    void ask() throws IOException {
        int features = Endpoint.FEATURES | (probe ? ConnData.FEATURE_PROBE : 0);
        transport
                .cm()
                .connect(
                        id,
                        HandshakeParameters.ofRequest(
                                endpoint.connData().withFeatures(features), endpoint.device.isIwarp()));
        asked = true;
    }

    /** Makes the stream when the peer has accepted, and passes the endpoint and the id on to it. */
    RdmaStream established(ConnData peer) throws IOException {
        RdmaStream stream = transport.established(endpoint, peer);
        endpoint = null;
        id = null;
        unlogged = stream;
        return stream;
    }

    /** Tells the log of a connection that was just made. Called without the lock, once who waits for it has it. */
    void log() {
        if (unlogged != null) {
            RdmaStream made = unlogged;
            unlogged = null; // it may end long before this attempt is forgotten
            RdmaTransport.log(made);
        }
    }

    /** Returns the endpoint, or null if there is none. Its queues may be freed without the lock. */
    Endpoint endpoint() {
        return endpoint;
    }

    /** Has a reaper free the queues, so that no answer makes a connection of them; the id goes on listening. */
    void releaseQueues() {
        transport.reap(endpoint::freeQueues);
    }

    /** Has a reaper free everything. */
    void release() {
        Endpoint whole = endpoint;
        CmId alone = id;
        endpoint = null;
        id = null;
        if (whole != null) {
            transport.reap(whole::free);
        } else if (alone != null) {
            transport.reap(() -> Freeing.destroy(alone));
        }
    }
}
