/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Mr;

final class LoopbackMr extends Mr {

    private static final int KNOWN_ACCESS = 0x7f;

    private final LoopbackPd pd;
    private final ByteBuffer bytes;
    private final long start;
    private final int size;

    private LoopbackMr(LoopbackPd pd, long address, int length, int access, int lkey) throws IOException {
        super(pd.device(), address, length, access, lkey, lkey + 1, lkey >>> 8);
        this.pd = pd;
        this.start = address;
        this.size = length;
        this.bytes = NativeMemory.view(address, length);
    }

    static LoopbackMr register(LoopbackPd pd, long address, int length, int access) throws IOException {
        boolean remote = (access & (IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_ATOMIC)) != 0;
        if (address == 0
                || length <= 0
                || (access & ~KNOWN_ACCESS) != 0
                || remote && (access & IbvMr.IBV_ACCESS_LOCAL_WRITE) == 0) {
            throw new ErrnoException("ibv_reg_mr", length + " bytes, access " + access, Errno.EINVAL);
        }
        LoopbackDevice device = pd.device();
        device.admit("ibv_reg_mr", Registry.Kind.MR);
        device.pin(length);
        LoopbackMr mr = new LoopbackMr(
                pd, address, length, access, device.provider().keys().reserve());
        device.provider().keys().put(mr);
        pd.mrs.incrementAndGet();
        device.provider().registry().add(Registry.Kind.MR, mr);
        return mr;
    }

    synchronized void deregister() {
        if (!isOpen) {
            pd.device().provider().registry().violation("memory region deregistered twice");
            return;
        }
        isOpen = false;
        LoopbackDevice device = pd.device();
        device.provider().keys().remove(this);
        // Only queue pairs of this domain touch the region, each under its lock: none does any more once each lock has
        // been free.
        pd.qps.forEach(LoopbackQp::barrier);
        device.unpin(size);
        pd.mrs.decrementAndGet();
        device.provider().registry().remove(Registry.Kind.MR, this);
    }

    /** Returns whether a queue pair of {@code user} may access these bytes with these rights. */
    boolean allows(LoopbackPd user, long address, int length, int rights) {
        long offset = address - start;
        return pd == user && (access & rights) == rights && offset >= 0 && offset <= size - length;
    }

    ByteBuffer bytes() {
        return bytes;
    }

    int offset(long address) {
        return (int) (address - start);
    }
}
