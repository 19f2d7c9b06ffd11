/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The id by which a listener hears of requests. The kernel takes it away with its device; then this makes another one
 * for the same address, as soon as there is a device that has it. It may also wait until nobody else has the port.
 */
final class ListeningId implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ListeningId.class);

    /**
     * Requests that the kernel keeps until they are fetched: its own maximum, since those beyond it are dropped without
     * a word.
     */
    private static final int KERNEL_BACKLOG = 1024;

    /** Between two tries to listen, after a device was removed or while somebody else has the port. */
    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final RdmaTransport transport;
    private final CmHandler listener;
    private volatile InetSocketAddress address;

    // Guarded by this.
    private CmId id; // null while there is no device, or somebody else has the port
    private boolean closed;

    /** @param listener hears of requests, and of the device's end: then it calls {@link #deviceRemoved} */
    ListeningId(RdmaTransport transport, CmHandler listener) {
        this.transport = transport;
        this.listener = listener;
    }

    /** Null before {@link #open}. Any thread. */
    InetSocketAddress address() {
        return address;
    }

    /** Any thread, once. The device may go meanwhile: {@link #deviceRemoved} waits. */
    synchronized void open(InetSocketAddress local) throws IOException {
        if (closed) {
            throw new IOException("closed before it listened"); // with its transport
        }
        id = listen(local);
    }

    /** As {@link #open}, later: tries until it can. */
    void openWhenFree(InetSocketAddress local) {
        address = local;
        transport.service().schedule(() -> listenAgain("now"), AGAIN_NANOS);
    }

    private CmId listen(InetSocketAddress local) throws IOException {
        Cm cm = transport.cm();
        CmId fresh = cm.createId(transport.channel(), RdmaCm.RDMA_PS_TCP);
        try {
            fresh.attach(listener);
            // the kernel keeps an rsocket's port busy a while after its last connection
            cm.setOption(fresh, Cm.OPTION_REUSEADDR, 1);
            if (local.getAddress() instanceof Inet6Address) {
                cm.setOption(fresh, Cm.OPTION_AFONLY, 0);
            }
            cm.bindAddr(fresh, local);
            address = (InetSocketAddress) fresh.getSource();
            cm.listen(fresh, KERNEL_BACKLOG);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(fresh);
            throw e;
        }
        return fresh;
    }

    /** The kernel has closed it with its device. Service thread. */
    void deviceRemoved() {
        CmId dead;
        synchronized (this) {
            if (closed || id == null) {
                return;
            }
            dead = id;
            id = null;
        }
        try {
            LOG.warn("the {} has lost its device; it listens again when there is one", listener);
        } finally { // even if the logger throws
            Freeing.destroy(dead);
            listenAgain("again");
        }
    }

    /**
     * Service thread.
     *
     * @param how it listens then, for the log
     */
    private void listenAgain(String how) {
        try {
            synchronized (this) {
                if (closed) {
                    return;
                }
                id = listen(address);
            }
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            transport.service().schedule(() -> listenAgain(how), AGAIN_NANOS);
            LOG.debug("the {} cannot listen yet", listener, e);
            return;
        }
        LOG.warn("the {} listens {}", listener, how);
    }

    /** The port is free when this returns. Any thread; harmless when repeated. */
    @Override
    public void close() {
        CmId listening;
        synchronized (this) {
            closed = true;
            listening = id;
            id = null;
        }
        if (listening != null) {
            Freeing.destroy(listening);
        }
    }
}
