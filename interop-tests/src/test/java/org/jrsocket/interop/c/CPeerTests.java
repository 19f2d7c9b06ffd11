/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.util.EnumMap;
import java.util.Map;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.c.JavaEnd.Api;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests against C programs: one Java end of each kind for all tests of a class, which must have closed all its
 * connections at the end.
 */
abstract class CPeerTests {

    private static final Map<Api, JavaEnd> ENDS = new EnumMap<>(Api.class);

    /** What the device delivers during a test. */
    LabBytes delivered;

    @BeforeAll
    static void findLab() {
        Lab.assume();
    }

    @BeforeEach
    void count() {
        delivered = LabBytes.count();
    }

    @AfterAll
    static void endJava() throws InterruptedException {
        try {
            for (JavaEnd end : ENDS.values()) {
                end.assertAllClosed();
            }
        } finally {
            ENDS.values().forEach(JavaEnd::close);
            ENDS.clear();
        }
    }

    static JavaEnd java(Api api) throws Exception {
        JavaEnd end = ENDS.get(api);
        if (end == null || !end.program().isAlive()) {
            end = new JavaEnd(api);
            ENDS.put(api, end);
        }
        return end;
    }
}
