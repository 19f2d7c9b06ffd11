/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import java.util.function.Consumer;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Qp;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.WcBatch;
import org.jrsocket.verbs.disni.DisniVerbs;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * Loopback verbs whose user stops at chosen places: before and after each poll and each arming of a completion queue,
 * before memory is registered and before a queue pair is made, a {@link Hook} of the test's runs in the thread that
 * does it. So "exactly in between" needs no luck. Objects made through the {@link LoopbackProvider} itself, such as a
 * raw peer's, are not concerned.
 */
final class HookedVerbs extends VerbsProvider {

    enum Point {
        BEFORE_POLL,
        AFTER_POLL,
        BEFORE_ARM,
        AFTER_ARM,
        BEFORE_REGISTER,
        BEFORE_DEREGISTER,
        BEFORE_QP
    }

    @FunctionalInterface
    interface Hook {
        /**
         * @param cookie of the completion queue, {@link Endpoint#RECV_COOKIE} or
         * {@link Endpoint#SEND_COOKIE}
         */
        void at(Point point, int cookie);
    }

    @FunctionalInterface
    interface Event {
        void run() throws IOException;
    }

    private final LoopbackProvider inner;
    private final Cm cm;
    private final Verbs verbs;
    volatile Hook hook = (point, cookie) -> {};
    /** What no completion queue can be made for; 0: each can. */
    volatile int cqErrno;

    /** Runs before an event of the connection manager is taken; what it throws comes out there. */
    volatile Event beforeEvent = () -> {};
    /** Runs before a queue pair on this device is destroyed. */
    volatile Consumer<Device> beforeDestroyQp = device -> {};
    /** Runs after a queue pair was destroyed; what it throws comes out there. */
    volatile Event afterDestroyQp = () -> {};
    /** The same of a completion queue. */
    volatile Event afterDestroyCq = () -> {};
    /** Runs before an id is bound to an address. */
    volatile Event beforeBind = () -> {};
    /** Runs before a request is rejected. */
    volatile Event beforeReject = () -> {};
    /** Runs before a request is accepted; what it throws comes out there. */
    volatile Event beforeAccept = () -> {};
    /** Runs once the peer is told that it is connected, before the call returns. */
    volatile Event afterEstablish = () -> {};
    /** Runs once the request is accepted, before the call returns. */
    volatile Event afterAccept = () -> {};

    HookedVerbs(LoopbackProvider inner) {
        this.inner = inner;
        this.cm = new HookedCm(inner.openCm());
        this.verbs = new HookedObjects(inner.openVerbs());
    }

    @Override
    public Cm openCm() {
        return cm;
    }

    @Override
    public Verbs openVerbs() {
        return verbs;
    }

    @Override
    public int getVersion() {
        return inner.getVersion();
    }

    @Override
    public List<DeviceInfo> devices() {
        return inner.devices();
    }

    @Override
    public String description() {
        return inner.description() + ", hooked";
    }

    private final class HookedCq extends Cq {
        private final Cq real;
        private final int cookie;

        HookedCq(Cq real, Device device, CompChannel channel, int cookie) throws IOException {
            super(device, channel, 0);
            this.real = real;
            this.cookie = cookie;
        }

        @Override
        public int poll(WcBatch batch) {
            hook.at(Point.BEFORE_POLL, cookie);
            int n = real.poll(batch);
            hook.at(Point.AFTER_POLL, cookie);
            return n;
        }

        @Override
        public boolean spin(long nanos) {
            hook.at(Point.BEFORE_POLL, cookie);
            boolean some = real.spin(nanos);
            hook.at(Point.AFTER_POLL, cookie);
            return some;
        }

        @Override
        public int arm() {
            hook.at(Point.BEFORE_ARM, cookie);
            int rc = real.arm();
            hook.at(Point.AFTER_ARM, cookie);
            return rc;
        }

        @Override
        public int destroyCQ() throws IOException {
            int rc = real.destroyCQ();
            afterDestroyCq.run();
            return rc;
        }
    }

    private final class HookedObjects extends DisniVerbs {
        private final Verbs real;

        HookedObjects(Verbs real) {
            this.real = real;
        }

        @Override
        public Pd allocPd(IbvContext device) throws IOException {
            return real.allocPd(device);
        }

        @Override
        public CompChannel createCompChannel(IbvContext device) throws IOException {
            return real.createCompChannel(device);
        }

        @Override
        public Cq createCq(Device device, CompChannel channel, int entries, int cookie) throws IOException {
            if (cqErrno != 0) {
                throw new ErrnoException("ibv_create_cq", entries + " entries on " + device, cqErrno);
            }
            return new HookedCq(real.createCq(device, channel, entries, cookie), device, channel, cookie);
        }

        @Override
        public Mr registerMr(Pd pd, long address, int length, int access) throws IOException {
            hook.at(Point.BEFORE_REGISTER, 0);
            return real.registerMr(pd, address, length, access);
        }

        @Override
        public void deregisterMr(Mr mr) throws IOException {
            hook.at(Point.BEFORE_DEREGISTER, 0);
            real.deregisterMr(mr);
        }
    }

    private final class HookedCm extends Cm {
        private final Cm real;

        HookedCm(Cm real) {
            this.real = real;
        }

        @Override
        public Qp createQP(RdmaCmId id, IbvPd pd, IbvQPInitAttr attr) throws IOException {
            hook.at(Point.BEFORE_QP, 0);
            attr.setSend_cq(((HookedCq) attr.getSend_cq()).real);
            attr.setRecv_cq(((HookedCq) attr.getRecv_cq()).real);
            return real.createQP(id, pd, attr);
        }

        @Override
        public CmChannel createEventChannel() throws IOException {
            return real.createEventChannel();
        }

        @Override
        public CmId createId(RdmaEventChannel channel, short portSpace) throws IOException {
            return real.createId(channel, portSpace);
        }

        @Override
        public void bindAddr(RdmaCmId id, SocketAddress address) throws IOException {
            beforeBind.run();
            real.bindAddr(id, address);
        }

        @Override
        public void listen(RdmaCmId id, int backlog) throws IOException {
            real.listen(id, backlog);
        }

        @Override
        public void resolveAddr(RdmaCmId id, SocketAddress source, SocketAddress destination, int timeoutMillis)
                throws IOException {
            real.resolveAddr(id, source, destination, timeoutMillis);
        }

        @Override
        public void resolveRoute(RdmaCmId id, int timeoutMillis) throws IOException {
            real.resolveRoute(id, timeoutMillis);
        }

        @Override
        public CmEvent getCmEvent(RdmaEventChannel channel, int timeoutMillis) throws IOException {
            beforeEvent.run();
            return real.getCmEvent(channel, timeoutMillis);
        }

        @Override
        public void connect(RdmaCmId id, RdmaConnParam param) throws IOException {
            real.connect(id, param);
        }

        @Override
        public void accept(RdmaCmId id, RdmaConnParam param) throws IOException {
            beforeAccept.run();
            real.accept(id, param);
            afterAccept.run();
        }

        @Override
        public int ackCmEvent(RdmaCmEvent event) {
            return real.ackCmEvent(event);
        }

        @Override
        public int disconnect(RdmaCmId id) throws IOException {
            return real.disconnect(id);
        }

        @Override
        public int destroyEventChannel(RdmaEventChannel channel) throws IOException {
            return real.destroyEventChannel(channel);
        }

        @Override
        public int destroyCmId(RdmaCmId id) throws IOException {
            return real.destroyCmId(id);
        }

        @Override
        public void request(CmId id, ConnParam param) throws IOException {
            real.request(id, param);
        }

        @Override
        public void prepare(CmId id) throws IOException {
            real.prepare(id);
        }

        @Override
        public void establish(CmId id) throws IOException {
            real.establish(id);
            afterEstablish.run();
        }

        @Override
        public int destroyQP(RdmaCmId id) throws IOException {
            beforeDestroyQp.accept(((CmId) id).getVerbs());
            int rc = real.destroyQP(id);
            afterDestroyQp.run();
            return rc;
        }

        @Override
        public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
            return real.getSrcAddr(id);
        }

        @Override
        public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
            return real.getDstAddr(id);
        }

        @Override
        public int destroyEp(RdmaCmId id) throws IOException {
            return real.destroyEp(id);
        }

        @Override
        public void confirm(CmId id) throws IOException {
            real.confirm(id);
        }

        @Override
        public void reject(CmId id, byte[] privateData) throws IOException {
            beforeReject.run();
            real.reject(id, privateData);
        }

        @Override
        public void setOption(CmId id, int option, int value) throws IOException {
            real.setOption(id, option, value);
        }
    }
}
