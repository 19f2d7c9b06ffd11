/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Tool;
import org.jrsocket.interop.hosts.FarEnd;

/**
 * The traffic: an echo server on host a, a client on host b, connections of every kind. On host b of {@code
 * scripts/roce-lab hosts}.
 */
final class TwoHosts implements AutoCloseable {

    static final String[] KINDS = {"net", "nio", "netty"};
    /** Connections of each kind. */
    static final int EACH = 2;

    static final int ALL = EACH * KINDS.length;

    /** For what has to come in an emulated machine that does nothing wrong. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final String PROGRAMS = "org.jrsocket.interop.frameworks.traffic.";
    /** A peer that was silent is asked again soon: these are short times on a slow machine. */
    static final String AGENT = "=connect.timeout=5s,memory.unanswered=2s,memory.rejected=2s";

    private static final Path CLASSES = Site.classes(TwoHosts.class)
            .resolve("../../frameworks/traffic/target")
            .normalize();

    /** What holds queue pairs besides. */
    interface Besides {
        void end() throws IOException, InterruptedException;
    }

    /** Ends before it is looked whether some are left. */
    Besides besides = () -> {};

    private final FarEnd far;
    private final String self = System.getenv("ROCE_LAB_ADDR");
    private final Set<String> endings = new TreeSet<>();
    private final String[] ports = {"0", "0", "0", "0"};
    private final List<String> extraOptions = words("jrsocket.faults.options");
    private final List<String> under = words("jrsocket.faults.under");
    private String serverPid;
    private JvmProcess client;
    private String clientPid;
    private final boolean goesOn;
    private int reports;
    private int lost;
    private boolean allOverRdma;
    private String beginning = "";
    private boolean broken;
    private boolean farGone;

    /**
     * @param goesOn whether a scenario goes on with the connections that the one before has left, if these are all
     *     there, and over RDMA; else it gets new ones. There is less traffic then: processor time is short
     */
    TwoHosts(boolean goesOn) throws Exception {
        this.goesOn = goesOn;
        far = FarEnd.ofAllTests();
        startServer();
        startClient();
    }

    /** More options of the JVMs, and what runs them: {@code scripts/faults} has them from its command line. */
    private static List<String> words(String property) {
        return Pattern.compile(" ")
                .splitAsStream(System.getProperty(property, ""))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    FarEnd far() {
        return far;
    }

    String self() {
        return self;
    }

    /** The server's address, and its ports of {@link #KINDS}. */
    String ports() {
        return far.address() + ' ' + String.join(" ", List.of(ports).subList(0, KINDS.length));
    }

    String serverPid() {
        return serverPid;
    }

    JvmProcess client() {
        return client;
    }

    String clientPid() {
        return clientPid;
    }

    /** On the ports that it had, if it is not the first. */
    void startServer() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> words = new ArrayList<>(under);
        words.addAll(List.of(java, Site.labOptions()));
        Site.archiveOption().ifPresent(words::add);
        words.addAll(extraOptions);
        words.addAll(List.of("-javaagent:" + Site.agentJar() + AGENT, "-cp", classPath()));
        words.addAll(List.of(PROGRAMS + "EchoServer", far.address()));
        words.addAll(List.of(ports));
        String answer = far.start(String.join(" ", words));
        assertTrue(answer.startsWith("listening="), answer);
        String[] told = answer.substring("listening=".length()).split(" ");
        serverPid = told[0];
        System.arraycopy(told, 1, ports, 0, ports.length);
    }

    private void startClient() throws IOException, InterruptedException {
        client = start();
        clientPid =
                client.awaitLine(Pattern.compile("^ready=(\\d+)$"), PATIENCE).group(1);
    }

    private static String classPath() {
        return CLASSES.resolve("classes") + ":" + CLASSES.resolve("libraries/*");
    }

    /** Another one, run by {@code limits}. */
    JvmProcess start(String... limits) throws IOException {
        JvmProcess.Builder builder = JvmProcess.withArguments(PROGRAMS + "TrafficClient")
                .classPath(CLASSES.resolve("classes"), CLASSES.resolve("libraries/*"))
                .listening()
                .agent(AGENT)
                .under(limits)
                .under(under.toArray(String[]::new));
        if (goesOn) {
            builder.property("jrsocket.traffic.pause", 150);
        }
        for (String option : extraOptions) {
            builder.option(option);
        }
        return builder.start();
    }

    // ---- scenarios ----

    /** Plays one from {@link #begin} on; with programs of its own if a promise was not kept before. */
    String play(Scenario scenario) throws Exception {
        beginning = "";
        if (broken) { // nobody knows what is left of it
            client.close();
            far.stop();
            awaitNoQueuePairs();
            System.out.println(PlainPing.restored(this));
            startServer();
            startClient();
        }
        broken = true;
        try {
            begin();
            String result = scenario.play().run(this);
            if (!goesOn && !farGone) {
                end();
            }
            broken = false;
            return result;
        } finally {
            if (broken) {
                System.out.println(Snapshot.of(this));
            }
        }
    }

    /**
     * All connections are over RDMA, and new unless this goes on, whatever has become of the ones before: the client
     * forgets what it remembers of the server.
     */
    void begin() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (; ; ) {
            Report before = report();
            if (goesOn && before.open() == ALL && before.opening() == 0 && allOverRdma) {
                lost = 0;
                endings.clear();
                beginning = "the same over RDMA at the start";
                return;
            }
            if (before.open() + before.opening() > 0) {
                end();
            }
            client.tell("forget");
            lost = 0;
            endings.clear();
            int rdma = open(PATIENCE);
            beginning = rdma + " of " + ALL + " over RDMA at the start";
            if (rdma == ALL && lost == 0) {
                return;
            }
            assertTrue(System.nanoTime() - deadline < 0, beginning);
        }
    }

    /** With what the scenario began; empty if it did not come so far. */
    String beginning() {
        return beginning;
    }

    // ---- what the traffic does ----

    Report report() throws IOException, InterruptedException {
        Report report = report(client, ++reports);
        lost += report.lost();
        if (!report.endings().isBlank()) {
            endings.add(report.endings());
        }
        assertEquals(0, report.altered(), () -> "altered bytes: " + report);
        return report;
    }

    static Report report(JvmProcess client, int number) throws IOException, InterruptedException {
        client.tell("report " + number);
        return Report.of(client.awaitLine(Report.pattern(number), PATIENCE));
    }

    /** What each connection of a client is at. */
    static String flows(JvmProcess client) throws IOException, InterruptedException {
        long number = System.nanoTime(); // an earlier answer is not this one
        client.tell("flows " + number);
        return client.awaitLine(Pattern.compile("^flows=" + number + " (.*)$"), PATIENCE)
                .group(1)
                .replace("; ", "\n");
    }

    /** Opens connections until there are {@link #ALL}, in turn of the kinds, and sees all of them carry something. */
    int open(Duration within) throws IOException, InterruptedException {
        client.tell("mark");
        long deadline = System.nanoTime() + within.toNanos();
        long before = report().rdma();
        int opened = 0;
        for (; ; ) {
            Report now = report();
            int missing = ALL - now.open() - now.opening();
            for (int i = 0; i < missing; i++) {
                open(client, KINDS[i % KINDS.length], 1);
            }
            opened += missing;
            if (missing == 0 && now.opening() == 0 && now.least() > 0) {
                int rdma = (int) (now.rdma() - before);
                allOverRdma = (allOverRdma || opened == ALL) && rdma == opened;
                return rdma;
            }
            assertTrue(
                    System.nanoTime() - deadline < 0,
                    () -> "not all connections carry data within " + within + ": " + now + endings);
            TimeUnit.MILLISECONDS.sleep(300);
        }
    }

    void open(JvmProcess by, String kind, int count) throws IOException {
        int port = List.of(KINDS).indexOf(kind);
        by.tell("open " + kind + ' ' + far.address() + ' ' + ports[port < 0 ? KINDS.length : port] + ' ' + count);
    }

    void openOneOfEach() throws IOException {
        for (String kind : KINDS) {
            open(client, kind, 1);
        }
    }

    /** Connections to the server that accepts one a second. */
    void openLate(int count) throws IOException {
        client.tell("open net " + far.address() + ' ' + ports[KINDS.length] + ' ' + count);
    }

    /** Sees each connection carry something new there and back, or end. Returns how many ended since {@link #begin}. */
    int settle(Duration within) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + within.toNanos();
        client.tell("mark");
        for (; ; ) {
            TimeUnit.MILLISECONDS.sleep(300);
            Report now = report();
            if (now.opening() == 0 && (now.open() == 0 || now.least() > 0)) {
                return lost;
            }
            assertTrue(
                    System.nanoTime() - deadline < 0,
                    () -> "a connection neither goes on nor ends within " + within + ": " + now);
        }
    }

    /** Sees all of them end. */
    void awaitAllLost(Duration within) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + within.toNanos();
        for (Report now = report(); now.open() + now.opening() > 0; now = report()) {
            Report last = now;
            assertTrue(System.nanoTime() - deadline < 0, () -> "not ended within " + within + ": " + last);
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    /** Lets it run. */
    void run(Duration time) throws IOException, InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
        report();
    }

    int lost() {
        return lost;
    }

    /** How those that were lost ended. */
    String endings() {
        return String.join("; ", endings);
    }

    /** Ends all connections in order, with their last byte, and sees that both hosts have their queue pairs back. */
    void end() throws IOException, InterruptedException {
        client.tell("finish");
        int before = lost;
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (Report now = report(); now.open() + now.opening() > 0; now = report()) {
            Report last = now;
            assertTrue(System.nanoTime() - deadline < 0, () -> "connections do not come to their end: " + last);
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertEquals(before, lost, () -> "lost at the end: " + endings);
        besides.end();
        awaitNoQueuePairs();
    }

    /** As if its power failed; for good. */
    void resetFar() throws IOException {
        far.run("lab-reset");
        farGone = true;
    }

    boolean isFarGone() {
        return farGone;
    }

    // ---- what the hosts hold ----

    /** One of the device's own is left. */
    private void awaitNoQueuePairs() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (; ; ) {
            String here = Tool.run("rdma", "resource", "show"); // of lab-held what counts here: it is cheaper
            String there = far.run("rdma resource show");
            if (count(here, "qp") <= 1 && count(there, "qp") <= 1) {
                return;
            }
            if (System.nanoTime() - deadline >= 0) {
                fail("queue pairs are left: here " + here + ", there " + far.run("rdma resource show cm_id"));
            }
            TimeUnit.MILLISECONDS.sleep(300);
        }
    }

    /** What both hosts hold, when nothing is kept for connections to come any more. */
    Held held() throws IOException, InterruptedException {
        return held(clientPid);
    }

    /** The same, of another process here. */
    Held held(String pid) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (; ; ) {
            Held held = look(pid);
            if (held.isBare() || System.nanoTime() - deadline > 0) {
                return held;
            }
            TimeUnit.SECONDS.sleep(1);
        }
    }

    /** What both hosts hold now. */
    Held look(String pid) throws IOException {
        return new Held(
                Tool.run("lab-held", pid).strip(),
                far.run("lab-held " + serverPid).strip());
    }

    static int count(String held, String what) {
        Matcher found = Pattern.compile("\\b" + what + " (\\d+)").matcher(held);
        return found.find() ? Integer.parseInt(found.group(1)) : 0;
    }

    /** What lab-held says of the two hosts. */
    record Held(String here, String there) {

        boolean isBare() {
            return count(here, "mr") + count(there, "mr") == 0 && count(here, "qp") <= 1 && count(there, "qp") <= 1;
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
        if (!farGone) {
            far.stop();
        }
    }
}
