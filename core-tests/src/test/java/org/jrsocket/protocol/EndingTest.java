/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.protocol;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class EndingTest {

    private final Ending ending = new Ending();

    @Test
    void shouldWantOneShutdownHoweverOftenItIsAskedFor() {
        ending.shutdown();
        ending.shutdown();
        assertTrue(ending.wantsShutdown());
        assertTrue(ending.wantsMore());
        assertFalse(ending.hasShutdown());
        ending.shutdownBuilt();
        ending.shutdown();
        assertFalse(ending.wantsShutdown());
        assertFalse(ending.wantsMore());
        assertFalse(ending.isClosing());
        assertTrue(ending.hasShutdown());
    }

    @Test
    void shouldWantNoShutdownAfterAClose() {
        assertTrue(ending.close(false));
        ending.shutdown();
        assertFalse(ending.wantsShutdown());
        assertTrue(ending.wantsDisconnect());
        assertTrue(ending.wantsMore());
        assertTrue(ending.isClosing());
        assertFalse(ending.isClosed());
        ending.closed();
        assertTrue(ending.isClosed());
        ending.shutdown();
        assertFalse(ending.wantsMore());
    }

    /** Otherwise an ordinary close would have no more patience with its peer than a reset has. */
    @Test
    void shouldBeNoResetOnceTheDisconnectIsBuilt() {
        ending.close(false);
        ending.closed();
        assertFalse(ending.close(true));
        assertFalse(ending.isReset());
    }

    @Test
    void shouldBecomeAResetWhileTheDisconnectIsStillToBeBuilt() {
        ending.close(false);
        assertTrue(ending.close(true));
        assertTrue(ending.isReset());
        ending.close(false);
        assertTrue(ending.isReset());
    }

    /** What was lost is found out by the first. */
    @Test
    void shouldTellTheFirstEndOfAllFromLaterOnes() {
        ending.shutdown();
        assertTrue(ending.die());
        assertFalse(ending.die());
        assertFalse(ending.close(true));
        assertFalse(ending.isReset());
        assertFalse(ending.wantsMore());
        assertTrue(ending.isClosing());
        assertFalse(ending.isClosed());
    }
}
