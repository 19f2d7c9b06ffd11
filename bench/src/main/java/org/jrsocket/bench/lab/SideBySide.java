/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The driver, in the guest: {@code SideBySide FOLDER REPETITIONS QUICK ONLY PATIENCE}. Prepares every column, then
 * measures all of them in turn, row by row, again and again, so that whatever else disturbs the machine disturbs all
 * alike. FOLDER has the jars, {@code cm} and {@code rsock}, and takes the results.
 */
public final class SideBySide {

    /** For all JVMs alike. IPv4 only, because librspreload cannot map a dual-stack socket's address. */
    private static final List<String> JVM_FLAGS = jvmFlags();

    private static final String PRELOAD = "/usr/lib/"
            + System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu/rsocket/librspreload.so";
    /** Where librspreload looks for its defaults: a file for each. */
    private static final Path RSOCKET = Path.of("/etc/rdma/rsocket");

    private static final int WARM_UPS = 6;
    /**
     * Samples taken again for one that was disturbed: on a host that never rests, the first must not use up everybody's
     * patience.
     */
    private static final int AGAIN = 3;

    private final Path folder;
    private final int repetitions;
    private final boolean quick;
    private final String address = System.getenv().getOrDefault("ROCE_LAB_ADDR", "10.77.0.1");
    private final boolean brief;
    private final List<Column> columns;
    private final List<Row> rows;
    private final Host host;
    private final Results results = new Results();
    /** For pairs that live only for a sample. */
    private int freshPort = 21_000;

    private static List<String> jvmFlags() {
        List<String> flags = new ArrayList<>(List.of(
                "-XX:+UseSerialGC",
                "-Xms192m",
                "-Xmx192m",
                "-XX:-UsePerfData",
                "-Xshare:auto",
                "-Djava.net.preferIPv4Stack=true"));
        String more = System.getProperty("jrsocket.bench.jvm", "").strip();
        if (!more.isEmpty()) {
            flags.addAll(List.of(more.split(" +")));
        }
        return List.copyOf(flags);
    }

    private SideBySide(String[] args) throws IOException {
        folder = Path.of(args[0]);
        repetitions = Integer.parseInt(args[1]);
        quick = Boolean.parseBoolean(args[2]);
        List<String> named = args[3].isEmpty() ? List.of() : List.of(args[3].split(","));
        host = new Host(folder, Integer.parseInt(args[4]));
        List<Question> questions = chosen(List.of(Question.values()), Question::id, named, List.of());
        brief = !questions.isEmpty();
        rows = chosen(List.of(Row.values()), Row::id, named, brief ? Question.rows(questions) : Row.USUAL);
        List<Column> all = columns();
        columns = chosen(
                all,
                Column::id,
                named,
                all.stream()
                        .filter(column -> brief
                                ? Question.columns(questions).contains(column.id())
                                : !NettyColumns.IDS.contains(column.id()))
                        .toList());
        columns.removeIf(column -> rows.stream().noneMatch(column::has));
        tunePreload();
    }

    /** By itself it polls for 10 us, too short for a round trip here, and has 128 KiB for data each way. */
    private void tunePreload() throws IOException {
        Files.createDirectories(RSOCKET);
        Files.writeString(RSOCKET.resolve("polling_time"), "200\n");
        if (rows.stream().anyMatch(Row::isStream)) { // all is registered when a connection is made, which takes time
            for (String size : List.of("mem_default", "wmem_default")) {
                Files.writeString(RSOCKET.resolve(size), (1 << 20) + "\n");
            }
        }
    }

    /** Those that ONLY names; {@code others}, if it names none of this kind. */
    private static <T> List<T> chosen(List<T> all, Function<T, String> id, List<String> only, List<T> others) {
        List<T> named =
                all.stream().filter(item -> only.contains(id.apply(item))).toList();
        return new ArrayList<>(named.isEmpty() ? others : named);
    }

    /** Those of them that are measured this time: nothing else is warmed up either. */
    private Set<Row> amongRows(Set<Row> some) {
        Set<Row> among = EnumSet.copyOf(some);
        among.retainAll(rows);
        return among;
    }

    private List<Column> columns() {
        Set<Row> every = amongRows(EnumSet.allOf(Row.class));
        Set<Row> exchanges = amongRows(EnumSet.complementOf(EnumSet.of(Row.IDLE, Row.TOUCH, Row.COLD_64)));
        Set<Row> warm = amongRows(EnumSet.complementOf(EnumSet.of(Row.COLD_64)));
        PairColumn.Shared stream = jvm("stream", "stream", 20_010, List.of(), Map.of());
        List<Column> all = new ArrayList<>();
        all.add(new PerftestColumn("send", false, address, folder, every));
        all.add(new PerftestColumn("send", true, address, folder, every));
        all.add(new PerftestColumn("write", false, address, folder, every));
        all.add(new PairColumn(
                "cm", "verbs cm", true, "sleep", program("cm", 20_000), amongRows(EnumSet.of(Row.TOUCH))));
        for (boolean copies : new boolean[] {true, false}) {
            all.add(new PairColumn(
                    copies ? "verbs-stream" : "verbs-lend",
                    copies ? "verbs stream" : "verbs lend",
                    true,
                    "spin",
                    program("bulk", copies ? 20_200 : 20_210, copies ? "copy" : "lend"),
                    amongRows(EnumSet.of(Row.BW_64K, Row.BW_1M))));
        }
        all.add(new RstreamColumn(address, folder, every));
        all.add(new PairColumn("rsock", "C rsocket", true, "spin", program("rsock", 20_020), warm));
        all.add(new PairColumn("tcp", "TCP", false, "sleep", jvm("tcp", "net", 20_030, List.of(), Map.of()), every));
        all.add(new PairColumn("spin", "stream spin", true, "spin", stream, exchanges));
        all.add(new PairColumn("stream", "stream", true, "sleep", stream, every));
        all.add(new PairColumn(
                "lend",
                "stream lend",
                true,
                "sleep",
                jvm("lend", "lend", 20_220, List.of(), Map.of()),
                amongRows(EnumSet.of(Row.BW_64K, Row.BW_1M))));
        all.add(new PairColumn(
                "net",
                "java.net",
                true,
                "sleep",
                jvm(
                        "agent",
                        "net",
                        20_040,
                        List.of("-javaagent:" + folder.resolve("rsocket.jar") + "=connect.timeout=60s"),
                        Map.of()),
                every));
        int port = 20_060;
        for (String api : List.of("channel", "selector", "aio")) {
            all.add(new PairColumn(
                    "tcp-" + api,
                    "TCP " + api,
                    false,
                    "sleep",
                    jvm("tcp-" + api, api, port, List.of(), Map.of()),
                    every));
            all.add(new PairColumn(
                    api,
                    api,
                    true,
                    "sleep",
                    jvm(
                            api,
                            api,
                            port + 10,
                            List.of("-javaagent:" + folder.resolve("rsocket.jar") + "=connect.timeout=60s"),
                            Map.of()),
                    every));
            port += 20;
        }
        all.add(new PairColumn(
                "preload",
                "preload",
                true,
                "sleep",
                jvm("preload", "net", 20_050, List.of(), Map.of("LD_PRELOAD", PRELOAD)),
                every));
        all.add(new PairColumn(
                "preload-channel",
                "preload ch.",
                true,
                "sleep",
                jvm("preload-channel", "channel", 20_130, List.of(), Map.of("LD_PRELOAD", PRELOAD)),
                every));
        all.addAll(NettyColumns.of(folder.resolve("rsocket.jar"), this::jvm, this::amongRows));
        return all;
    }

    /** One of the C programs that take the same commands as the JVMs. */
    private PairColumn.Shared program(String name, int port, String... more) {
        String where = Integer.toString(port);
        return new PairColumn.Shared(again -> new Pair(
                List.of(folder.resolve(name).toString()),
                arguments("server", where, more),
                arguments("client", where, more),
                Map.of(),
                folder.resolve(name + ".log")));
    }

    private List<String> arguments(String side, String port, String... more) {
        List<String> arguments = new ArrayList<>(List.of(side, address, port));
        arguments.addAll(List.of(more));
        return arguments;
    }

    private PairColumn.Shared jvm(
            String name, String carrier, int port, List<String> flags, Map<String, String> environment) {
        return jvm(
                name,
                port,
                flags,
                environment,
                List.of(Server.class.getName(), carrier),
                List.of(Client.class.getName(), carrier));
    }

    /** Programs that get the address and a port behind their arguments. */
    private PairColumn.Shared jvm(
            String name,
            int port,
            List<String> flags,
            Map<String, String> environment,
            List<String> server,
            List<String> client) {
        List<String> program = new ArrayList<>();
        program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        program.addAll(JVM_FLAGS);
        program.addAll(flags);
        program.add("-cp");
        program.add(folder.resolve("benchmarks.jar").toString());
        return new PairColumn.Shared(again -> {
            String where = Integer.toString(again ? freshPort += 2 : port);
            return new Pair(
                    program,
                    Stream.concat(server.stream(), Stream.of(address, where)).toList(),
                    Stream.concat(client.stream(), Stream.of(address, where)).toList(),
                    environment,
                    folder.resolve(name + (again ? "-again.log" : ".log")));
        });
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        new SideBySide(args).run();
        System.exit(0);
    }

    private void run() throws IOException, InterruptedException {
        List<String> facts = new ArrayList<>(Machine.facts());
        facts.add("flags of all JVMs: " + String.join(" ", JVM_FLAGS));
        facts.add(repetitions + " repetitions, interleaved; medians" + (quick ? "; quick, short samples" : ""));
        facts.forEach(System.out::println);
        prepare(facts);
        for (int i = 1; i <= repetitions; i++) {
            System.out.printf("repetition %d of %d%n", i, repetitions);
            for (Row row : rows) {
                if (row == Row.IDLE) {
                    measureTogether(i, row);
                } else {
                    for (Column column : columns) {
                        measure(i, row, column);
                    }
                }
            }
            Collections.rotate(columns, 1); // nobody always comes after the same neighbour
        }
        Collections.rotate(columns, -repetitions);
        Report report = new Report(facts, columns, rows, results);
        report.print(System.out);
        report.writeCsv(folder.resolve("results.csv"));
        report.writeJson(folder.resolve("results.json"));
        columns.forEach(Column::close);
    }

    /**
     * Under TCG a JVM that replaces compiled methods crashes now and then, mostly while it warms up: its column begins
     * again.
     */
    private String warmUp(Column column) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return "warm-up of " + column.id() + ": " + column.prepare(quick);
            } catch (IOException e) {
                column.close();
                if (attempt == WARM_UPS) {
                    throw e;
                }
                System.out.println("warm-up of " + column.id() + " begins again: " + e.getMessage());
            }
        }
    }

    private void prepare(List<String> facts) {
        for (Column column : List.copyOf(columns)) {
            String fact;
            try {
                if (brief && column instanceof PairColumn pair) {
                    pair.brief();
                }
                Proof before = Proof.now();
                fact = warmUp(column);
                Proof moved = Proof.now().since(before);
                // else nothing has moved yet
                boolean warmed = rows.stream().anyMatch(row -> row != Row.IDLE && !row.isCold() && column.has(row));
                if (warmed && column instanceof PairColumn && column.isRdma() != moved.packets() > 100) {
                    fact = "left out: " + column.id() + ": the RDMA device sent " + moved.packets() + " packets, IP "
                            + moved.ipBytes() + " bytes";
                    columns.remove(column);
                    column.close();
                }
            } catch (IOException | RuntimeException e) {
                fact = "left out: " + column.id() + ": " + e.getMessage();
                columns.remove(column);
                column.close();
            }
            System.out.println(fact);
            facts.add(fact);
        }
    }

    /** Waiting readers disturb nobody if they do as they should, so all wait at the same time. */
    private void measureTogether(int repetition, Row row) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Column column : columns) {
            Thread thread = new Thread(() -> measure(repetition, row, column));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void measure(int repetition, Row row, Column column) {
        if (!column.has(row)) {
            return;
        }
        long start = System.nanoTime();
        for (int again = 0;
                measureOnce(repetition, row, column) && again < AGAIN && host.isPatient(System.nanoTime() - start);
                again++) {
            start = System.nanoTime();
        }
    }

    /** Whether something else on the host disturbed it. */
    private boolean measureOnce(int repetition, Row row, Column column) {
        Map<String, Double> values = new HashMap<>();
        Proof moved = new Proof(0, 0);
        String doubt;
        boolean stalled = false;
        Host.SampleWatch watch = host.new SampleWatch();
        Spinners spinners = row.isContended() ? Spinners.onAllCpus() : Spinners.NONE;
        try {
            Proof before = Proof.now();
            Column.Sample sample = column.measure(row, quick, watch);
            moved = Proof.now().since(before);
            values.putAll(sample.values());
            stalled = sample.stalled();
            doubt = moved.doubt(row, sample.operations(), column.isRdma());
        } catch (IOException | RuntimeException e) {
            doubt = e.getMessage();
        } finally {
            watch.end();
            spinners.close();
        }
        double disturbed = watch.missed();
        for (String key : row.kind.keys) {
            Double value = values.get(key);
            if (value != null || doubt != null) {
                results.add(new Results.Entry(
                        repetition,
                        row,
                        key,
                        column.id(),
                        value == null ? Double.NaN : value,
                        moved,
                        disturbed,
                        doubt,
                        stalled));
            }
        }
        System.out.printf(
                "  %-14s %-12s %s%s%s%s%n",
                row.id(),
                column.id(),
                values,
                disturbed > Host.QUIET ? " disturbed: " + Report.number(disturbed) : "",
                stalled ? "  STOOD STILL" : "",
                doubt == null ? "" : "  DOES NOT COUNT: " + doubt);
        return disturbed > Host.QUIET && doubt == null;
    }
}
