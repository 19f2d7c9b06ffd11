/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jrsocket.endpoint.Freeing;
import org.jrsocket.threads.ServiceLoop;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The id through which a listener receives requests. The kernel closes it together with its device. If its address
 * moves to another device, the kernel leaves it where it is, and no request reaches it any more. In both cases this
 * class makes another one for the same address, as soon as there is a device that has the address. It can also wait
 * until nobody else has the port.
 */
final class ListeningId implements AutoCloseable, ListeningAddresses.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(ListeningId.class);

    /**
     * The number of requests that the kernel keeps until they are fetched. It is the kernel's maximum, because requests
     * beyond it are silently dropped.
     */
    private static final int KERNEL_BACKLOG = 1024;

    /** The time between two attempts to listen, after a device was removed or while somebody else has the port. */
    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The same while somebody has the port for long: these at first, and then longer and longer ones. */
    private static final long RARE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The longest; with its random part that is 20 to 60 s. */
    private static final long RAREST_NANOS = TimeUnit.SECONDS.toNanos(40);

    /** No more reasons than this are logged until it listens again. */
    private static final int MOST_TOLD = 8;

    private final Services services;
    private final ListeningAddresses addresses;
    private final CmHandler listener;
    private final Runnable tryAgain = this::untilThereIsADevice; // made now: it may be needed where memory is lacking
    private final Runnable tryForPort = this::untilThePortIsFree; // likewise
    private volatile InetSocketAddress address;

    // Service thread; the first two are written before it knows of this.
    private RdmaListener.Patience patience; // while somebody else may have the port
    private long pause = AGAIN_NANOS; // before the next attempt to get it
    private String hindrance = ""; // why it does not listen
    private final Set<String> told = new HashSet<>(2); // those of them that are in the log

    // Guarded by this.
    private CmId id; // null while there is no device, or somebody else has the port
    private ServiceLoop.Timer again; // the next attempt to get the port; null before the first
    private boolean closed;

    /**
     * Creates an object that does not listen yet.
     *
     * @param listener is told of requests, and of the device's removal, upon which it calls {@link #deviceRemoved}
     */
    ListeningId(Services services, CmHandler listener) {
        this.services = services;
        this.addresses = services.listening;
        this.listener = listener;
    }

    /** Returns the address, or null before {@link #open}. May be called from any thread. */
    InetSocketAddress address() {
        return address;
    }

    /** Starts listening. Called once, on any thread. If the device goes meanwhile, {@link #deviceRemoved} waits. */
    synchronized void open(InetSocketAddress local) throws IOException {
        if (closed) {
            throw new IOException("closed before it listened"); // together with its transport
        }
        id = listen(local);
    }

    /** Opens like {@link #open}, but later: tries for as long as {@code patience} says. */
    void openWhenFree(InetSocketAddress local, RdmaListener.Patience howLong) {
        address = local;
        patience = howLong;
        laterWhenFree();
    }

    private CmId listen(InetSocketAddress local) throws IOException {
        Cm cm = services.cm;
        CmId fresh = cm.createId(services.channel, RdmaCm.RDMA_PS_TCP);
        try {
            fresh.attach(listener);
            // the kernel keeps an rsocket's port busy for a while after its last connection
            cm.setOption(fresh, Cm.OPTION_REUSEADDR, 1);
            if (local.getAddress() instanceof Inet6Address) {
                // as with TCP: :: takes IPv4 too, and an address shares its port with 0.0.0.0 of another process
                cm.setOption(fresh, Cm.OPTION_AFONLY, local.getAddress().isAnyLocalAddress() ? 0 : 1);
            }
            cm.bindAddr(fresh, local);
            address = (InetSocketAddress) fresh.getSource();
            cm.listen(fresh, KERNEL_BACKLOG);
            watchFor(fresh);
        } catch (IOException | RuntimeException | Error e) {
            Freeing.destroy(fresh);
            throw e;
        }
        return fresh;
    }

    /** Makes sure that a move of the address is noticed; at the wildcard address all devices are served anyway. */
    private void watchFor(CmId fresh) {
        Device device = fresh.getVerbs();
        if (device != null) {
            services.devices.opened(device); // its events are hints
            addresses.add(this);
        }
    }

    @Override
    public void look() {
        Device bound = device();
        Device now = bound == null ? null : deviceOf(address.getAddress());
        if (now != null && now != bound) {
            services.service.execute(() -> follow(now));
        }
    }

    /** Returns the device on which it listens; null if it does not listen. */
    private synchronized Device device() {
        return id == null ? null : id.getVerbs();
    }

    /**
     * Returns the device to which the kernel binds another id now; null if it cannot be told, or no device has the
     * address: it may come back to the same one.
     */
    private Device deviceOf(InetAddress local) {
        CmId probe = null;
        try {
            probe = services.cm.createId(services.channel, RdmaCm.RDMA_PS_TCP);
            services.cm.bindAddr(probe, new InetSocketAddress(local, 0));
            return probe.getVerbs();
        } catch (IOException | RuntimeException e) {
            LOG.trace("the {}: cannot find the device of its address", listener, e);
            return null;
        } finally {
            if (probe != null) {
                Freeing.destroy(probe);
            }
        }
    }

    /**
     * Listens on the device that has the address now. Called on the service thread. The old id has to go first: the
     * kernel gives the port to one listener at a time. So there is nothing in between, not even a line in the log.
     */
    private void follow(Device now) {
        Device before;
        boolean listens = false;
        synchronized (this) {
            if (closed || id == null || id.getVerbs() == now || now.isLost()) {
                return;
            }
            before = id.getVerbs();
            Freeing.destroy(id);
            id = null;
        }
        try {
            listens = tryToListen();
            LOG.warn(
                    "the {} moves from RDMA device {} to {}, which has its address now",
                    listener,
                    before.name(),
                    now.name());
        } finally { // without memory, too, or if the logger throws
            if (!listens) {
                untilThereIsADevice();
            }
        }
    }

    /** Called on the service thread when the kernel has closed the id together with its device. */
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
            LOG.warn("the {} has lost its device; it will listen again when there is one", listener);
        } finally { // even if the logger throws
            Freeing.destroy(dead);
            untilThereIsADevice();
        }
    }

    /** Listens, or tries again later. Runs on the service thread, like the methods below. */
    private void untilThereIsADevice() {
        boolean listens = false;
        try {
            listens = tryToListen();
            if (!listens && !isClosed()) {
                sayWhyNot();
            }
        } finally { // without memory, too, or if the logger throws
            if (!listens && !isClosed()) {
                services.service.scheduleAgain(tryAgain, AGAIN_NANOS);
            }
        }
        if (listens) {
            LOG.warn("the {} is listening again", listener);
        }
    }

    /** Says once that there is no device, and once that somebody else has the port by now, for example. */
    private void sayWhyNot() {
        String why = hindrance;
        if (told.size() < MOST_TOLD && told.add(why)) {
            LOG.warn("the {} cannot listen over RDMA yet, and goes on trying; clients use TCP: {}", listener, why);
        }
    }

    private void untilThePortIsFree() {
        boolean over = false;
        try {
            over = isClosed() || takesPort();
        } finally { // as above
            if (!over) {
                laterWhenFree();
            }
        }
    }

    static long longer(long pause) {
        return Math.min(Math.max(2 * pause, RARE_NANOS), RAREST_NANOS);
    }

    /** Returns whether it has the port, or no longer wants it. */
    private boolean takesPort() {
        switch (patience.next()) {
            case GIVE_UP -> {
                LOG.info("the {} no longer waits for its port", listener);
                return true;
            }
            case NOT_NOW -> {
                return false;
            }
            case TRY -> pause = AGAIN_NANOS;
            case TRY_RARELY -> pause = longer(pause);
        }
        if (!tryToListen()) {
            return false;
        }
        if (pause == AGAIN_NANOS) {
            LOG.info("the {} is now listening", listener);
        } else { // after a warning that it did not
            LOG.warn("the {} is now listening", listener);
        }
        return true;
    }

    /** Tries again after a random time: of two that try at the same moment, it may be that neither gets the port. */
    private void laterWhenFree() {
        if (isClosed()) {
            return;
        }
        long nanos = pause / 2 + ThreadLocalRandom.current().nextLong(pause);
        ServiceLoop.Timer next = services.service.scheduleAgain(tryForPort, nanos);
        synchronized (this) {
            again = next;
        }
        if (isClosed()) { // in the meantime
            next.cancel();
        }
    }

    /** Returns whether it listens. */
    private synchronized boolean tryToListen() {
        if (closed || id != null) {
            return !closed;
        }
        try {
            id = listen(address);
            told.clear();
            return true;
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            hindrance = String.valueOf(e.getMessage());
            LOG.trace("the {} cannot listen yet", listener, e);
            return false;
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Stops listening; the port is free when this returns. May be called from any thread, and repeatedly. */
    @Override
    public void close() {
        CmId listening;
        synchronized (this) {
            closed = true;
            listening = id;
            id = null;
            if (again != null) {
                again.cancel();
            }
        }
        addresses.remove(this);
        if (listening != null) {
            Freeing.destroy(listening);
        }
    }
}
