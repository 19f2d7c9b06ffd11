/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrsocket.interop.JvmProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How long a connection takes to make, beside a JVM without the agent, and what carries it then: a table on standard
 * output. Nothing here fails for a time; what is counted is whether all connections are made, and over what. On host b,
 * with {@link FarHost} on host a.
 */
@Tag("hosts")
class ConnectTimesBetweenHosts {

    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Pattern ANSWER = Pattern.compile(
            " count=(\\d+) failed=(\\d+) tries=(\\d+) p50=(\\d+) p99=(\\d+) most=(\\d+) used=\\{(.*)\\}$");

    private static final String HEAD_START = "100"; // milliseconds, the agent's default
    private static final String ADD_DEVICE = "rdma link add rxe0 type rxe netdev eth0";
    private static final String[] WITHOUT_DEVICE = {"TIMEOUT", "REMEMBERED", "UNREACHABLE", "REFUSED"};

    private FarEnd far;
    private JvmProcess plain;
    private JvmProcess waiting; // as plain, after the head start that RDMA has in the other
    private JvmProcess with;
    private final StringBuilder table = new StringBuilder();

    @AfterEach
    void stop() throws IOException {
        if (far != null) {
            far.stop();
            far.run("lab-link clear");
        }
    }

    /** Compiles when JVMs do: what the lab's other JVMs save by compiling late, a crowd in code that is cold pays. */
    private static JvmProcess client(boolean agent, String... arguments) throws IOException {
        JvmProcess.Builder builder = JvmProcess.running(CrowdClient.class)
                .option("-XX:CompileThresholdScaling=1")
                .listening();
        return (agent ? builder.agent("") : builder)
                .arguments(Stream.concat(Stream.of(System.getenv("ROCE_LAB_ADDR")), Arrays.stream(arguments))
                        .toArray())
                .start();
    }

    /** @return what the connections of the JVM with the agent used: RDMA, or why TCP */
    private Map<String, Integer> row(String name, String address, int port, int count, int crowd, int millis)
            throws Exception {
        String line = name + ' ' + address + ' ' + port + ' ' + count + ' ' + crowd + ' ' + millis;
        Matcher reference = ask(plain, name, line);
        Matcher ours = ask(with, name, line);
        table.append(String.format(
                "%-30s %8s %8s %8s %8s %8s %8s  %s%s%n",
                name,
                reference.group(4),
                reference.group(5),
                reference.group(6),
                ours.group(4),
                ours.group(5),
                ours.group(6),
                ours.group(7),
                ours.group(3).equals(ours.group(1)) ? "" : ", " + ours.group(3) + " tries"));
        assertEquals("0", reference.group(2), () -> name + " without the agent: " + reference.group());
        assertEquals("0", ours.group(2), () -> name + ": " + ours.group());
        Map<String, Integer> used = new HashMap<>();
        Arrays.stream(ours.group(7).split(", "))
                .filter(each -> !each.isEmpty())
                .forEach(each -> used.put(each.split("=")[0], Integer.valueOf(each.split("=")[1])));
        return used;
    }

    /** A row of many at once, and below it what they take that only wait and then use TCP: nobody can be faster. */
    private Map<String, Integer> crowd(String name, String address, int port, int count) throws Exception {
        Map<String, Integer> used = row(name, address, port, count, count, 0);
        Matcher bound = ask(waiting, name, name + ' ' + address + ' ' + port + ' ' + count + ' ' + count + " 0");
        assertEquals("0", bound.group(2), () -> name + " without the agent: " + bound.group());
        table.append(String.format(
                "%-57s %8s %8s %8s  without the agent, TCP after %s ms%n",
                "", bound.group(4), bound.group(5), bound.group(6), HEAD_START));
        return used;
    }

    private static Matcher ask(JvmProcess client, String name, String line) throws Exception {
        client.tell(line);
        Matcher answer = client.awaitLine(Pattern.compile("^" + Pattern.quote(name) + ANSWER.pattern()), LIMIT);
        return answer;
    }

    private static void assertSum(int count, Map<String, Integer> used, String... names) {
        assertEquals(
                count,
                Arrays.stream(names)
                        .mapToInt(name -> used.getOrDefault(name, 0))
                        .sum(),
                used::toString);
    }

    /** Whether the next connection is over RDMA, with all that is remembered. */
    private boolean answers(String host, int port, int number) throws Exception {
        String name = "still-" + number;
        boolean rdma = ask(with, name, name + ' ' + host + ' ' + port + " 1 1 0")
                .group(7)
                .contains("RDMA=");
        if (!rdma) {
            TimeUnit.MILLISECONDS.sleep(200); // as often as an application connects
        }
        return rdma;
    }

    @Test
    void shouldUseRdmaAsSoonAsThePeerAnswersAndTcpMeanwhile() throws Exception {
        Assumptions.assumeTrue(System.getenv("ROCE_LAB_PEER") != null, "needs two hosts (scripts/test hosts)");
        far = FarEnd.ofAllTests();
        int both = far.serve(true, 0);
        int tcp = far.serve(false, 0);
        String host = far.address();
        try {
            plain = client(false);
            waiting = client(false, HEAD_START);
            with = client(true);
            ask(waiting, "self", "self self 0 20 1 0");
            ask(waiting, "crowd-self", "crowd-self self 0 50 25 0");
            row("self", "self", 0, 20, 1, 0); // loads classes
            row("crowd-self", "self", 0, 50, 25, 0);
            assertTrue(row("peer-with-RDMA", host, both, 20, 1, 0).getOrDefault("RDMA", 0) > 0);
            assertSum(20, row("peer-that-refuses", host, tcp, 20, 1, 0), "REFUSED", "REMEMBERED", "TIMEOUT");
            far.run("lab-link no-roce");
            assertSum(20, row("peer-that-drops-UDP-4791", host, both, 20, 1, 0), "TIMEOUT", "REMEMBERED");
            for (String name : new String[] {"the-same-200-at-once", "and-once-more"}) { // first in code that is cold
                assertSum(200, crowd(name, host, both, 200), "TIMEOUT", "REMEMBERED");
            }
            for (int millis : new int[] {200, 1000, 3000}) { // each try that fails is one more
                row("the-same-limit-" + millis + "-ms", host, both, 1, 1, millis);
            }
            far.run("lab-link clear");
            assertTrue(row("peer-that-answers-again", host, both, 20, 1, 0).getOrDefault("RDMA", 0) > 0);
            far.run("timeout 60 rdma link delete rxe0"); // the server runs on
            assertSum(20, row("peer-that-lost-its-device", host, both, 20, 1, 0), WITHOUT_DEVICE);
            far.run(ADD_DEVICE);
            long regained = System.nanoTime();
            int asked = 0;
            while (!answers(host, both, ++asked)) { // nothing is forgotten
                assertTrue(System.nanoTime() - regained < LIMIT.toNanos(), "it does not use RDMA again");
            }
            table.append(String.format(
                    "over RDMA again %d ms after the device was there, with connection %d%n",
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - regained), asked));
            assertTrue(row("peer-that-regained-it", host, both, 20, 1, 0).getOrDefault("RDMA", 0) > 0);
            far.stop();
            far.run("timeout 60 rdma link delete rxe0");
            assertSum(20, row("peer-without-a-device", host, far.serve(true, 0), 20, 1, 0), WITHOUT_DEVICE);
        } finally {
            if (far.run("rdma link").isEmpty()) {
                far.run(ADD_DEVICE);
            }
            System.out.printf(
                    "microseconds to connect         without the agent           with it%n"
                            + "%-30s %8s %8s %8s %8s %8s %8s  %s%n%s",
                    "", "p50", "p99", "most", "p50", "p99", "most", "used", table);
            for (JvmProcess each : new JvmProcess[] {plain, waiting, with}) {
                if (each != null) {
                    each.close();
                }
            }
        }
    }
}
