/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Tool;

/**
 * H2, gRPC and Kafka under the agent, beside the traffic of {@link TwoHosts}: servers on the far host, and one client
 * at a time on this one.
 */
final class Applications {

    /** For all servers to start, in an emulated machine. */
    private static final Duration START = Duration.ofMinutes(5);

    /** For a client that meets a fault, from its first bytes on: it may try for longer. */
    private static final Duration BESIDE = Duration.ofSeconds(60);

    /** For one that meets none, with its start. */
    private static final Duration UNDISTURBED = Duration.ofMinutes(3);

    private static final int CONNECT_MILLIS = 20_000;

    private static final Pattern VERIFIED = Pattern.compile("^verified=");

    /** In what a client prints whose connection fails, and only then. */
    private static final Pattern OF_A_CONNECTION =
            Pattern.compile("IOException|EOFException|SocketException|ConnectException|NoRouteToHostException"
                    + "|ClosedChannelException|TimeoutException|DisconnectException|UNAVAILABLE"
                    + "|Connection is broken");

    private final TwoHosts hosts;
    private final Path folder = Path.of(System.getenv("ROCE_LAB_SCRATCH"));
    private final List<Application> all;
    private final Map<String, String> pids = new TreeMap<>(); // of servers, by name
    private final Map<String, Integer> rounds = new TreeMap<>();
    private int started;
    private int disturbed;
    private long bytes;

    /** Starts the servers. */
    Applications(TwoHosts hosts) throws IOException, InterruptedException {
        this.hosts = hosts;
        String at = hosts.far().address();
        Path settings = folder.resolve("server.properties");
        Application kafka = Application.kafka(at, settings);
        all = List.of(Application.h2(at), Application.grpc(at), kafka);
        hosts.far()
                .run(kafka.command(
                        "kafka.tools.StorageTool format --standalone -t x5gYtwJrSNyHfrGXiHl20A -c " + settings));
        restore();
    }

    // ---- servers ----

    /** Starts those that are gone, on their ports. Returns their names. */
    private List<String> restore() throws IOException, InterruptedException {
        List<String> gone = new ArrayList<>();
        for (Application each : all) {
            if (!answers(each)) {
                gone.add(each.name());
                // not by FarEnd.start: what it starts ends with the server of the traffic, when that is to end
                pids.put(each.name(), hosts.far().run("lab-serve " + log(each) + ' ' + each.serverCommand()));
                System.out.println(each.name() + " is process " + pids.get(each.name()) + " there");
            }
        }
        long deadline = System.nanoTime() + START.toNanos();
        for (Application each : all) {
            while (!answers(each)) {
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError(each.name() + " does not answer: " + said(each));
                }
                TimeUnit.SECONDS.sleep(1);
            }
            if (gone.contains(each.name())) {
                collect(each);
            }
        }
        return gone;
    }

    /**
     * H2 does not close a socket whose last flush fails (Transfer.close), as it does after a reset. The collector
     * closes them, when it runs.
     */
    private void collect(Application server) throws IOException {
        if (server.name().equals("H2")) {
            hosts.far().run(Path.of(System.getProperty("java.home"), "bin", "jcmd") + " " + pids.get("H2") + " GC.run");
        }
    }

    /**
     * A server that reads, and asks for no keep-alive, keeps its end of a connection whose client went without a word:
     * over TCP too. All are to be given back after a round, so a server whose client met the fault goes with it.
     */
    private void kill(Application server) throws IOException {
        hosts.far().run("lab-kill " + pids.get(server.name()));
    }

    /**
     * The clocks were an hour ahead for a moment. What Kafka's controller had put off until a time within that hour
     * waits for it to come, and requests time out until then: in a plain JVM over TCP too. So it goes.
     */
    void clocksJumped() throws IOException {
        for (Application each : all) {
            if (each.name().equals("Kafka")) {
                kill(each);
            }
        }
    }

    /** Over TCP: this JVM has no agent. */
    private boolean answers(Application server) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(hosts.far().address(), server.port()), CONNECT_MILLIS);
            return true;
        } catch (ConnectException e) {
            return false;
        }
    }

    private Path log(Application server) {
        return folder.resolve(server.name() + ".log");
    }

    /** What a server has printed, and its threads. */
    private String said(Application server) throws IOException, InterruptedException {
        try {
            hosts.far().run("kill -QUIT " + pids.get(server.name()));
            TimeUnit.SECONDS.sleep(3);
        } catch (AssertionError e) {
            System.out.println(server.name() + " is gone: " + e.getMessage());
        }
        return hosts.far().run("tail -n 300 " + log(server)).replace("; ", "\n");
    }

    // ---- clients ----

    /**
     * Starts a client of the next application, and returns when it has verified something.
     *
     * @param addressGoes whether the client's host is about to lose its address: a server that reads is never told of a
     *     connection that was given up for that (docs/reliability.md), so it goes too
     */
    Work begin(boolean addressGoes) throws IOException, InterruptedException {
        Application application = all.get(started++ % all.size());
        rounds.merge(application.name(), 1, Integer::sum);
        return new Work(application, addressGoes);
    }

    private JvmProcess start(Application application) throws IOException, InterruptedException {
        JvmProcess client = application.startClient();
        try {
            client.awaitLine(VERIFIED, UNDISTURBED);
            return client;
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\nthe server: " + said(application), e);
        }
    }

    /** A queue pair is told with the number of the thread that made it. */
    private static String overRdma(JvmProcess client) {
        Path threads = Path.of("/proc", Long.toString(client.pid()), "task");
        return Pattern.compile("\\bpid (\\d+)")
                        .matcher(Tool.run("rdma", "resource", "show", "qp"))
                        .results()
                        .filter(found -> Files.exists(threads.resolve(found.group(1))))
                        .count()
                + " connections over RDMA, ";
    }

    private String verified(JvmProcess.Result result) {
        if (result.toString().contains("ALTERED")) {
            throw new AssertionError(result.toString());
        }
        long verified =
                result.values("verified").mapToLong(Long::parseLong).max().orElse(0);
        bytes += verified;
        return verified + " bytes verified";
    }

    /** What an application does in one round. */
    final class Work {

        private final Application application;
        private final JvmProcess first;
        private final long began;
        private final String connections;
        private final boolean addressGoes;
        private String told = "";

        private Work(Application application, boolean addressGoes) throws IOException, InterruptedException {
            this.application = application;
            this.addressGoes = addressGoes;
            first = start(application);
            began = System.nanoTime();
            connections = overRdma(first);
        }

        /** Sees the client that meets the fault end, with an error perhaps, or ends it when it has tried for long. */
        void end() throws IOException, InterruptedException {
            if (!told.isEmpty()) {
                return;
            }
            boolean ended = first.endsWithin(Duration.ofNanos(began + BESIDE.toNanos() - System.nanoTime()));
            JvmProcess.Result result = first.stop();
            told = application.name() + ": " + connections + verified(result);
            if (ended && result.status() == 0) {
                if (addressGoes) {
                    kill(application);
                } else {
                    collect(application);
                }
                return;
            }
            told += ended ? ", then " + cause(result) : ", killed after " + BESIDE.toSeconds() + " s";
            disturbed++;
            kill(application);
        }

        private static String cause(JvmProcess.Result failed) {
            return failed.err().stream()
                    .filter(line -> !line.startsWith("\tat ")
                            && OF_A_CONNECTION.matcher(line).find())
                    .reduce((before, last) -> last)
                    .orElseThrow(() -> new AssertionError("not the connection's failure: " + failed))
                    .replace("Exception in thread \"main\" ", "")
                    .strip();
        }

        /** Sees another client succeed, now that the fault is over. Returns what both did. */
        String again() throws IOException, InterruptedException {
            end();
            List<String> restored = restore();
            long start = System.nanoTime();
            JvmProcess second = start(application);
            String over = overRdma(second);
            try {
                JvmProcess.Result result = second.await(UNDISTURBED.minusNanos(System.nanoTime() - start));
                String verified = verified(result.expectSuccess());
                return told + "; afterwards " + over + verified
                        + (restored.isEmpty() ? "" : "; started again: " + String.join(", ", restored));
            } catch (AssertionError e) {
                throw new AssertionError(
                        e.getMessage() + "\nbefore: " + told + "\nthe server: " + said(application), e);
            }
        }
    }

    /** What all of them did. */
    String summary() {
        return "rounds of applications " + rounds + "; " + bytes + " bytes verified; " + disturbed
                + " clients did not live through their fault";
    }
}
