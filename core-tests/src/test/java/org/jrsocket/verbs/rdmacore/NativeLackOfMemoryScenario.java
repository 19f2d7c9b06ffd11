/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jrsocket.Allocations;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmEvent;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Verbs;

/** Makes one of each native object, and frees it. For a class loader of its own: {@link NativeLackOfMemoryTest}. */
public final class NativeLackOfMemoryScenario implements Supplier<List<String>> {

    private final List<String> wrong = new ArrayList<>();
    private CmId listener;
    private CmId request;
    private Pd domain;
    private Mr region;
    private Cq queue;

    @Override
    public List<String> get() {
        try {
            RdmaCoreLibrary.require();
            RdmaCoreProvider provider = new RdmaCoreProvider(new RdmaCoreProbe());
            provider.install();
            live(provider.openCm(), provider.openVerbs(), provider.openDevices());
        } catch (Exception e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private void live(Cm cm, Verbs verbs, RdmaCoreDevices devices) throws IOException {
        CmChannel channel = cm.createEventChannel();
        CmId first = cm.createId(channel, RdmaCm.RDMA_PS_TCP);
        long context;
        synchronized (((RdmaCoreCmId) first).lock) {
            context = Native.idDevice(((RdmaCoreCmId) first).handle());
        }
        Device device = devices.device(context);
        Allocations.watch(true);
        try {
            make(cm, verbs, channel, device);
        } catch (OutOfMemoryError e) {
            // as the test wants
        }
        try {
            free(cm, verbs);
        } catch (OutOfMemoryError e) {
            wrong.add("freeing needs memory");
        } finally {
            Allocations.watch(false);
        }
        cm.destroyCmId(first);
        cm.destroyEventChannel(channel); // with the id that watches the device
        String left = Native.portState(0);
        if (!left.equals("0, 0, 0, 0")) {
            wrong.add("left of ids, domains, regions, queues: " + left);
        }
    }

    private void make(Cm cm, Verbs verbs, CmChannel channel, Device device) throws IOException {
        domain = verbs.allocPd(device);
        region = verbs.registerMr(domain, 4096, 4096, 1);
        queue = verbs.createCq(device, null, 16, 0);
        listener = cm.createId(channel, RdmaCm.RDMA_PS_TCP);
        cm.listen(listener, 1);
        CmEvent asked = next(cm, channel);
        if (asked == null) {
            return; // refused for lack of memory
        }
        request = asked.id();
        cm.confirm(request);
        CmEvent established = next(cm, channel);
        if (established == null || established.type() != EventType.RDMA_CM_EVENT_ESTABLISHED) {
            wrong.add("an event was lost: " + established);
        }
    }

    /** As the service thread does it: after a failure it looks again. */
    private static CmEvent next(Cm cm, CmChannel channel) throws IOException {
        try {
            return cm.getCmEvent(channel, 0);
        } catch (OutOfMemoryError e) {
            return cm.getCmEvent(channel, 0);
        }
    }

    private void free(Cm cm, Verbs verbs) throws IOException {
        if (request != null) {
            cm.destroyCmId(request);
        }
        if (listener != null) {
            cm.destroyCmId(listener);
        }
        if (queue != null) {
            queue.destroyCQ();
        }
        if (region != null) {
            verbs.deregisterMr(region);
        }
        if (domain != null) {
            verbs.deallocPd(domain);
        }
    }
}
