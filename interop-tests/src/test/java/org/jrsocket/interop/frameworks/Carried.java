/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.io.IOException;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Traffic;

/** What carries data from now on: bytes that the RDMA device puts into memory in the lab, IP elsewhere. */
final class Carried implements AutoCloseable {

    private final Traffic before;
    private final LabBytes delivered; // or null

    private Carried(Traffic before, LabBytes delivered) {
        this.before = before;
        this.delivered = delivered;
    }

    static Carried fromNow() throws IOException {
        return new Carried(Traffic.now(), Site.hasRdma() ? LabBytes.count() : null);
    }

    /** Asserts that {@code bytes} of data went where they should. */
    void assertBytes(long bytes) throws IOException {
        Traffic traffic = Traffic.now().since(before);
        if (delivered != null) {
            System.out.printf(
                    "%d bytes of data: the RDMA device delivered %d, %s%n", bytes, delivered.delivered(), traffic);
            delivered.assertAtLeast(bytes);
            traffic.assertRdmaCarried(bytes);
        } else {
            traffic.assertIpCarried(bytes);
        }
    }

    @Override
    public void close() {
        if (delivered != null) {
            delivered.close();
        }
    }
}
