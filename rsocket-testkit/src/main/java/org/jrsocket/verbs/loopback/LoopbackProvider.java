/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jrsocket.os.NativeLibrary;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.VerbsProvider;

/**
 * A provider of verbs within one JVM. A new provider has one device, which serves 127.0.0.1 and ::1; it installs
 * itself, see {@link VerbsProvider#install()}, but several can be used side by side. Safe for use by many threads.
 * Registered memory must stay mapped: a real device keeps its pages, but this one would end the JVM with a SIGSEGV.
 */
public final class LoopbackProvider extends VerbsProvider implements AutoCloseable {

    private static final AtomicLong NUMBER = new AtomicLong();

    private record Place(LoopbackDevice device, Reachability reachability) {}

    private final Registry registry = new Registry();
    private final Faults faults = new Faults(this);
    private final KeyTable keys = new KeyTable();
    private final Map<InetAddress, Place> places = new ConcurrentHashMap<>();
    private final List<LoopbackDevice> devices = new CopyOnWriteArrayList<>();
    private final AtomicLong rnrs = new AtomicLong();
    private long messagesOfGone; // guarded by this: of queue pairs that were destroyed
    private final Timers timers;
    private final Wire wire;
    private final CmFabric fabric;
    private final LoopbackCm cm;
    private final LoopbackVerbs verbs;
    private final long cmTimeoutMillis;
    private final long retryTimeoutMillis;
    private final boolean retryForever;
    private final boolean timewaitEvents;
    private volatile MessageListener listener;

    /** Creates a provider with the defaults of {@link LoopbackConfig}. */
    public LoopbackProvider() {
        this(new LoopbackConfig());
    }

    /** Creates a provider whose first device has the limits of {@code config}. */
    public LoopbackProvider(LoopbackConfig config) {
        NativeLibrary.OS.load();
        install();
        String name = "loopback-" + NUMBER.incrementAndGet();
        cmTimeoutMillis = config.cmTimeoutMillis;
        retryTimeoutMillis = config.retryTimeoutMillis;
        retryForever = config.retryForever;
        timewaitEvents = config.timewaitEvents;
        timers = new Timers(name + "-timer", registry);
        wire = new Wire(name + "-wire", config.delivery, config.latencyNanos, registry);
        fabric = new CmFabric(this);
        cm = new LoopbackCm(this);
        verbs = new LoopbackVerbs(this);
        addDevice(config, literal(127, 0, 0, 1), literal(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    }

    private static InetAddress literal(int... bytes) {
        byte[] address = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            address[i] = (byte) bytes[i];
        }
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    // What a test sets up.

    /** Adds a device that serves {@code addresses}; of {@code config}, only what concerns devices counts. */
    public LoopbackDevice addDevice(LoopbackConfig config, InetAddress... addresses) {
        LoopbackDevice device = LoopbackDevice.create(this, config);
        devices.add(device);
        for (InetAddress address : addresses) {
            serve(address, device);
        }
        return device;
    }

    /**
     * Gives {@code address} to {@code device}. If another device has it, it moves: ids that are bound there stay there,
     * and nobody is told, which {@link Faults#asyncEvent} and {@link Faults#changeAddress} can make up for.
     */
    public void serve(InetAddress address, LoopbackDevice device) {
        places.put(address, new Place(device, Reachability.SERVED));
    }

    /** Sets what becomes of connecting to {@code address}, which no device has; with SERVED, the first one has it. */
    public void place(InetAddress address, Reachability reachability) {
        places.put(address, new Place(devices.get(0), reachability));
    }

    /** Returns the first device. */
    public LoopbackDevice device() {
        return devices.get(0);
    }

    /** Returns the faults that a test can ask for. */
    public Faults faults() {
        return faults;
    }

    /** Calls {@code newListener} for each message from now on; null for none. */
    public void onMessage(MessageListener newListener) {
        listener = newListener;
    }

    // What a test moves.

    /** Lets the first posted message that can arrive do so, with {@link Delivery#STEPPED}; false if there is none. */
    public boolean step() {
        return wire.step(null);
    }

    /** Does the same for a random connection and direction; within a direction, the order never changes. */
    public boolean step(Random random) {
        return wire.step(random);
    }

    /** Steps until nothing can move, and returns how many messages have moved. */
    public int stepAll() {
        int steps = 0;
        while (step()) {
            steps++;
        }
        return steps;
    }

    /** Lets all timeouts and delays end now, including those that follow from that. */
    public void expireTimeouts() {
        timers.expireAll();
    }

    // What a test asks.

    /** Returns how many messages found no receive posted; on a real device each costs 655 ms. */
    public long rnrCount() {
        return rnrs.get();
    }

    /** Returns how many messages have arrived. */
    public synchronized long messageCount() {
        long sum = messagesOfGone;
        for (LoopbackQp qp : qps()) {
            sum += qp.messages.get();
        }
        return sum;
    }

    /** Returns how many queue pairs were made for ids, by either end. */
    public int qpsMade() {
        return cm.qpsMade();
    }

    /** Returns how many objects of each kind live: what was made and not destroyed. */
    public LiveObjects liveObjects() {
        return registry.counts();
    }

    /** Returns uses that would crash, hang or corrupt on a real device, with the place in the code; empty is good. */
    public List<String> violations() {
        return List.copyOf(registry.violations());
    }

    /** @throws AssertionError if an object lives, or one was used wrongly */
    public void assertClean() {
        if (!liveObjects().isEmpty() || !registry.violations().isEmpty()) {
            throw new AssertionError(liveObjects() + ", violations " + registry.violations() + ", live " + registry);
        }
    }

    /** Returns the ids that live, oldest first. */
    public List<LoopbackId> ids() {
        List<LoopbackId> ids = new ArrayList<>();
        registry.all(Registry.Kind.ID).forEach(id -> ids.add((LoopbackId) id));
        ids.sort(Comparator.comparingLong(LoopbackId::number));
        return ids;
    }

    /** Returns the queue pairs that live, oldest first. */
    public List<LoopbackQp> qps() {
        List<LoopbackQp> qps = new ArrayList<>();
        registry.all(Registry.Kind.QP).forEach(qp -> qps.add((LoopbackQp) qp));
        qps.sort(Comparator.comparingInt(LoopbackQp::number));
        return qps;
    }

    /** Ends the provider's threads and closes its devices' descriptors. What still lives can no longer be used. */
    @Override
    public void close() {
        timers.close();
        wire.close();
        devices.forEach(LoopbackDevice::closeFd);
    }

    // VerbsProvider

    @Override
    public LoopbackCm openCm() {
        return cm;
    }

    @Override
    public LoopbackVerbs openVerbs() {
        return verbs;
    }

    @Override
    public int getVersion() {
        return 1;
    }

    @Override
    public String description() {
        return "loopback (within this JVM)";
    }

    @Override
    public List<DeviceInfo> devices() {
        return devices.stream()
                .filter(device -> !device.isRemoved())
                .map(device -> device.info(addressesOf(device)))
                .toList();
    }

    List<InetAddress> addressesOf(LoopbackDevice device) {
        return places.entrySet().stream()
                .filter(e -> e.getValue().device() == device && e.getValue().reachability() == Reachability.SERVED)
                .map(Map.Entry::getKey)
                .sorted(Comparator.comparing(InetAddress::getHostAddress))
                .toList();
    }

    // What the objects ask.

    Reachability reachability(InetAddress address) {
        Place place = places.get(address);
        return place == null || place.device().isRemoved() ? Reachability.NO_DEVICE : place.reachability();
    }

    /** Returns the device that leads to {@code address}, or null. */
    LoopbackDevice deviceFor(InetAddress address) {
        return reachability(address) == Reachability.NO_DEVICE
                ? null
                : places.get(address).device();
    }

    Registry registry() {
        return registry;
    }

    KeyTable keys() {
        return keys;
    }

    Timers timers() {
        return timers;
    }

    Wire wire() {
        return wire;
    }

    CmFabric fabric() {
        return fabric;
    }

    long cmTimeoutMillis() {
        return cmTimeoutMillis;
    }

    long retryTimeoutMillis() {
        return retryTimeoutMillis;
    }

    boolean retryForever() {
        return retryForever;
    }

    boolean timewaitEvents() {
        return timewaitEvents;
    }

    /** Forgets a queue pair that was destroyed, and that sends nothing any more. */
    synchronized void gone(LoopbackQp qp) {
        messagesOfGone += qp.messages.get();
        registry.remove(Registry.Kind.QP, qp);
    }

    void countRnr() {
        rnrs.getAndIncrement();
    }

    void arrived(LoopbackQp from, LoopbackQp to, int opcode, int imm, int length, long remoteAddress, int rkey) {
        from.messages.add(1);
        MessageListener observer = listener;
        if (observer != null) {
            observer.arrived(from, to, opcode, imm, length, remoteAddress, rkey);
        }
    }
}
