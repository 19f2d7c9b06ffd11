/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Tool;

/**
 * What goes wrong, in the order in which it is tried. Each begins with all connections over RDMA, in programs that have
 * lived through the ones before.
 */
final class Scenarios {

    /** The name of the one that sets the clocks. */
    static final String CLOCK = "clock";
    /** The name of the one that takes the client's address away. */
    static final String ADDRESS = "address";

    /**
     * An emulated machine needs seconds for what takes a real one milliseconds: the times that are promised are for
     * it.
     */
    private static final Duration SOON = Duration.ofSeconds(30);

    private static final Duration MINUTE = Duration.ofSeconds(60);

    /** Until a connection ends whose device says nothing any more. */
    private static final Duration TWO_MINUTES = Duration.ofMinutes(2);

    private static final String AFTERWARDS =
            "within 120 s of its end each connection goes on, or has ended with an IOException; nothing is altered; "
                    + "new ones, over RDMA or TCP, within 30 s";

    /** What runs a client that may lock 1.5 MiB. */
    private static final String[] LITTLE_MEMORY = {
        "prlimit", "--memlock=1572864:1572864", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"
    };

    private static final String DEVICE = "the RDMA device was removed or has failed (rxe0, ";

    private Scenarios() {}

    static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        all.add(quiet());
        all.add(disturbed("loss-0.1", "0.1 % of the packets lost, both ways", "loss 0.1%", 15));
        all.add(disturbed("loss-1", "1 % lost", "loss 1%", 15));
        all.add(disturbed("loss-5", "5 % lost", "loss 5%", 15));
        all.add(disturbed("delay", "10 ms delay", "delay 10ms", 15));
        all.add(jitter(15, PlainWrites::result));
        all.add(disturbed("reorder", "a tenth of the packets overtake others", "delay 2ms reorder 10% 50%", 15));
        all.add(disturbed("duplicate", "5 % duplicated", "duplicate 5%", 15));
        all.add(link("down-1", "link down for 1 s", "down", "up", 1));
        all.add(link("down-5", "link down for 5 s", "down", "up", 5));
        all.add(link("down-30", "link down for 30 s", "down", "up", 30));
        all.add(link("silent-1", "all packets dropped for 1 s", "blackhole", "clear", 1));
        all.add(link("silent-5", "all packets dropped for 5 s", "blackhole", "clear", 5));
        all.add(link("silent-30", "all packets dropped for 30 s", "blackhole", "clear", 30));
        all.add(stopped("stop-3", 3));
        all.add(stopped("stop-30", 30));
        all.add(killed());
        all.add(HostScenarios.outOfMemory());
        all.add(removedThere());
        all.add(removedHere());
        all.add(HostScenarios.driverUnloaded());
        all.add(addressGone(5));
        all.add(clockJumps());
        all.add(fullQueue(12, "twelve"));
        all.add(noLockedMemory());
        all.add(poor("descriptors", "100 descriptors", new String[0], 200));
        all.add(nothingLeft());
        all.add(HostScenarios.reset()); // nobody is there any more afterwards
        return all;
    }

    /**
     * Short forms for every test run. Of those that differ in how much, how long or who kills the server only one is
     * among them, one client lacks memory and descriptors, and a host that is reset is one that nobody reaches any
     * more, and that comes back. Those come first whose connections stay: the next one goes on with them, see
     * {@link TwoHosts#TwoHosts(boolean)}.
     */
    static List<Scenario> brief() {
        List<Scenario> brief = new ArrayList<>();
        brief.add(disturbed("loss", "5 % lost, for 2 s", "loss 5%", 2));
        brief.add(disturbed("delay", "10 ms delay, for 2 s", "delay 10ms", 2));
        brief.add(disturbed("reorder", "a tenth overtake others, for 2 s", "delay 2ms reorder 10% 50%", 2));
        brief.add(disturbed("duplicate", "5 % duplicated, for 2 s", "duplicate 5%", 2));
        brief.add(stopped("stop", 2));
        brief.add(clockJumps());
        brief.add(jitter(2, hosts -> "not compared"));
        brief.add(link("silent", "all packets dropped for 1 s", "blackhole", "clear", 1));
        brief.add(link("down", "link down for 1 s", "down", "up", 1));
        brief.add(addressGone(1));
        brief.add(HostScenarios.outOfMemory()); // which kills the server
        brief.add(HostScenarios.gone(5));
        brief.add(removedThere());
        brief.add(removedHere());
        brief.add(HostScenarios.driverUnloaded());
        brief.add(fullQueue(5, "five"));
        brief.add(poor("poor", "100 descriptors that may lock 1.5 MiB", LITTLE_MEMORY, 80));
        brief.add(nothingLeft());
        return brief;
    }

    private static Scenario quiet() {
        return new Scenario(
                "nothing",
                "nothing goes wrong",
                "rdma",
                "all connections use RDMA, and nothing is lost or altered",
                hosts -> {
                    hosts.run(Duration.ofSeconds(5));
                    assertEquals(0, hosts.lost(), hosts::endings);
                    return "all stay";
                });
    }

    private static Scenario disturbed(String name, String title, String netem, int seconds) {
        return new Scenario(
                name,
                title,
                "stay",
                "all connections stay and carry something within 60 s, nothing is lost or altered; "
                        + "new ones, over RDMA or TCP, within 60 s",
                hosts -> {
                    int rdma;
                    try {
                        disturb(hosts, netem);
                        hosts.run(Duration.ofSeconds(seconds));
                        assertEquals(0, hosts.settle(MINUTE), hosts::endings);
                        hosts.end();
                        rdma = hosts.open(MINUTE);
                    } finally {
                        leaveAlone(hosts);
                    }
                    return "all stay" + newOnes(rdma);
                });
    }

    private static void disturb(TwoHosts hosts, String netem) throws IOException {
        Tool.run(("lab-link netem " + netem).split(" "));
        hosts.far().run("lab-link netem " + netem);
    }

    private static void leaveAlone(TwoHosts hosts) throws IOException {
        Tool.run("lab-link", "clear");
        hosts.far().run("lab-link clear");
    }

    /**
     * Packets of one write overtake each other. RC goes back to the first that is missing; rxe counts that as a retry,
     * and begins to count anew only when the whole write has arrived.
     */
    private static Scenario jitter(int seconds, Scenario.Play compared) {
        return new Scenario("jitter", "10 ms delay, 5 ms jitter", "settle", AFTERWARDS, hosts -> {
            String told;
            try {
                disturb(hosts, "delay 10ms 5ms 25%");
                hosts.run(Duration.ofSeconds(seconds));
                told = compared.run(hosts);
            } finally {
                leaveAlone(hosts);
            }
            return toldAfterwards(hosts) + "; meanwhile " + told;
        });
    }

    private static Scenario link(String name, String title, String fault, String cure, int seconds) {
        return new Scenario(name, title, "settle", AFTERWARDS, hosts -> {
            try {
                Tool.run("lab-link", fault);
                hosts.run(Duration.ofSeconds(seconds));
            } finally {
                Tool.run("lab-link", cure);
            }
            return toldAfterwards(hosts);
        });
    }

    /** What has become of the connections, and of as many new ones. */
    private static String toldAfterwards(TwoHosts hosts) throws IOException, InterruptedException {
        int lost = hosts.settle(TWO_MINUTES);
        String told =
                lost == 0 ? "all stay" : (TwoHosts.ALL - lost) + " stay, " + lost + " lost: " + kinds(hosts.endings());
        hosts.end();
        int rdma = hosts.open(SOON);
        return told + newOnes(rdma) + (rdma == 0 ? "; " + PlainPing.restored(hosts) : "");
    }

    static String newOnes(int rdma) {
        return "; of " + TwoHosts.ALL + " new ones " + rdma + " over RDMA";
    }

    /** What they ended with, each once, with the first cause, without addresses. */
    static String kinds(String endings) {
        Matcher found = Pattern.compile("why=([^;]*)").matcher(endings);
        Set<String> kinds = new LinkedHashSet<>();
        while (found.find()) {
            String[] causes = found.group(1).strip().split(" <- ");
            String kind = causes[0].replaceAll(" after \\d+ of \\d+ bytes", "");
            if (causes.length > 1) {
                String cause = causes[causes.length - 1];
                kind += " (" + cause.replaceAll("^[\\w.]+: | \\(.*\\)$", "") + ")";
            }
            kinds.add(kind);
        }
        return String.join(", ", kinds);
    }

    private static Scenario stopped(String name, int seconds) {
        return new Scenario(
                name,
                "the server's process stopped for " + seconds + " s",
                "resume",
                "all connections stay, and go on within 30 s of its end",
                hosts -> {
                    hosts.far().run("kill -STOP " + hosts.serverPid());
                    try {
                        hosts.run(Duration.ofSeconds(seconds));
                    } finally {
                        hosts.far().run("kill -CONT " + hosts.serverPid());
                    }
                    assertEquals(0, hosts.settle(SOON), hosts::endings);
                    return "all stay";
                });
    }

    private static Scenario killed() {
        return new Scenario(
                "kill",
                "the server's process killed",
                "end",
                "all connections end within 30 s; new ones to the next server within 30 s, over RDMA",
                hosts -> {
                    hosts.far().stop();
                    hosts.awaitAllLost(SOON);
                    String told = kinds(hosts.endings());
                    hosts.startServer();
                    int rdma = hosts.open(SOON);
                    assertTrue(rdma >= TwoHosts.ALL, () -> rdma + " new connections over RDMA");
                    return "all end: " + told + "; all new ones over RDMA";
                });
    }

    private static Scenario removedThere() {
        return new Scenario(
                "remove-there",
                "the server's RDMA device removed under load, and added again",
                "removed",
                "rdma link delete returns within 30 s; RDMA connections end within 30 s; "
                        + "new ones over TCP within 60 s; "
                        + "over RDMA within 60 s of its coming back, without a restart",
                hosts -> {
                    long start = System.nanoTime();
                    hosts.far().run("timeout 30 rdma link delete rxe0");
                    long taken = millisSince(start);
                    try {
                        hosts.awaitAllLost(SOON);
                        hosts.open(MINUTE);
                        hosts.end();
                    } finally {
                        hosts.far().run("rdma link add rxe0 type rxe netdev eth0");
                    }
                    awaitRdma(hosts);
                    return "removed in " + taken + " ms; " + kinds(hosts.endings()) + "; TCP, then RDMA again";
                });
    }

    private static Scenario removedHere() {
        return new Scenario(
                "remove-here",
                "the client's RDMA device removed under load, and added again",
                "removed",
                "rdma link delete returns within 30 s; RDMA connections end within 30 s with an IOException "
                        + "that names the "
                        + "device; new ones over TCP within 60 s; "
                        + "over RDMA within 60 s of its coming back, without a restart",
                hosts -> {
                    long start = System.nanoTime();
                    Tool.run("timeout", "30", "rdma", "link", "delete", "rxe0");
                    long taken = millisSince(start);
                    try {
                        hosts.awaitAllLost(SOON);
                        assertTrue(hosts.endings().contains(DEVICE), hosts::endings);
                        hosts.open(MINUTE);
                        hosts.end();
                    } finally {
                        Tool.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0");
                    }
                    awaitRdma(hosts);
                    return "removed in " + taken + " ms; " + kinds(hosts.endings()) + "; TCP, then RDMA again";
                });
    }

    private static long millisSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    /** Until all of a round are. None may be open. */
    static void awaitRdma(TwoHosts hosts) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + MINUTE.toNanos();
        for (; ; ) {
            int rdma = hosts.open(MINUTE);
            if (rdma >= TwoHosts.ALL) {
                return;
            }
            hosts.end();
            assertTrue(System.nanoTime() - deadline < 0, () -> "only " + rdma + " new connections over RDMA");
        }
    }

    private static Scenario addressGone(int seconds) {
        return new Scenario(
                ADDRESS, "the client's address taken away for " + seconds + " s", "settle", AFTERWARDS, hosts -> {
                    Tool.run("ip", "address", "del", hosts.self() + "/24", "dev", "eth0");
                    try {
                        hosts.run(Duration.ofSeconds(seconds));
                    } finally {
                        Tool.run("ip", "address", "add", hosts.self() + "/24", "dev", "eth0");
                    }
                    return toldAfterwards(hosts);
                });
    }

    private static Scenario clockJumps() {
        return new Scenario(
                CLOCK,
                "the clocks jump an hour ahead, and back",
                "resume",
                "all connections stay and go on within 30 s, new ones are made within 30 s",
                hosts -> {
                    for (long by : new long[] {3600, -3600}) {
                        long now = System.currentTimeMillis() / 1000;
                        Tool.run("date", "-s", "@" + (now + by));
                        hosts.far().run("date -s @" + (now + by));
                        assertEquals(0, hosts.settle(SOON), hosts::endings);
                    }
                    hosts.end();
                    int rdma = hosts.open(SOON);
                    return "all stay" + newOnes(rdma);
                });
    }

    private static Scenario fullQueue(int count, String word) {
        return new Scenario(
                "queue",
                "a server accepts one connection a second, " + word + " come at once",
                "made",
                "all are made within 60 s, over RDMA or TCP, and nothing is lost or altered",
                hosts -> {
                    hosts.end();
                    long before = hosts.report().rdma();
                    hosts.openLate(count);
                    long deadline = System.nanoTime() + MINUTE.toNanos();
                    Report now = hosts.report();
                    while (now.open() < count || now.fresh() > 0) {
                        Report last = now;
                        assertTrue(System.nanoTime() - deadline < 0, last::toString);
                        assertEquals(0, last.lost(), last::toString);
                        TimeUnit.MILLISECONDS.sleep(500);
                        now = hosts.report();
                    }
                    String told = (now.rdma() - before) + " over RDMA, " + (count - now.rdma() + before) + " over TCP";
                    hosts.end();
                    return told;
                });
    }

    private static Scenario noLockedMemory() {
        int count = 60;
        return new Scenario(
                "memlock",
                "a client that may lock 1.5 MiB opens " + count + " connections",
                "made",
                "all are made within 60 s, over RDMA or TCP, and carry data; nobody else is disturbed",
                hosts -> {
                    try (JvmProcess poor = hosts.start(LITTLE_MEMORY)) {
                        Report all = openAll(hosts, poor, count, count);
                        assertTrue(all.rdma() > 0 && all.rdma() < count, () -> "over RDMA " + all.rdma());
                        assertEquals(0, hosts.settle(SOON), hosts::endings);
                        poor.stop();
                        return all.rdma() + " over RDMA, " + (count - all.rdma()) + " over TCP";
                    }
                });
    }

    /**
     * Opens connections and waits until {@code least} of them have carried data, and the others have ended. The first
     * is alone: the client loads its classes with it, for which there may be no descriptor later.
     */
    private static Report openAll(TwoHosts hosts, JvmProcess by, int count, int least) throws Exception {
        String pid = by.awaitLine(Pattern.compile("^ready=(\\d+)"), TwoHosts.PATIENCE)
                .group(1);
        int asked = 1;
        hosts.open(by, "nio", asked);
        long deadline = System.nanoTime() + MINUTE.toNanos();
        int lost = 0;
        Set<String> endings = new LinkedHashSet<>();
        for (int number = 1; ; number++) {
            Report now = TwoHosts.report(by, number);
            lost += now.lost();
            endings.add(now.endings());
            boolean settled = now.opening() == 0 && now.open() + lost == asked && now.fresh() == 0;
            if (settled && asked == count && now.open() >= least) {
                return now;
            }
            if (settled && asked < count) {
                hosts.open(by, "nio", count - asked);
                asked = count;
                deadline = System.nanoTime() + MINUTE.toNanos();
            }
            if (System.nanoTime() - deadline >= 0) {
                System.out.println(Snapshot.of(by, pid));
                fail(lost + " ended; " + now + endings);
            }
            TimeUnit.MILLISECONDS.sleep(500);
        }
    }

    private static Scenario poor(String name, String what, String[] more, int count) {
        return new Scenario(
                name,
                "a client with " + what + " opens " + count + " connections",
                "some",
                "those that cannot be made end with an IOException within 60 s, the others carry data; "
                        + "nobody else is disturbed",
                hosts -> {
                    List<String> limits = new ArrayList<>(List.of("prlimit", "--nofile=100:100"));
                    limits.addAll(List.of(more));
                    try (JvmProcess poor = hosts.start(limits.toArray(String[]::new))) {
                        Report all = openAll(hosts, poor, count, 5);
                        assertEquals(0, hosts.settle(SOON), hosts::endings);
                        poor.stop();
                        return all.open() + " made, " + all.rdma() + " of them over RDMA";
                    }
                });
    }

    private static Scenario nothingLeft() {
        return new Scenario(
                "left",
                "after all that",
                "clean",
                "neither host holds memory or queue pairs; new connections use RDMA",
                hosts -> {
                    hosts.end();
                    TwoHosts.Held held = hosts.held();
                    assertTrue(held.isBare(), held::toString);
                    awaitRdma(hosts);
                    return "client " + held.here() + ", server " + held.there();
                });
    }
}
