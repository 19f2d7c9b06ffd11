/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.disni;

import com.ibm.disni.verbs.RdmaConnParam;
import java.net.InetAddress;
import org.jrsocket.verbs.ConnParam;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Without a device: DiSNI's prepared calls work with every provider. */
class DisniLoopbackTest extends DisniProgram {

    private LoopbackProvider provider;

    @BeforeEach
    void open() {
        provider = new LoopbackProvider();
        use(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    RdmaConnParam connParam() {
        return new ConnParam();
    }

    @AfterEach
    void close() {
        provider.close();
    }
}
