/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * {@code Soak SECONDS SEED}: traffic for so long, and one short scenario after the other at random, with brief
 * connections beside. Prints a line for each, with what both hosts hold, and what an application did meanwhile and
 * afterwards. Ends with an AssertionError if a promise is not kept, or if memory or descriptors grow.
 */
final class Soak {

    /** Rounds until a JVM has loaded what it needs and its heap has found its size. */
    private static final int WARM = 8;

    /** The one processor that each host has is to be left to the others. */
    private static final int BRIEF_PER_MINUTE = 60;

    private Soak() {}

    public static void main(String[] args) throws Exception {
        long start = System.nanoTime();
        long end = start + Duration.ofSeconds(Long.parseLong(args[0])).toNanos();
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[1]));
        List<Scenario> scenarios = Scenarios.brief();
        Map<String, Integer> played = new TreeMap<>();
        try (TwoHosts hosts = new TwoHosts(false)) {
            Applications applications = new Applications(hosts);
            ComeAndGo brief = new ComeAndGo(hosts, BRIEF_PER_MINUTE);
            Flat client = new Flat("the client"); // the server is started again now and then
            Flat clientOfBrief = new Flat("the client of brief connections");
            for (int round = 1; System.nanoTime() < end || round <= WARM; round++) {
                hosts.begin();
                brief.begin();
                hosts.run(Duration.ofSeconds(random.nextInt(20)));
                Scenario scenario = scenarios.get(random.nextInt(scenarios.size()));
                played.merge(scenario.name(), 1, Integer::sum);
                System.out.println("round " + round + " begins: " + scenario.title()); // else a failure does not say it
                Applications.Work work = applications.begin(scenario.name().equals(Scenarios.ADDRESS));
                brief.assertNoneLost();
                hosts.besides = () -> {
                    work.end();
                    brief.rest();
                };
                String result = scenario.play().run(hosts);
                if (scenario.name().equals(Scenarios.CLOCK)) {
                    applications.clocksJumped();
                }
                String worked = work.again();
                hosts.end();
                TwoHosts.Held held = hosts.held();
                TwoHosts.Held ofBrief = hosts.held(brief.pid());
                System.out.printf(
                        "round %d: %s: %s; %s; client %s; server %s; %d MB carried; %s, client %s%n",
                        round,
                        scenario.title(),
                        result,
                        worked,
                        held.here(),
                        held.there(),
                        hosts.report().bytes() / 1_000_000,
                        brief.summary(Duration.ofNanos(System.nanoTime() - start)),
                        ofBrief.here());
                assertTrue(held.isBare(), held::toString);
                client.look(held.here(), round > WARM);
                clientOfBrief.look(ofBrief.here(), round > WARM);
            }
            System.out.println("rounds of scenarios " + played + "; " + applications.summary() + "; "
                    + hosts.report().bytes() / 1_000_000 + " MB of raw traffic; "
                    + brief.summary(Duration.ofNanos(System.nanoTime() - start)));
        }
        System.exit(0);
    }
}
