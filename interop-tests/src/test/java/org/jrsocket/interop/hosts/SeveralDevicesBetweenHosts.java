/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Tool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two hosts with two RDMA devices each, all four on one network. On host b, with {@link FarHost} on host a. */
@Tag("hosts")
class SeveralDevicesBetweenHosts {

    private static final Duration LIMIT = Duration.ofMinutes(4);
    /** For what has to use RDMA, however slow the guest is. */
    private static final String PATIENT = "connect.timeout=60s,memory.rejected=1s,memory.unanswered=2s";

    private static final String[] UP = {
        "sysctl -q -w net.ipv4.conf.all.arp_ignore=1", // each device answers for its own addresses
        "ip link set eth1 mtu 9000 up",
        "ip address add %s/24 dev eth1",
        "rdma link add rxe1 type rxe netdev eth1"
    };
    private static final String[] DOWN = {
        "rdma link delete rxe1",
        "ip address flush dev eth1",
        "ip link set eth1 down",
        "sysctl -q -w net.ipv4.conf.all.arp_ignore=0"
    };

    private static FarEnd far;
    private static String own; // of rxe0, as the next of rxe1
    private static String ownSecond;
    private static String farSecond;
    private int calls;

    @BeforeAll
    static void addDevices() throws Exception {
        Assumptions.assumeTrue(System.getenv("ROCE_LAB_PEER") != null, "needs two hosts (scripts/test hosts)");
        Assumptions.assumeTrue(Files.exists(Path.of("/sys/class/net/eth1")), "needs --two-links");
        far = FarEnd.ofAllTests();
        own = System.getenv("ROCE_LAB_ADDR");
        ownSecond = second(own);
        farSecond = second(far.address());
        for (String command : UP) {
            Tool.run(command.formatted(ownSecond).split(" "));
            far.run(command.formatted(farSecond));
        }
        String[] bytes = ownSecond.split("\\.");
        awaitGid("%02x%02x:%02x%02x"
                .formatted(
                        Integer.valueOf(bytes[0]),
                        Integer.valueOf(bytes[1]),
                        Integer.valueOf(bytes[2]),
                        Integer.valueOf(bytes[3])));
    }

    /** 10.78.0.12 for 10.78.0.2. */
    private static String second(String address) {
        return address.replaceFirst("\\.(\\d)$", ".1$1");
    }

    private static void awaitGid(String end) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (int i = 0; System.nanoTime() - deadline < 0; i = (i + 1) % 8) {
            Path gid = Path.of("/sys/class/infiniband/rxe1/ports/1/gids/" + i);
            if (Files.readString(gid).strip().endsWith(end)) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        throw new AssertionError("rxe1 has no GID that ends with " + end);
    }

    @AfterAll
    static void removeDevices() throws Exception {
        if (farSecond != null) {
            for (String command : DOWN) {
                Tool.run(command.split(" "));
                far.run(command);
            }
        }
    }

    @AfterEach
    void stopServers() throws IOException {
        far.stop();
    }

    private static JvmProcess client(String settings) throws IOException {
        return JvmProcess.running(LeavingClient.class)
                .listening()
                .agent("=" + settings)
                .start();
    }

    /** @return {@code TRANSPORT from=ADDRESS} */
    private String call(JvmProcess client, String address, int port) throws IOException, InterruptedException {
        client.tell(address + ' ' + port);
        return client.awaitLine(Pattern.compile("^call=" + ++calls + " (.*)$"), LIMIT)
                .group(1);
    }

    private List<String> calls(JvmProcess client, String address, int port, int count) throws Exception {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(call(client, address, port));
        }
        return all;
    }

    private static long sent(String device) throws IOException {
        return Long.parseLong(
                Files.readString(Path.of("/sys/class/infiniband/" + device + "/ports/1/hw_counters/sent_pkts"))
                        .strip());
    }

    private static void assertSpread(List<String> calls) {
        assertEquals(calls.size() / 2, Collections.frequency(calls, "RDMA from=" + own), calls::toString);
        assertEquals(calls.size() / 2, Collections.frequency(calls, "RDMA from=" + ownSecond), calls::toString);
    }

    @Test
    void shouldSpreadConnectionsOverBothDevicesAndDoWithOneWhileTheOtherIsDown() throws Exception {
        int port = far.serve(Server.class, "=connect.timeout=60s", "0.0.0.0", 0);
        try (JvmProcess client = client(PATIENT + ",devices=all")) {
            long packets = sent("rxe1");
            assertSpread(calls(client, far.address(), port, 6));
            assertSpread(calls(client, farSecond, port, 6));
            assertTrue(sent("rxe1") >= packets + 6 * 3, "rxe1 carries its connections");
            List<String> meanwhile;
            try {
                Tool.run("ip", "link", "set", "eth1", "down");
                meanwhile = calls(client, far.address(), port, 8);
            } finally {
                Tool.run("ip", "link", "set", "eth1", "up");
            }
            long start = System.nanoTime();
            System.out.println("while eth1 is down: " + meanwhile);
            Set<String> last = new TreeSet<>(meanwhile.subList(2, 8));
            assertTrue(
                    meanwhile.stream().noneMatch(call -> call.equals("RDMA from=" + ownSecond)), meanwhile::toString);
            assertTrue(last.contains("RDMA from=" + own), meanwhile::toString);
            while (!call(client, far.address(), port).equals("RDMA from=" + ownSecond)) {
                assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "rxe1 is not used again");
                TimeUnit.MILLISECONDS.sleep(100);
            }
            System.out.println("used again " + (System.nanoTime() - start) / 1_000_000 + " ms after the link was up");
        }
    }

    /** The first one after the link went down is served by the other device, and so are all that follow. */
    @Test
    void shouldMakeEachConnectionOverRdmaWhileOneDeviceIsDown() throws Exception {
        int port = far.serve(Server.class, "=connect.timeout=60s", "0.0.0.0", 0);
        try (JvmProcess client = client("policy=rdma,devices=all,connect.timeout=5s")) {
            assertSpread(calls(client, far.address(), port, 4));
            Tool.run("ip", "link", "set", "eth1", "down");
            List<String> meanwhile = calls(client, far.address(), port, 6);
            System.out.println("with policy=rdma, while eth1 is down: " + meanwhile);
            assertEquals(Collections.nCopies(6, "RDMA from=" + own), meanwhile);
        } finally {
            Tool.run("ip", "link", "set", "eth1", "up");
        }
    }
}
