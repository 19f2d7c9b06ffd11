/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.loopback.LoopbackId.State;

/**
 * The messages between connection managers, and what each does to the id that receives it. Private data is padded as IB
 * and RoCE do. One lock guards all ids, ports and event queues; message handlers run with it held.
 */
final class CmFabric {

    /** IB reject reasons: the active side gave up; there is no listener; the application refused. */
    static final int REJECT_TIMEOUT = 4;

    static final int REJECT_NO_LISTENER = 8;
    static final int REJECT_CONSUMER = 28;

    private static final int REQ_DATA = 56;
    private static final int REP_DATA = 196;
    private static final int REJ_DATA = 148;
    private static final int IWARP_DATA = 255;
    /** How often a REQ that a full backlog swallowed is tried, within the CM's timeout. */
    private static final int REQ_TRIES = 8;
    /** How often a DREQ is tried; the kernel tries sixteen times. */
    private static final int DREQ_TRIES = 4;

    final ReentrantLock lock = new ReentrantLock();
    final Ports ports = new Ports();
    private final LoopbackProvider provider;
    private long lastNumber; // guarded by lock

    CmFabric(LoopbackProvider provider) {
        this.provider = provider;
    }

    long nextNumber() {
        return ++lastNumber;
    }

    static void checkData(String call, LoopbackDevice device, byte[] data, CmMessage message) throws ErrnoException {
        int room = device.isIwarp() ? IWARP_DATA : room(message);
        if (data.length > room) {
            throw new ErrnoException(call, data.length + " bytes of private data, " + room + " fit", Errno.EINVAL);
        }
    }

    private static int room(CmMessage message) {
        return switch (message) {
            case REQ -> REQ_DATA;
            case REP -> REP_DATA;
            case REJ -> REJ_DATA;
            default -> 0;
        };
    }

    private static byte[] asReceived(LoopbackDevice device, byte[] data, CmMessage message) {
        return device.isIwarp() ? data.clone() : Arrays.copyOf(data, room(message));
    }

    /**
     * Sends a message: runs {@code arrival} when it arrives, or {@code loss} when its sender has given up. Both run
     * with the lock held.
     */
    private void send(CmMessage message, LoopbackId from, LoopbackId to, Runnable arrival, Runnable loss) {
        if (from.isDead()) {
            return;
        }
        if (provider.faults().takeDrop(message) || to != null && to.isDead()) {
            later(provider.cmTimeoutMillis(), loss);
            return;
        }
        long delay = provider.faults().delay(message);
        if (delay > 0) {
            later(delay, arrival);
        } else {
            arrival.run();
        }
    }

    /** Runs {@code action} with the lock held after {@code millis}. */
    void later(long millis, Runnable action) {
        provider.timers().schedule(millis, () -> {
            lock.lock();
            try {
                action.run();
            } finally {
                lock.unlock();
            }
        });
    }

    // Connecting.

    void sendRequest(LoopbackId id, ConnParam param) {
        Runnable loss = () -> giveUp(id, State.CONNECTING);
        if (id.reachability == Reachability.SILENT) {
            later(provider.cmTimeoutMillis(), loss);
            return;
        }
        int reason = provider.faults().takeReject();
        LoopbackId listener = listenerOf(id);
        send(CmMessage.REQ, id, listener, () -> requested(id, param, reason, 1), loss);
    }

    private LoopbackId listenerOf(LoopbackId id) {
        return ports.listener(id.destination, provider.deviceFor(id.destination.getAddress()));
    }

    private void requested(LoopbackId id, ConnParam param, int rejectReason, int tries) {
        if (id.state != State.CONNECTING) {
            return;
        }
        LoopbackId listener = listenerOf(id);
        if (rejectReason != 0 || listener == null) {
            refuse(id, rejectReason != 0 ? rejectReason : REJECT_NO_LISTENER, new byte[0], id);
        } else if (listener.isDead() || provider.deviceFor(id.destination.getAddress()) == null) {
            later(provider.cmTimeoutMillis(), () -> giveUp(id, State.CONNECTING));
        } else if (listener.unfetched >= listener.backlog) {
            if (tries == REQ_TRIES) {
                giveUp(id, State.CONNECTING);
            } else {
                later(provider.cmTimeoutMillis() / REQ_TRIES, () -> requested(id, param, 0, tries + 1));
            }
        } else {
            present(id, listener, param);
        }
    }

    private void present(LoopbackId id, LoopbackId listener, ConnParam param) {
        LoopbackDevice device = provider.deviceFor(id.destination.getAddress());
        LoopbackId passive;
        try {
            passive = new LoopbackId(provider.openCm(), listener.channel(), nextNumber(), false);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        passive.portSpace(listener.getPs());
        passive.state = State.REQUESTED;
        passive.device = device;
        passive.source = id.destination;
        passive.destination = id.source;
        passive.peer = id;
        passive.request = param;
        id.peer = passive;
        listener.unfetched++;
        // Depths are seen from the other side: what one may initiate, the other must answer.
        ConnParam seen = copy(param).depths(param.getInitiator_depth(), param.getResponder_resources());
        byte[] data = asReceived(device, param.privateData(), CmMessage.REQ);
        listener.channel()
                .add(new LoopbackCmChannel.Pending(
                        EventType.RDMA_CM_EVENT_CONNECT_REQUEST, 0, listener, passive, seen, data));
    }

    static ConnParam copy(ConnParam param) {
        return new ConnParam()
                .depths(param.getResponder_resources(), param.getInitiator_depth())
                .flowControl(param.getFlow_control() != 0)
                .retries(param.getRetry_count(), param.getRnr_retry_count())
                .privateData(param.privateData());
    }

    void sendReply(LoopbackId passive, ConnParam param) {
        LoopbackId active = passive.peer;
        send(
                CmMessage.REP,
                passive,
                active,
                () -> {
                    if (active.state == State.CONNECTING) {
                        active.state = State.ANSWERED;
                        active.answer = copy(param);
                        byte[] data = asReceived(active.device, param.privateData(), CmMessage.REP);
                        active.channel()
                                .add(new LoopbackCmChannel.Pending(
                                        EventType.RDMA_CM_EVENT_CONNECT_RESPONSE, 0, null, active, copy(param), data));
                    }
                },
                () -> {
                    giveUp(passive, State.ACCEPTED);
                    giveUp(active, State.CONNECTING);
                });
    }

    /**
     * Does what librdmacm does when the application fetches the answer for an id that has its queue pair. Returns
     * whether the connection is there.
     */
    boolean answerFetched(LoopbackId active) {
        LoopbackId passive = active.peer;
        if (active.state != State.ANSWERED || active.qp == null) {
            if (active.state == State.ANSWERED) {
                active.state = State.FAILED;
                refuse(active, REJECT_CONSUMER, new byte[0], passive);
            }
            return false;
        }
        provider.faults().awaitReady(active.device);
        prepare(active);
        establish(active);
        return true;
    }

    void prepare(LoopbackId active) {
        active.qp.ackTimeout(active.ackTimeout);
        active.qp.connected(active.request.getRetry_count(), active.answer.getRnr_retry_count());
    }

    void establish(LoopbackId active) {
        LoopbackId passive = active.peer;
        active.state = State.ESTABLISHED;
        send(CmMessage.RTU, active, passive, () -> confirmed(passive), () -> giveUp(passive, State.ACCEPTED));
    }

    /** Tells the passive side that its answer has arrived. */
    void confirmed(LoopbackId passive) {
        if (passive.state == State.ACCEPTED) {
            passive.state = State.ESTABLISHED;
            passive.channel().add(EventType.RDMA_CM_EVENT_ESTABLISHED, 0, passive);
        }
    }

    private static void giveUp(LoopbackId id, State waiting) {
        if (id.state == waiting) {
            id.state = State.FAILED;
            id.channel().add(EventType.RDMA_CM_EVENT_UNREACHABLE, -Errno.ETIMEDOUT, id);
        }
    }

    /** Sends {@code to} a refusal. On iWARP all refusals look alike. */
    void refuse(LoopbackId from, int reason, byte[] data, LoopbackId to) {
        boolean iwarp = to.device.isIwarp();
        byte[] seen = asReceived(to.device, data, CmMessage.REJ);
        send(
                CmMessage.REJ,
                from,
                to,
                () -> {
                    switch (to.state) {
                        case CONNECTING, ANSWERED, REQUESTED, ACCEPTED, ESTABLISHED -> {
                            to.state = State.FAILED;
                            to.channel()
                                    .add(new LoopbackCmChannel.Pending(
                                            EventType.RDMA_CM_EVENT_REJECTED,
                                            iwarp ? -Errno.ECONNREFUSED : reason,
                                            null,
                                            to,
                                            LoopbackCmChannel.NO_PARAM,
                                            seen));
                        }
                        default -> {
                            // Too late to matter.
                        }
                    }
                },
                () -> giveUp(to, State.CONNECTING));
    }

    // Ending.

    /**
     * Sends the first half of a disconnect. The answer comes when the peer disconnects or destroys its id too, or not
     * at all. A message that is lost is sent again, {@link #DREQ_TRIES} times in all, as long as the id lives. After
     * that the id is disconnected, with ETIMEDOUT.
     */
    void sendDisconnect(LoopbackId id) {
        sendDisconnect(id, DREQ_TRIES);
    }

    private void sendDisconnect(LoopbackId id, int tries) {
        LoopbackId other = id.peer;
        id.state = State.DISCONNECTING;
        send(
                CmMessage.DREQ,
                id,
                other,
                () -> {
                    switch (other.state) {
                        case ESTABLISHED, ACCEPTED, ANSWERED -> {
                            other.state = State.DISCONNECT_REQUESTED;
                            disconnected(other, 0);
                        }
                        case DISCONNECTING -> { // both at once
                            other.state = State.DISCONNECTED;
                            disconnected(other, 0);
                            end(id, 0);
                        }
                        default -> end(id, 0); // no one is there any more: the CM itself answers
                    }
                },
                () -> {
                    if (tries > 1 && id.state == State.DISCONNECTING) {
                        sendDisconnect(id, tries - 1);
                    } else {
                        end(id, -Errno.ETIMEDOUT);
                    }
                });
    }

    void sendDisconnectReply(LoopbackId id) {
        LoopbackId other = id.peer;
        id.state = State.DISCONNECTED;
        send(CmMessage.DREP, id, other, () -> end(other, 0), () -> end(other, -Errno.ETIMEDOUT));
    }

    private void end(LoopbackId id, int status) {
        if (id.state == State.DISCONNECTING) {
            id.state = State.DISCONNECTED;
            disconnected(id, status);
        }
    }

    private void disconnected(LoopbackId id, int status) {
        id.channel().add(EventType.RDMA_CM_EVENT_DISCONNECTED, status, id);
        if (provider.timewaitEvents()) {
            id.channel().add(EventType.RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, id);
        }
    }

    /** Tells the peer what the kernel tells it when an id goes. */
    void leave(LoopbackId id) {
        ports.release(id);
        id.channel().purge(id).forEach(this::leave); // requests that were not fetched are refused
        switch (id.state) {
            case CONNECTING -> {
                if (id.peer != null) {
                    refuse(id, REJECT_TIMEOUT, new byte[0], id.peer);
                }
            }
            case ANSWERED, REQUESTED, ACCEPTED -> refuse(id, REJECT_CONSUMER, new byte[0], id.peer);
            case ESTABLISHED -> sendDisconnect(id);
            case DISCONNECT_REQUESTED -> sendDisconnectReply(id);
            default -> {
                // There is nothing to tell.
            }
        }
        id.destroyed();
    }

    // Faults.

    void kill(LoopbackId id) {
        lock.lock();
        try {
            id.kill();
            if (id.qp != null) {
                id.qp.kill();
            }
        } finally {
            lock.unlock();
        }
    }

    void changeAddress(LoopbackId id) {
        lock.lock();
        try {
            id.channel().add(EventType.RDMA_CM_EVENT_ADDR_CHANGE, 0, id);
        } finally {
            lock.unlock();
        }
    }

    void removeDevice(LoopbackDevice device) {
        lock.lock();
        try {
            device.remove();
            for (LoopbackId id : provider.ids()) {
                if (id.device == device) {
                    if (id.qp != null) {
                        id.qp.fail();
                    }
                    if (id.state == State.LISTENING) {
                        ports.release(id); // as the kernel does, for good
                    }
                    id.channel().add(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL, 0, id);
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
