/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrsocket.HopelessError;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Names in rules that cannot be looked up when the rules are read. */
@Timeout(60)
class LateNamesTest {

    /** Runs tasks when the test says so. */
    private static final class Steps implements LateNames.Background {
        private final List<Long> pauses = new ArrayList<>();
        private Runnable next;
        private boolean ended;
        private int refusals;

        @Override
        public void after(long nanos, Runnable task) {
            if (refusals-- > 0) {
                throw new OutOfMemoryError("as the test wants");
            }
            if (!ended) {
                assertNull(next, "one at a time");
                pauses.add(TimeUnit.NANOSECONDS.toSeconds(nanos));
                next = task;
            }
        }

        @Override
        public void end() {
            ended = true;
            next = null;
        }

        void step() {
            Runnable task = next;
            next = null;
            task.run();
        }
    }

    private final Map<String, String> known = new HashMap<>(); // the name server
    private final List<String> asked = new ArrayList<>();
    private final List<Steps> begun = new ArrayList<>();
    private final TransportHolder holder = TransportHolder.unavailable(
            new VerbsUnavailableException(VerbsUnavailableException.Reason.NO_DEVICE, "none", null));
    private Error trouble; // of the name server
    private Runnable meanwhile = () -> {}; // while a name is looked up

    private InetAddress[] lookUp(String name) throws UnknownHostException {
        asked.add(name);
        meanwhile.run();
        if (trouble != null) {
            throw trouble;
        }
        if (!known.containsKey(name)) {
            throw new UnknownHostException(name);
        }
        return InetAddress.getAllByName(known.get(name));
    }

    private Rules rules(String... lines) throws ConfigurationException {
        return RulesFile.parse("sdp.conf", Arrays.asList(lines), Rules.NONE, this::lookUp);
    }

    private LateNames.Background begin() {
        begun.add(new Steps());
        return begun.get(begun.size() - 1);
    }

    private TransportContext context(String... lines) throws Exception {
        Settings settings = Settings.read("policy=auto", new Properties(), Map.of());
        return new TransportContext(settings, rules(lines), holder, this::begin);
    }

    private Steps steps() {
        assertEquals(1, begun.size());
        return begun.get(0);
    }

    private static Policy policy(TransportContext context, String address, int port) throws UnknownHostException {
        return context.policy(Rules.Action.CONNECT, new InetSocketAddress(InetAddress.getByName(address), port));
    }

    @Test
    void shouldNeedNothingWhereAllNamesAreKnown() throws Exception {
        known.put("db.example", "192.0.2.7");
        TransportContext context = context("connect db.example 5432 rdma", "connect * * tcp");
        context.use(Rules.NONE);
        assertEquals(List.of(), begun);
    }

    @Test
    void shouldApplyARuleOnceItsNameCanBeLookedUp() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma", "connect db.example 80 tcp");
        assertEquals(Policy.AUTO, policy(context, "192.0.2.7", 5432));
        assertEquals(Policy.TCP, policy(context, "192.0.2.8", 80));
        steps().step();
        assertEquals(Policy.AUTO, policy(context, "192.0.2.7", 5432));
        known.put("db.example", "192.0.2.7");
        steps().step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.7", 5432));
        assertEquals(Policy.AUTO, policy(context, "192.0.2.8", 80));
        assertEquals(Policy.TCP, policy(context, "192.0.2.7", 80));
        assertTrue(steps().ended, "nothing is left to be looked up");
        assertEquals(List.of("db.example", "db.example", "db.example", "db.example"), asked, "two of them at first");
    }

    @Test
    void shouldSayOnceForEachLineThatItsNameCanBeLookedUp() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma", "accept * *", "accept db.example * tcp");
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            steps().step();
            known.put("db.example", "192.0.2.7");
            steps().step();
        } finally {
            System.setErr(before);
        }
        String[] lines = said.toString(StandardCharsets.UTF_8).split("\n");
        String text =
                "INFO org.jrsocket.connect.Rules - sdp.conf line %d: db.example can be looked up now, so this line"
                        + " applies to 192.0.2.7";
        assertEquals(2, lines.length, () -> Arrays.toString(lines));
        assertTrue(lines[0].endsWith(text.formatted(1)), lines[0]);
        assertTrue(lines[1].endsWith(text.formatted(3)), lines[1]);
        assertEquals("3 rules", context.rules().toString());
    }

    @Test
    void shouldLookUpMoreAndMoreSeldom() throws Exception {
        assertEquals(Policy.AUTO, policy(context("connect db.example 5432 rdma"), "192.0.2.7", 5432));
        for (int i = 0; i < 6; i++) {
            steps().step();
        }
        assertEquals(List.of(5L, 10L, 20L, 40L, 60L, 60L, 60L), steps().pauses);
        assertFalse(steps().ended);
    }

    /** The name server of one domain may be away for longer than that of another. */
    @Test
    void shouldGoOnForTheNamesThatAreLeft() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma", "connect web.test 80 rdma");
        known.put("web.test", "192.0.2.9");
        steps().step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.9", 80));
        assertEquals(Policy.AUTO, policy(context, "192.0.2.7", 5432));
        asked.clear();
        known.put("db.example", "192.0.2.7");
        steps().step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.7", 5432));
        assertEquals(Policy.RDMA, policy(context, "192.0.2.9", 80));
        assertEquals(List.of("db.example"), asked, "what is known is not looked up");
        assertTrue(steps().ended);
    }

    /** A resolver may be the application's, since JDK 18. */
    @Test
    void shouldGoOnWhateverIsWrong() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma");
        for (Error each : List.of(new OutOfMemoryError("as the test wants"), new NoClassDefFoundError("none"))) {
            trouble = each;
            steps().step();
        }
        trouble = null;
        meanwhile = () -> {
            throw new SecurityException("not you");
        };
        steps().step();
        meanwhile = () -> {};
        steps().refusals = 1;
        HopelessError.ensureNone(steps()::step);
        known.put("db.example", "192.0.2.7");
        steps().step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.7", 5432));
    }

    @Test
    void shouldEndWhenTheRulesAreReplaced(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), "connect 192.0.2.0/24 * tcp\n");
        Settings settings = Settings.read("policy=auto,rules=" + file, new Properties(), Map.of());
        TransportContext context =
                new TransportContext(settings, rules("connect db.example 5432 rdma"), holder, this::begin);
        assertFalse(steps().ended);
        context.reloadRules();
        assertTrue(steps().ended);
    }

    @Test
    void shouldGoOnWithTheRulesThatStayWhenOthersCannotBeRead(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), "connect 192.0.2.0/24 * fast\n");
        Settings settings = Settings.read("policy=auto,rules=" + file, new Properties(), Map.of());
        TransportContext context =
                new TransportContext(settings, rules("connect db.example 5432 rdma"), holder, this::begin);
        assertEquals(
                "not one of auto, rdma, tcp",
                assertThrows(ConfigurationException.class, context::reloadRules)
                        .getMessage()
                        .replaceAll(".* line 1: ([^:]*):.*", "$1"));
        known.put("db.example", "192.0.2.7");
        steps().step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.7", 5432));
    }

    @Test
    void shouldBeginAnewWithNewRules() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma");
        steps().step();
        context.use(rules("connect web.test 80 rdma"));
        assertEquals(2, begun.size());
        assertTrue(begun.get(0).ended);
        assertEquals(List.of(5L), begun.get(1).pauses);
        known.put("web.test", "192.0.2.9");
        begun.get(1).step();
        assertEquals(Policy.RDMA, policy(context, "192.0.2.9", 80));
        assertTrue(begun.get(1).ended);
    }

    @Test
    void shouldNotChangeRulesThatHaveReplacedThoseThatItLooksFor() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma", "connect web.test 80 rdma");
        Rules others = rules("connect db.example 5432 tcp");
        known.put("db.example", "192.0.2.7");
        asked.clear();
        meanwhile = () -> context.use(others);
        begun.get(0).step();
        assertSame(others, context.rules());
        assertEquals(List.of("db.example"), asked, "the rest is not looked up any more");
        assertNull(begun.get(0).next);
        meanwhile = () -> {};
        begun.get(1).step();
        assertEquals(Policy.TCP, policy(context, "192.0.2.7", 5432));
        assertEquals(Policy.AUTO, policy(context, "192.0.2.8", 5432));
    }

    @Test
    void shouldEndWhenTheTransportIsClosed() throws Exception {
        TransportContext context = context("connect db.example 5432 rdma");
        Runnable task = steps().next;
        holder.close();
        assertTrue(steps().ended);
        asked.clear();
        task.run(); // which was about to begin
        assertEquals(List.of(), asked);
        context.use(rules("connect web.test 80 rdma"));
        assertEquals(1, begun.size(), "nor does it begin again");
    }

    @Test
    void shouldDoWithoutWhereNoThreadIsToBeHad() throws Exception {
        boolean[] ended = new boolean[1];
        TransportContext context = new TransportContext(
                Settings.read("policy=auto", new Properties(), Map.of()),
                rules("connect db.example 5432 tcp"),
                holder,
                () -> new LateNames.Background() {
                    @Override
                    public void after(long nanos, Runnable task) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }

                    @Override
                    public void end() {
                        ended[0] = true;
                    }
                });
        assertEquals(Policy.TCP, policy(context, "192.0.2.7", 5432));
        assertTrue(ended[0]);
        context.use(Rules.NONE);
        assertEquals(Policy.AUTO, policy(context, "192.0.2.7", 5432));
    }

    /** A web application may be the first to need it, and be undeployed later. */
    @Test
    void shouldHaveAThreadThatKeepsNothingAndEnds() throws Exception {
        LateNames.Background own = new LateNames.OwnThread();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        own.after(0, () -> thread.complete(Thread.currentThread()));
        assertNotEquals(Thread.currentThread(), thread.get());
        assertTrue(thread.get().isDaemon());
        assertEquals("jrsocket-names", thread.get().getName());
        assertNull(thread.get().getContextClassLoader());
        own.after(TimeUnit.DAYS.toNanos(1), () -> {});
        assertTrue(thread.get().isAlive(), "it waits");
        own.end();
        thread.get().join();
        own.after(0, () -> {}); // is no mistake
    }

    @Test
    void shouldEndItsThreadAfterALookUpThatIsUnderWay() throws Exception {
        LateNames.Background own = new LateNames.OwnThread();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CountDownLatch answer = new CountDownLatch(1);
        own.after(0, () -> {
            thread.complete(Thread.currentThread());
            while (answer.getCount() > 0) { // as native code, which no interrupt ends
                Thread.onSpinWait();
            }
            own.after(0, () -> {});
        });
        thread.get();
        own.end();
        answer.countDown();
        thread.get().join();
    }
}
