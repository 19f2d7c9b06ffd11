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

    private HostScenarios() {}

    static Scenario outOfMemory() {
        return new Scenario(
                "memory",
                "the server's host out of memory: the kernel kills the server",
                "all connections end within 30 s; new ones to the next server within 30 s, over RDMA",
                false,
                hosts -> {
                    hosts.far().run("lab-oom " + hosts.serverPid());
                    hosts.awaitAllLost(SOON);
                    String told = Scenarios.kinds(hosts.endings());
                    hosts.far().stop();
                    hosts.startServer();
                    int rdma = hosts.open(SOON);
                    assertTrue(rdma >= TwoHosts.ALL, () -> rdma + " new connections over RDMA");
                    hosts.end();
                    return "all end: " + told + "; all new ones over RDMA";
                });
    }

    /** A driver that is in use cannot be unloaded, so its device goes first. */
    static Scenario driverUnloaded() {
        return new Scenario(
                "module",
                "the client's RDMA device removed under load, its driver unloaded and loaded again",
                "the module can be unloaded within 30 s; RDMA connections end within 30 s; new ones over TCP within "
                        + "60 s; over RDMA within 60 s of its coming back, without a restart",
                false,
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
}
