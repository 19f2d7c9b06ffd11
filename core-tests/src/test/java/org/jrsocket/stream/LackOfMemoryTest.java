/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each allocation of a connection's life fails once: nobody hangs, nothing is lost, others are served. */
@Tag("slow")
class LackOfMemoryTest {

    /** Fewer failures would mean that allocations are not counted. */
    private static final int LEAST = 150;

    @Test
    void shouldEndAConnectionAndLoseNothingWhereverMemoryIsLacking() throws Exception {
        List<String> wrong = new ArrayList<>();
        int failures = 0;
        try (CountedClasses classes = new CountedClasses(
                home(RdmaStream.class), home(LoopbackProvider.class), home(LackOfMemoryTest.class))) {
            Allocations.fail(-1, 0);
            for (int i = 0; i < 3; i++) {
                assertEquals(List.of(), run(classes));
            }
            for (Map.Entry<Integer, Integer> place : Allocations.met().entrySet()) {
                for (int time : new TreeSet<>(List.of(1, 2, place.getValue() / 3))) { // of the three runs
                    Allocations.fail(place.getKey(), time);
                    List<String> here = run(classes);
                    failures += Allocations.hasFailed() ? 1 : 0;
                    here.forEach(each -> wrong.add(Allocations.name(place.getKey()) + " #" + time + ": " + each));
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(failures >= LEAST, failures + " allocations have failed");
    }

    private static URL home(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    @SuppressWarnings("unchecked") // the other class loader's
    private static List<String> run(ClassLoader classes) throws ReflectiveOperationException {
        return ((Supplier<List<String>>) classes.loadClass(LackOfMemoryScenario.class.getName())
                        .getDeclaredConstructor()
                        .newInstance())
                .get();
    }
}
