/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Tool;
import org.jrsocket.interop.Traffic;

/** What carries data from now on: bytes that the RDMA device puts into memory in the lab, IP elsewhere. */
final class Carried implements AutoCloseable {

    private final Traffic before;

    private Carried(Traffic before) {
        this.before = before;
    }

    static Carried fromNow() throws IOException {
        if (Site.hasRdma()) {
            Tool.run("lab-bytes", "on");
        }
        return new Carried(Traffic.now());
    }

    /** Asserts that {@code bytes} of data went where they should. */
    void assertBytes(long bytes) throws IOException {
        Traffic traffic = Traffic.now().since(before);
        if (Site.hasRdma()) {
            long delivered = Long.parseLong(Tool.run("lab-bytes").strip());
            System.out.printf("%d bytes of data: the RDMA device delivered %d, %s%n", bytes, delivered, traffic);
            assertTrue(delivered >= bytes, () -> "the RDMA device delivered " + delivered + " bytes, not " + bytes);
            traffic.assertRdmaCarried(bytes);
        } else {
            traffic.assertIpCarried(bytes);
        }
    }

    @Override
    public void close() {
        if (Site.hasRdma()) {
            Tool.run("lab-bytes", "off");
        }
    }
}
