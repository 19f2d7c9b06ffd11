/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemlockLimitTest {

    private static final String ALL_USERS = "         0          0 4294967295\n";
    private static final String ROOTLESS = "         0       1000          1\n         1     100000      65536\n";
    private static final String FEW = "00000000a80425fb";
    private static final String ALL = "000001ffffffffff";

    private static MemlockLimit limit(String soft, String capabilities, String users) {
        return MemlockLimit.of(
                List.of(
                        "Max processes             62000                62000                processes ",
                        "Max locked memory         " + soft + "                8388608              bytes     "),
                List.of("Name:\tjava", "VmLck:\t       0 kB", "VmPin:\t      48 kB", "CapEff:\t" + capabilities),
                users);
    }

    @Test
    void shouldRefuseWhatIsBeyondTheLimitTogetherWithWhatIsPinned() {
        MemlockLimit limit = limit("65536", FEW, ALL_USERS);
        assertTrue(limit.mayApply());
        assertFalse(limit.mayRefuse(16 << 10));
        assertTrue(limit.mayRefuse((16 << 10) + 1));
        assertEquals("64 KiB", limit.toString());
    }

    @Test
    void shouldNotBlameALimitThatDoesNotApply() {
        assertFalse(limit("unlimited", FEW, ALL_USERS).mayApply());
        assertFalse(limit("65536", ALL, ALL_USERS).mayApply());
        assertFalse(limit("65536", ALL, ALL_USERS).mayRefuse(1 << 20));
    }

    /** The kernel asks for the capability of the host's root. */
    @Test
    void shouldApplyInARootlessContainer() {
        MemlockLimit limit = limit("65536", ALL, ROOTLESS);
        assertFalse(limit.isPrivileged());
        assertTrue(limit.mayRefuse(1 << 20));
    }

    @Test
    void shouldTakeWhatIsUnknownForAPossibleCause() {
        MemlockLimit limit = MemlockLimit.of(List.of(), List.of(), "");
        assertTrue(limit.mayRefuse(1));
        assertEquals("unknown", limit.toString());
    }

    @Test
    void shouldReadThatOfThisProcess() {
        assertTrue(MemlockLimit.ofThisProcess().toString().matches("[0-9]+ KiB|unlimited"));
    }
}
