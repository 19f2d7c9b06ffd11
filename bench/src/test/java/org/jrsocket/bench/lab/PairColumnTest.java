/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A column whose processes are shells. */
class PairColumnTest {

    @TempDir
    Path folder;

    private PairColumn column;
    private final List<String> looks = new ArrayList<>();

    private final Column.Watch watch = new Column.Watch() {
        @Override
        public void begin() {
            looks.add("begin");
        }

        @Override
        public void end() {
            looks.add("end");
        }
    };

    @AfterEach
    void close() {
        column.close();
    }

    /** Each of whose samples takes so long, by its own word. */
    private void prepare(String seconds) throws IOException {
        String script = "echo ready; while read -r line; do echo ok seconds=" + seconds + "; done";
        PairColumn.Shared pair = new PairColumn.Shared(again -> new Pair(
                List.of("sh", "-c", script), List.of("server"), List.of("client"), Map.of(), folder.resolve("log")));
        column = new PairColumn("shell", "shell", true, "sleep", pair, EnumSet.of(Row.TOUCH));
        column.prepare(true);
    }

    @Test
    void shouldKeepTheValueOfASampleThatStoodStill() throws IOException {
        prepare("105");
        Column.Sample sample = column.measure(Row.TOUCH, true, watch);
        assertTrue(sample.stalled());
        assertEquals(sample.operations() / 105.0, sample.values().get("rate"), 1e-9);
    }

    @Test
    void shouldMarkNoOtherSample() throws IOException {
        prepare("0.9");
        assertFalse(column.measure(Row.TOUCH, true, watch).stalled());
    }

    @Test
    void shouldHaveTheHostLookedAtAroundWhatIsMeasuredAlone() throws IOException {
        prepare("0.9");
        assertEquals(List.of(), looks);
        column.measure(Row.TOUCH, true, watch);
        assertEquals(List.of("begin", "end"), looks);
    }
}
