/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Tool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients with time limits of their own and a host that drops RoCE; servers that are killed and started again. On host
 * b of {@code scripts/roce-lab hosts}, with {@link FarHost} on host a.
 */
@Tag("hosts")
class SilenceAndRestartBetweenHosts {

    private static final Duration LIMIT = Duration.ofMinutes(4);
    /** For what has to use RDMA, however slow the guest is. */
    private static final String PATIENT = "=connect.timeout=60s";

    /** After this an idle end says nothing any more: it has given memory back, and asked the peer's device once. */
    private static final Duration AT_REST = Duration.ofSeconds(20);

    /** Enough for a JVM that waits for nothing to be gone, and less than the kernel needs to speak again: 4.3 s. */
    private static final Duration CUT_AFTERWARDS = Duration.ofSeconds(2);

    private static final int WARM_MICROS = 100_000;

    private static FarEnd far;
    private int calls;

    @BeforeAll
    static void findFarEnd() throws Exception {
        Assumptions.assumeTrue(System.getenv("ROCE_LAB_PEER") != null, "needs two hosts (scripts/test hosts)");
        far = FarEnd.ofAllTests();
    }

    @AfterEach
    void stopServers() throws IOException {
        far.stop();
        far.run("lab-link clear");
    }

    /**
     * With the defaults, in a JVM that has loaded its classes: how long an emulated machine takes for that is not ours.
     */
    private static JvmProcess caller(String api, String agent) throws IOException {
        JvmProcess.Builder builder =
                switch (api) {
                    case "netty" -> {
                        Path target = Site.classes(Caller.class)
                                .resolve("../../frameworks/netty/target")
                                .normalize();
                        yield JvmProcess.withArguments("org.jrsocket.interop.frameworks.netty.TimedConnects")
                                .classPath(target.resolve("classes"), target.resolve("libraries/*"))
                                .arguments(System.getenv("ROCE_LAB_ADDR"));
                    }
                    default -> JvmProcess.running(Caller.class).arguments(api, System.getenv("ROCE_LAB_ADDR"));
                };
        return builder.listening().agent(agent).start();
    }

    /** @return how it ended, after {@code call=N } */
    private String call(JvmProcess caller, String line) throws IOException, InterruptedException {
        caller.tell(line);
        Matcher answer = caller.awaitLine(Pattern.compile("^call=" + ++calls + " (.*)$"), LIMIT);
        return answer.group(1);
    }

    /**
     * Lets it call itself until that takes no longer than it has to: how long a slow machine needs to load classes is
     * not ours.
     */
    private void warm(JvmProcess caller) throws IOException, InterruptedException {
        for (int i = 0; i < 30; i++) {
            String outcome = call(caller, "self 0 0 1");
            if (Integer.parseInt(outcome.replaceFirst("^try=1 micros=", "")) < WARM_MICROS) {
                return;
            }
        }
    }

    /** Each limit is that of the first connection to a host of which nothing is known. */
    @ParameterizedTest
    @ValueSource(strings = {"socket", "selector", "http", "netty"})
    void shouldReachAServerOnASilentHostWhateverItsTimeLimit(String api) throws Exception {
        try (JvmProcess caller = caller(api, "")) {
            int port = serve(api);
            far.run("lab-link no-roce");
            warm(caller);
            for (int millis : new int[] {3000, 1000, 200}) {
                assertTrue(call(caller, "forget").startsWith("forgotten="));
                // With 200 ms at the first try, if the emulated machine is fast enough.
                int tries = millis == 200 ? 10 : 3;
                String outcome = call(caller, far.address() + ' ' + port + ' ' + millis + ' ' + tries);
                System.out.println(api + ", a limit of " + millis + " ms: " + outcome);
                assertTrue(outcome.startsWith(millis == 200 ? "try=" : "try=1 "), outcome);
            }
        }
    }

    /** While the caller starts, which takes an emulated machine as long. */
    private static int serve(String api) throws IOException {
        return api.equals("http") ? far.serve(WebServer.class, true, 0) : far.serve(true, 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"socket", "channel", "selector"})
    void shouldUseRdmaWithTheNextConnectionToAServerThatWasKilledAndStartedAgain(String api) throws Exception {
        try (JvmProcess caller = caller(api, PATIENT)) {
            int port = far.serve(true, 0);
            String line = far.address() + ' ' + port + " 0 1";
            assertTrue(call(caller, line).startsWith("try=1 "));
            far.stop();
            for (int i = 0; i < 3; i++) {
                String outcome = call(caller, line);
                assertTrue(outcome.startsWith("failed=java.net.ConnectException: Connection refused"), outcome);
            }
            far.serve(true, port);
            assertTrue(call(caller, line).startsWith("try=1 "));
            caller.tellNoMore();
            JvmProcess.Result result = caller.await(LIMIT).expectSuccess();
            assertEquals("2", result.value("rdma"), result::toString);
            assertEquals("3", result.value("chosen.REFUSED"), result::toString);
        }
    }

    /** What a connection does not survive. */
    private enum Cut {
        PATH("the peer's device does not answer") {
            @Override
            void begin() throws IOException {
                far.run("lab-link no-roce");
            }

            @Override
            void end() throws IOException {
                far.run("lab-link clear");
            }
        },
        OWN_LINK("this host's device could not send") {
            @Override
            void begin() {
                Tool.run("lab-link", "down");
            }

            @Override
            void end() {
                Tool.run("lab-link", "up");
            }
        };

        final String reason;

        Cut(String reason) {
            this.reason = reason;
        }

        abstract void begin() throws IOException;

        abstract void end() throws IOException;
    }

    /**
     * To a server that only waits nothing has happened. Over TCP its kernel gets the FIN once the path is back, also
     * when the client's process is gone by then.
     */
    @Test
    void shouldEndTheConnectionOfAServerThatOnlyWaitsOnceItCanBeTold() throws Exception {
        int port = far.serve(true, 0);
        List<JvmProcess> clients = new ArrayList<>();
        try {
            for (int i = 0; i < Cut.values().length; i++) {
                clients.add(JvmProcess.running(LosingClient.class)
                        .arguments(far.address(), Integer.toString(port))
                        .listening()
                        .agent(PATIENT)
                        .start());
            }
            for (JvmProcess client : clients) {
                client.awaitLine(Pattern.compile("^connected$"), LIMIT);
            }
            TimeUnit.NANOSECONDS.sleep(AT_REST.toNanos());
            assertEquals(clients.size(), connectionsThere());
            for (Cut cut : Cut.values()) {
                lose(cut, clients.get(cut.ordinal()), clients.size() - 1 - cut.ordinal());
            }
        } finally {
            clients.forEach(JvmProcess::close);
        }
        try (JvmProcess caller = caller("socket", PATIENT)) {
            assertTrue(call(caller, far.address() + ' ' + port + " 0 1").startsWith("try=1 "));
            caller.tellNoMore();
            JvmProcess.Result result = caller.await(LIMIT).expectSuccess();
            assertEquals("1", result.value("rdma"), result::toString);
        }
    }

    /** The client ends at once, in vain if it does not wait; {@code rest} connections stay. */
    private static void lose(Cut cut, JvmProcess client, int rest) throws Exception {
        cut.begin();
        try {
            client.tell("go on");
            String failed =
                    client.awaitLine(Pattern.compile("^failed=(.*)$"), LIMIT).group(1);
            assertTrue(failed.contains(cut.reason), failed);
            client.endsWithin(CUT_AFTERWARDS);
        } finally {
            cut.end();
        }
        long start = System.nanoTime();
        while (connectionsThere() > rest) {
            assertTrue(System.nanoTime() - start < LIMIT.toNanos(), cut + ": the server keeps its connection");
            TimeUnit.MILLISECONDS.sleep(500);
        }
        System.out.printf("%s: the server knew after %.1f s%n", cut, (System.nanoTime() - start) / 1e9);
    }

    /** Queue pairs of connections. */
    private static long connectionsThere() throws IOException {
        return Pattern.compile("type RC")
                .matcher(far.run("rdma resource show qp"))
                .results()
                .count();
    }

    @Test
    void shouldLearnFromALateAnswerThatAHostSpeaksRdma() throws Exception {
        // No peer here answers as fast as that.
        try (JvmProcess caller = caller("socket", "=log=debug,connect.timeout=1ms")) {
            int port = far.serve(true, 0);
            String address = Pattern.quote(far.address());
            Pattern rdma = Pattern.compile("connected to /" + address + ".* over RDMA, device rxe0");
            boolean[] found = new boolean[1];
            Thread watch = new Thread(() -> {
                try {
                    caller.awaitError(rdma, LIMIT);
                    found[0] = true;
                } catch (InterruptedException | AssertionError e) {
                    // said below
                }
            });
            watch.start();
            while (watch.isAlive()) {
                assertTrue(call(caller, far.address() + ' ' + port + " 0 1").startsWith("try=1 "));
                watch.join(200);
            }
            assertTrue(found[0]);
        }
    }
}
