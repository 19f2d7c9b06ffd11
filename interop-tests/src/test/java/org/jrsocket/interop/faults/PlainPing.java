/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.jrsocket.interop.Tool;

/**
 * Whether the devices make a connection between the hosts without any of ours: rdma-core's {@code rping}, from this
 * host to the other.
 */
final class PlainPing {

    private static final int PORT = 7471;

    private PlainPing() {}

    /**
     * To be called when a disturbance is over and nobody gets a connection over RDMA. rxe has a defect: when a message
     * of the connection manager finds no route, its queue pair goes to error, and what comes later is not received any
     * more. Where rping fails as well, this host's device is removed and added again, and rping has to work then.
     */
    static String restored(TwoHosts hosts) throws IOException, InterruptedException {
        if (works(hosts)) {
            return "rping works";
        }
        Tool.run("rdma", "link", "delete", "rxe0");
        Tool.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0");
        assertTrue(works(hosts), "rping fails, also after the device was added again");
        return "rping fails as well, until the device is removed and added again";
    }

    private static boolean works(TwoHosts hosts) throws IOException, InterruptedException {
        String server =
                "timeout 10 rping -s -C 1 -p " + PORT + " -a " + hosts.far().address();
        String client =
                "timeout 6 rping -c -C 1 -p " + PORT + " -a " + hosts.far().address();
        boolean[] served = new boolean[1];
        Thread far = new Thread(() -> served[0] = succeeds(hosts, server));
        far.start();
        // until somebody listens, it is refused at once
        String printed = Tool.run(
                "sh",
                "-c",
                "for i in $(seq 20); do " + client + " >/dev/null 2>&1; case $? in 0) echo works; exit 0;; "
                        + "124) exit 0;; esac; sleep 0.5; done");
        far.join();
        return served[0] && printed.strip().equals("works");
    }

    private static boolean succeeds(TwoHosts hosts, String command) {
        try {
            hosts.far().run(command);
            return true;
        } catch (IOException | AssertionError e) {
            return false;
        }
    }
}
