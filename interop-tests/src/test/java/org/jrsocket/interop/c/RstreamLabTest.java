/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * rdma-core's rstream against {@link RstreamPeer}. Transfers are few: the lab's processors are slow, and no number is
 * measured here.
 */
@Tag("lab")
@Tag("c")
@Tag("device")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class RstreamLabTest extends CPeerTests {

    /** C raises queues to 16. */
    private static final Map<String, Integer> SHORTEST =
            Map.of("sqsize_default", 1, "rqsize_default", 1, "inline_default", 0);

    @BeforeAll
    static void findRstream() {
        Lab.assumeProgram("rstream");
    }

    // ---- modes of the C side ----

    @ParameterizedTest(name = "rstream {0}")
    @CsvSource({"-T n", "-T b", "-T a", "-T a -T b", "-T r -T b", "-T r", "-k 1 -T b", "-i 0 -T b", "-i 512"})
    void shouldServeAnRstreamInEachOfItsModes(String options) throws Exception {
        cClient(Api.STREAM, false, options, "-I 3 -C 20 -S 20000 -T v");
    }

    @ParameterizedTest(name = "rstream {0}")
    @CsvSource({"-T n", "-T b", "-T a", "-T a -T b", "-T r -T b", "-T r", "-k 1 -T b", "-i 0 -T b", "-i 512"})
    void shouldBeServedByAnRstreamInEachOfItsModes(String options) throws Exception {
        cServer(Api.STREAM, false, options, "-I 3 -C 20 -S 20000 -T v");
    }

    // ---- modes of the Java side ----

    @ParameterizedTest
    @EnumSource(names = "STREAM", mode = EnumSource.Mode.EXCLUDE)
    void shouldServeAnRstreamByEachApi(Api api) throws Exception {
        cClient(api, false, "-T b", "-I 3 -C 20 -S 20000 -T v");
    }

    @ParameterizedTest
    @EnumSource(names = "STREAM", mode = EnumSource.Mode.EXCLUDE)
    void shouldBeServedByAnRstreamByEachApi(Api api) throws Exception {
        cServer(api, false, "-T b", "-I 3 -C 20 -S 20000 -T v");
    }

    // ---- addresses ----

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldServeAnRstreamOverIpv6(Api api) throws Exception {
        cClient(api, true, "-T b", "-I 1 -C 20 -S 20000 -T v");
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldBeServedByAnRstreamOverIpv6(Api api) throws Exception {
        cServer(api, true, "-T b", "-I 1 -C 20 -S 20000 -T v");
    }

    // ---- sizes: all of them one way, some the other: who connects makes no difference to what is sent then ----

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "-I 1 -C 2000 -S 16",
        "-I 200 -C 1 -S 64",
        "-I 1 -C 1000 -S 2047",
        "-I 20 -C 1 -S 65537",
        "-I 1 -C 20 -S 1000000",
        "-I 1 -C 2 -S 6291456"
    })
    void shouldServeAnRstreamTransfersOfEachSize(String sizes) throws Exception {
        cClient(Api.STREAM, false, "-T b", sizes + " -T v");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"-I 1 -C 2000 -S 16", "-I 20 -C 1 -S 65537", "-I 1 -C 2 -S 6291456"})
    void shouldBeServedByAnRstreamTransfersOfEachSize(String sizes) throws Exception {
        cServer(Api.STREAM, false, "-T b", sizes + " -T v");
    }

    // ---- small rings and queues on the C side ----

    @ParameterizedTest(name = "-B {0}")
    @CsvSource({"1, 200", "17, 1000", "64, 1000", "1000, 3000", "2048, 3000", "4096, 9000", "65536, 90000"})
    void shouldServeAnRstreamWithSmallBuffers(int size, int transfer) throws Exception {
        cClient(Api.STREAM, false, "-T b -B " + size, "-I 1 -C 10 -T v -S " + transfer);
    }

    @ParameterizedTest(name = "-B {0}")
    @CsvSource({"1, 200", "64, 1000", "4096, 9000"})
    void shouldBeServedByAnRstreamWithSmallBuffers(int size, int transfer) throws Exception {
        cServer(Api.STREAM, false, "-T b -B " + size, "-I 1 -C 10 -T v -S " + transfer);
    }

    @ParameterizedTest(name = "rstream {0}")
    @CsvSource({"-T b", "-T a"})
    void shouldServeAnRstreamWithTheShortestQueues(String mode) throws Exception {
        Lab.withSettings(SHORTEST, () -> {
            cClient(Api.STREAM, false, mode, "-I 2 -C 300 -S 100 -T v");
            cClient(Api.STREAM, false, mode, "-I 2 -C 10 -S 50000 -T v");
        });
    }

    @ParameterizedTest(name = "rstream {0}")
    @CsvSource({"-T b", "-T a"})
    void shouldBeServedByAnRstreamWithTheShortestQueues(String mode) throws Exception {
        Lab.withSettings(SHORTEST, () -> {
            cServer(Api.STREAM, false, mode, "-I 2 -C 300 -S 100 -T v");
            cServer(Api.STREAM, false, mode, "-I 2 -C 10 -S 50000 -T v");
        });
    }

    // ---- small rings on the Java side ----

    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"STREAM", "AGENT"})
    void shouldServeAnRstreamWithSmallBuffersOfItsOwn(Api api) throws Exception {
        java(api).bufferSize(4096);
        try {
            cClient(api, false, "-T b", "-I 1 -C 30 -S 30000 -T v");
            cServer(api, false, "-T b", "-I 1 -C 30 -S 30000 -T v");
        } finally {
            java(api).bufferSize(0);
        }
    }

    // ---- rstream's own latency and bandwidth tests, and short ones of the same form ----

    @ParameterizedTest(name = "{1} {0}")
    @CsvSource({
        "STREAM, -I 1000 -C 1 -S 64",
        "STREAM, -I 1 -C 1000 -S 64",
        "AGENT, -I 1000 -C 1 -S 64",
        "AGENT, -I 1 -C 1000 -S 64"
    })
    void shouldServeShortLatencyAndBandwidthTests(Api api, String sizes) throws Exception {
        cClient(api, false, "", sizes);
    }

    @ParameterizedTest(name = "{1} {0}")
    @CsvSource({
        "STREAM, -I 1000 -C 1 -S 64",
        "STREAM, -I 1 -C 1000 -S 64",
        "AGENT, -I 1000 -C 1 -S 64",
        "AGENT, -I 1 -C 1000 -S 64"
    })
    void shouldBeServedShortLatencyAndBandwidthTests(Api api, String sizes) throws Exception {
        cServer(api, false, "", sizes);
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    @Tag("long")
    void shouldServeTheWholeSuite(Api api) throws Exception {
        assumeSuite();
        cClient(api, false, "", "-T b");
    }

    @ParameterizedTest
    @EnumSource(names = {"STREAM", "AGENT"})
    @Tag("long")
    void shouldBeServedTheWholeSuite(Api api) throws Exception {
        assumeSuite();
        cServer(api, false, "", "-T b");
    }

    private static void assumeSuite() {
        assumeTrue(
                Boolean.getBoolean("jrsocket.rstream.suite"),
                "442,200 transfers take minutes here; -Djrsocket.rstream.suite=true runs them");
    }

    // ---- how ----

    private void cClient(Api api, boolean six, String cOptions, String options) throws Exception {
        JavaEnd java = java(api);
        int port = Lab.port();
        String peer = java.get(java.ask("rstream-listen", "-b", Lab.address(six), "-p", port, ours(options)));
        CompletableFuture<String> served = java.ask("rstream-run", peer);
        try (Program rstream = rstream("-s", Lab.address(six), port, cOptions, options)) {
            judge(rstream, java, served);
        }
    }

    private void cServer(Api api, boolean six, String cOptions, String options) throws Exception {
        JavaEnd java = java(api);
        int port = Lab.port();
        try (Program rstream = rstream("-b", Lab.address(six), port, cOptions, options)) {
            Lab.awaitListener(port, rstream);
            judge(rstream, java, java.ask("rstream", "-s", Lab.address(six), "-p", port, ours(options)));
        }
    }

    private static Program rstream(String role, String address, int port, String cOptions, String options)
            throws Exception {
        List<String> command =
                new ArrayList<>(List.of("stdbuf", "-oL", "rstream", role, address, "-p", Integer.toString(port)));
        command.addAll(words(cOptions));
        command.addAll(words(options));
        return Program.of(command).start();
    }

    private static String ours(String options) {
        return String.join(" ", words(options));
    }

    private static List<String> words(String options) {
        return options.isBlank() ? List.of() : List.of(options.strip().split(" +"));
    }

    private void judge(Program rstream, JavaEnd java, CompletableFuture<String> done) throws Exception {
        // A C program that fails says more than our end, which only sees it leave.
        Program.Result result = rstream.await(Lab.RUN).expectSuccess();
        String tests = java.get(done);
        assertTrue(tests.matches("tests=\\d+ bytes=\\d+"), tests);
        assertEquals(
                Integer.parseInt(tests.replaceFirst("tests=(\\d+) .*", "$1")),
                result.out().stream()
                        .filter(line -> line.contains("s ") && !line.startsWith("name"))
                        .count(),
                () -> "tests that rstream has completed:\n" + result);
        delivered.assertAtLeast(Long.parseLong(tests.replaceFirst(".*bytes=", "")));
    }
}
