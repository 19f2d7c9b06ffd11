/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.net.InetAddress;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The programs of {@link RandomProgramsTest} over a real device. */
@Tag("device")
@Tag("lab")
class NettyProgramsLabTest {

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "LENDING"})
    void shouldDoOverADeviceWhatNettysOwnDoes(RandomProgramsTest.Kind kind) throws Exception {
        InetAddress address = InetAddress.getByName(DeviceLab.assumed());
        RdmaTransport transport = RdmaTransport.over(RdmaCoreProvider.open());
        try {
            RandomProgramsTest.compare(kind, transport, address);
        } finally {
            transport.close();
        }
    }
}
