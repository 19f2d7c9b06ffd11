/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import org.jrsocket.endpoint.Endpoint;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.endpoint.PathTimers;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RdmaConnectException.Reason;
import org.jrsocket.threads.PatientLock;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.jrsocket.wire.ConnData;
import org.jrsocket.wire.WireException;

/**
 * What one attempt to connect has at the connection manager (the id, later the endpoint), and the steps that it takes
 * there. It owns both until there is a stream. Unless stated otherwise, each method is called with the attempt's lock
 * held.
 */
final class ConnectRequest {

    /** The timeout for each stage of resolution. The kernel repeats an ARP request that is not answered each second. */
    private static final int RESOLVE_MILLIS = 2000;

    /** A step of an attempt that is taken with its lock held. */
    interface Step {
        void take() throws IOException;
    }

    private final CmServices cmServices;
    private final Services services;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final StreamConfig config;
    private final boolean probe;

    private CmId id;
    private volatile boolean making; // a maker has been told
    private boolean used; // by a maker: the id
    private boolean abandoned; // before the maker had finished
    private boolean routed;
    private Endpoint endpoint;
    private Throwable trouble; // of the maker
    private boolean asked;
    private ConnData peer; // its answer
    private volatile Endpoint endpointLeft; // to be freed without the lock; written with it, or to null
    private volatile CmId idLeft; // likewise
    private final AtomicReference<RdmaStream> unlogged = new AtomicReference<>();
    // Made beforehand: a maker without memory for them would tell nobody.
    private final Work makesEndpoint = where -> endpoint = endpointOn(where);
    private final Work preparesQueues;
    private final RdmaConnectException outOfMemory = RdmaConnectException.outOfMemory();

    ConnectRequest(
            CmServices cmServices,
            InetSocketAddress local,
            InetSocketAddress remote,
            StreamConfig config,
            boolean probe) {
        this.cmServices = cmServices;
        this.services = cmServices.services;
        this.local = local;
        this.remote = remote;
        this.config = config;
        this.probe = probe;
        this.preparesQueues = services.cm::prepare;
    }

    /** Returns whether the request connects from a port of the caller's choice. */
    boolean isFromPort() {
        return local != null && local.getPort() != 0;
    }

    /** Returns whether only the answer is wanted, not a connection. */
    boolean isProbe() {
        return probe;
    }

    /** Returns whether the peer was asked and has not answered. */
    boolean isUnanswered() {
        return asked && peer == null;
    }

    /** Returns whether the peer has agreed to a connection. */
    boolean isAnswered() {
        return peer != null;
    }

    /** Begins the attempt; {@code handler} is told of its events. */
    void resolveAddress(CmHandler handler) throws IOException {
        Cm cm = services.cm;
        id = cm.createId(services.channel, RdmaCm.RDMA_PS_TCP);
        id.attach(handler);
        PathTimers.setAckTimeout(cm, id, config.ackTimeoutNanos());
        if (config.typeOfService() != 0) {
            cm.setOption(id, Cm.OPTION_TOS, config.typeOfService());
        }
        if (isFromPort()) {
            cm.setOption(id, Cm.OPTION_REUSEADDR, 1); // TCP may have held the port just before
        }
        cm.resolveAddr(id, local, remote, RESOLVE_MILLIS);
    }

    /** Returns what the trouble with a call on this host, or with the peer's answer, means for the attempt. */
    RdmaConnectException failed(Throwable e) {
        try {
            return failure(e);
        } catch (OutOfMemoryError again) { // it has to end all the same
            return outOfMemory;
        }
    }

    private RdmaConnectException failure(Throwable e) {
        if (e instanceof WireException) {
            return failedThere(Reason.PROTOCOL, "the peer answered, but not with rsocket v1: " + e.getMessage(), e);
        }
        if (e instanceof ErrnoException v && isAnswered()) {
            RdmaConnectException why = ConnectAnswers.unusable(v.errno());
            return failedThere(why.reason(), why.getMessage(), e);
        }
        return ConnectAnswers.failure(e);
    }

    /** Returns a failure whose message does not mention RDMA and the address itself. */
    RdmaConnectException failedThere(Reason reason, String message, Throwable cause) {
        return new RdmaConnectException(reason, message + ": RDMA to " + where(), cause);
    }

    /** Describes where the request leads, for people: the peer's address, and the device if it is known. */
    String where() {
        String address = remote.toString();
        Device device = id == null ? null : id.getVerbs();
        return address.substring(address.indexOf('/') + 1) + (device == null ? "" : " over " + device.name());
    }

    /** Returns the device that the address has led to. */
    Device device() {
        return id.getVerbs();
    }

    /** Returns the address of this host that the route leaves by. */
    InetAddress source() throws IOException {
        return ((InetSocketAddress) id.getSource()).getAddress();
    }

    /**
     * Has the kernel find the route, and meanwhile a maker run {@code make}, once the device is known.
     *
     * @param patient whether to do so although the device may not answer for now
     */
    void resolveRoute(Runnable make, boolean patient) throws IOException {
        if (!patient && services.makers.waitLongFor(device())) {
            String why = "RDMA device " + device().name() + " takes long to make the queue pairs of other connections";
            throw new RdmaConnectException(Reason.RESOURCES, why, null);
        }
        services.cm.resolveRoute(id, RESOLVE_MILLIS);
        begun(services.makers.execute(device(), make));
    }

    private void begun(boolean accepted) throws RdmaConnectException {
        if (!accepted) {
            throw new RdmaConnectException(Reason.RESOURCES, "the RDMA transport was closed", null);
        }
        making = true;
    }

    /** Takes note of the route. Returns whether the peer can be asked now. */
    boolean isRouted() {
        routed = true;
        return !making;
    }

    /** Returns whether a maker is, or will be, at work for it. May be called without the lock. */
    boolean isBeingMade() {
        return making;
    }

    /** Says what an attempt that takes too long waits for, if that is this host's device. */
    String obstacle() {
        return making && routed
                ? ": its device takes long to " + (peer == null ? "make" : "connect") + " a queue pair"
                : "";
    }

    /** Makes the endpoint. Called by a maker, without the lock. {@link #isReady} then passes it on. */
    void makeEndpoint(PatientLock lock) {
        work(lock, makesEndpoint);
    }

    /** Makes the queue pair ready for the peer that has answered. Called likewise. */
    void prepareQueues(PatientLock lock) {
        work(lock, preparesQueues);
    }

    private interface Work {
        void on(CmId where) throws IOException;
    }

    /** Does what takes the device's time, unless nobody wants it any more. */
    private void work(PatientLock lock, Work work) {
        CmId wanted;
        lock.lock();
        try {
            wanted = abandoned ? null : id;
            used = wanted != null;
        } finally {
            lock.unlock();
        }
        if (wanted == null) { // it waited too long for its maker
            return;
        }
        try {
            work.on(wanted);
        } catch (IOException | RuntimeException | Error e) {
            trouble = e;
        }
    }

    /**
     * Ends the maker's part. Frees what it has made if nobody wants it any more.
     *
     * @return whether the peer can be asked now, or told that it is connected
     * @throws IOException the trouble that the maker has met
     */
    boolean isReady() throws IOException {
        making = false;
        used = false;
        if (abandoned) {
            release();
            return false;
        }
        if (trouble instanceof IOException e) {
            throw e;
        } else if (trouble != null) {
            throw new RdmaConnectException(Reason.RESOURCES, trouble.toString(), trouble);
        }
        return routed;
    }

    /** Throws an exception that names the reason: an errno from here says nothing about the address. */
    private Endpoint endpointOn(CmId where) throws RdmaConnectException {
        try {
            return new Endpoint(services.endpoints, where, config.endpointSizes());
        } catch (IOException e) {
            boolean gone = e instanceof ErrnoException v && v.errno() == Errno.ENODEV;
            throw new RdmaConnectException(gone ? Reason.NO_DEVICE : Reason.RESOURCES, e.getMessage(), e);
        }
    }

    /** Sends the request to the peer. */
    void ask() throws IOException {
        int features = Endpoint.FEATURES | (probe ? ConnData.FEATURE_PROBE : 0);
        services.cm.request(
                id,
                HandshakeParameters.ofRequest(
                        endpoint.connData().withFeatures(features),
                        endpoint.device().isIwarp()));
        asked = true;
    }

    /** Takes the peer's answer, and has a maker run {@code prepare}. */
    void answered(ConnData answer, Runnable prepare) throws IOException {
        peer = answer;
        begun(services.makers.complete(device(), prepare));
    }

    /** Tells the peer that it is connected, and makes the stream. */
    RdmaStream establish() throws IOException {
        endpoint.ensureWorking(); // otherwise the peer would hear of a connection, and of its end
        services.cm.establish(id);
        return established(peer);
    }

    /** Makes the stream of a connected endpoint, and passes the endpoint and the id on to it. */
    RdmaStream established(ConnData answer) throws IOException {
        RdmaStream stream = cmServices.established(endpoint, config, answer);
        endpoint = null;
        id = null;
        unlogged.set(stream);
        return stream;
    }

    /** Tells the log of a connection that was just made. Called without the lock, once who waits for it has it. */
    void log() {
        RdmaStream made = unlogged.getAndSet(null); // it may end long before this attempt is forgotten
        if (made != null) {
            Logs.TRANSPORT.debug("connected {}", made);
        }
    }

    /**
     * Has a reaper free the queues; the id goes on listening for an answer.
     *
     * @return false if no reaper can: then all of it has to be {@linkplain #release released}
     */
    boolean releaseQueues() {
        return services.reapers.handOver(endpoint.device(), endpoint::freeQueues);
    }

    /** Has a reaper free everything, or the maker if it is at work; otherwise leaves it to {@link #freeLeft}. */
    void release() {
        abandoned |= making;
        if (used) {
            return;
        }
        Endpoint whole = endpoint;
        CmId alone = id;
        endpoint = null;
        id = null;
        boolean reaped = whole == null && alone == null;
        try {
            if (whole != null) {
                reaped = services.reapers.handOver(whole.device(), whole::free);
            } else if (alone != null) {
                reaped = services.reapers.handOver(alone.getVerbs(), () -> Freeing.destroy(alone));
            }
        } catch (OutOfMemoryError e) {
            // as if there was no reaper
        }
        if (!reaped) {
            endpointLeft = whole;
            idLeft = whole == null ? alone : null;
        }
    }

    /** Frees what could not be handed over to a reaper. Called without the lock: it may take the device long. */
    void freeLeft() {
        Endpoint whole = endpointLeft;
        CmId alone = idLeft;
        if (whole != null) {
            endpointLeft = null;
            whole.free(); // repeated calls have no effect, nor have those for the other
        }
        if (alone != null) {
            idLeft = null;
            Freeing.destroy(alone);
        }
    }
}
