/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.jrsocket.interop.Tool;

/** Those of {@link Scenarios} in which the kernel of one host takes something away. */
final class HostScenarios {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final Duration TCP_GIVES_UP = Duration.ofSeconds(150);

    private HostScenarios() {}

    static Scenario outOfMemory() {
        return new Scenario(
                "memory",
                "the server's host out of memory: the kernel kills the server",
                "end",
                "all connections end within 30 s; new ones to the next server within 30 s, over RDMA",
                hosts -> {
                    hosts.far().run("lab-oom " + hosts.serverPid());
                    hosts.awaitAllLost(SOON);
                    String told = Scenarios.kinds(hosts.endings());
                    hosts.far().stop();
                    hosts.startServer();
                    int rdma = hosts.open(SOON);
                    assertTrue(rdma >= TwoHosts.ALL, () -> rdma + " new connections over RDMA");
                    return "all end: " + told + "; all new ones over RDMA";
                });
    }

    /** A driver that is in use cannot be unloaded, so its device goes first. */
    static Scenario driverUnloaded() {
        return new Scenario(
                "module",
                "the client's RDMA device removed under load, its driver unloaded and loaded again",
                "removed",
                "the module can be unloaded within 30 s; RDMA connections end within 30 s; new ones over TCP within "
                        + "60 s; over RDMA within 60 s of its coming back, without a restart",
                hosts -> {
                    Tool.run("timeout", "30", "sh", "-c", "rdma link delete rxe0 && modprobe -r rdma_rxe");
                    try {
                        hosts.awaitAllLost(SOON);
                        hosts.open(MINUTE);
                        hosts.end();
                    } finally {
                        Tool.run("sh", "-c", "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0");
                    }
                    Scenarios.awaitRdma(hosts);
                    return Scenarios.kinds(hosts.endings()) + "; TCP, then RDMA again";
                });
    }

    /** A host that is not there any more answers neither: to end a new one is TCP's, by its own 127 s at the latest. */
    static Scenario reset() {
        return new Scenario(
                "reset",
                "the server's host reset",
                "reset",
                "all connections end with an IOException within 60 s; new ones when TCP gives them up, within 150 s",
                hosts -> {
                    hosts.resetFar();
                    hosts.awaitAllLost(MINUTE);
                    hosts.openOneOfEach();
                    hosts.awaitAllLost(TCP_GIVES_UP);
                    return "all end: " + Scenarios.kinds(hosts.endings());
                });
    }

    /** What a host is that is reset and comes back, as far as others can tell. */
    static Scenario gone(int seconds) {
        return new Scenario(
                "gone",
                "the server's host without a link for " + seconds + " s, its process killed meanwhile",
                "end",
                "all connections end with an IOException within 60 s; new ones to the next server within 60 s, "
                        + "over RDMA or TCP",
                hosts -> {
                    hosts.far().start("lab-gone " + seconds + ' ' + hosts.serverPid());
                    hosts.awaitAllLost(MINUTE);
                    String told = Scenarios.kinds(hosts.endings());
                    hosts.far().stop();
                    hosts.startServer();
                    return "all end: " + told + Scenarios.newOnes(hosts.open(MINUTE));
                });
    }
}
