/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.interop.Tool;

/**
 * What the devices do between the hosts without any of ours: perftest's {@code ib_write_bw}, one queue pair, 64 KiB a
 * write, with as many retries as our connections have.
 */
final class PlainWrites {

    private static final int PORT = 18_515;
    private static final String PROGRAM =
            "timeout 60 ib_write_bw -F -R --retry_count=6 -s 65536 -n 500 -t 8 -p " + PORT;

    /** Of a work completion, as perftest prints it. */
    private static final Pattern FAILED = Pattern.compile("Failed status (\\d+)");

    private PlainWrites() {}

    /** Of one run. */
    static String result(TwoHosts hosts) throws IOException, InterruptedException {
        hosts.far().start("stdbuf -oL " + PROGRAM);
        awaitListener(hosts);
        String printed = Tool.run("sh", "-c", PROGRAM + ' ' + hosts.far().address() + " 2>&1; echo ended with $?");
        Matcher failed = FAILED.matcher(printed);
        String how = printed.substring(printed.lastIndexOf("ended with")).strip();
        if (failed.find()) {
            how = "fails with work completion status " + failed.group(1);
        } else if (how.equals("ended with 0")) {
            how = "carries all";
        }
        return "ib_write_bw: " + how;
    }

    private static void awaitListener(TwoHosts hosts) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TwoHosts.PATIENCE.toNanos();
        while (!hosts.far().run("rdma resource show cm_id").contains(":" + PORT + " ")) {
            assertTrue(System.nanoTime() - deadline < 0, "ib_write_bw does not listen");
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }
}
