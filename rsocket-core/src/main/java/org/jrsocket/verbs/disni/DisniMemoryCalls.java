/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.verbs.Cq;
import org.jrsocket.verbs.Mr;
import org.jrsocket.verbs.Pd;
import org.jrsocket.verbs.Verbs;

/** DiSNI's prepared calls that have nothing to prepare. */
final class DisniMemoryCalls {

    private DisniMemoryCalls() {}

    static final class RegMr extends SVCRegMr {

        private final Verbs verbs;
        private final Pd pd;
        private final long address;
        private final int length;
        private final int access;
        private final Object owner;
        private Mr mr;
        private boolean valid = true;

        /** @param owner the buffer whose memory it is, kept reachable as long as this call is */
        RegMr(Verbs verbs, Pd pd, long address, int length, int access, Object owner) {
            this.verbs = verbs;
            this.pd = pd;
            this.address = address;
            this.length = length;
            this.access = access;
            this.owner = owner;
        }

        @Override
        public SVCRegMr execute() throws IOException {
            checkValid(valid);
            mr = verbs.registerMr(pd, address, length, access);
            return this;
        }

        @Override
        public IbvMr getMr() {
            return mr;
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public SVCRegMr free() {
            valid = false;
            return this;
        }

        @Override
        public String toString() {
            return "registration of " + length + " bytes of " + owner;
        }
    }

    static final class DeregMr extends SVCDeregMr {

        private final Verbs verbs;
        private final Mr mr;
        private boolean valid = true;

        DeregMr(Verbs verbs, Mr mr) {
            this.verbs = verbs;
            this.mr = mr;
        }

        @Override
        public SVCDeregMr execute() throws IOException {
            checkValid(valid);
            verbs.deregisterMr(mr);
            return this;
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public SVCDeregMr free() {
            valid = false;
            return this;
        }
    }

    static final class ReqNotify extends SVCReqNotify {

        private final Cq cq;
        private boolean valid = true;

        ReqNotify(Cq cq) {
            this.cq = cq;
        }

        @Override
        public SVCReqNotify execute() throws IOException {
            checkValid(valid);
            int rc = cq.arm();
            if (rc < 0) {
                throw new ErrnoException("ibv_req_notify_cq", "", -rc);
            }
            return this;
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public SVCReqNotify free() {
            valid = false;
            return this;
        }
    }

    private static void checkValid(boolean valid) throws IOException {
        if (!valid) {
            throw new IOException("call was freed");
        }
    }
}
