/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.SelectionKey;
import java.util.ConcurrentModificationException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** It is to programs what a HashSet is. */
class SelectedKeysTest {

    private static final RSelectionKey[] KEYS = IntStream.range(0, 200)
            .mapToObj(i -> new RSelectionKey(null, null, null))
            .toArray(RSelectionKey[]::new);

    @Test
    void shouldDoAsAHashSetDoes() {
        Random random = new Random(1);
        SelectedKeys keys = new SelectedKeys();
        Set<SelectionKey> model = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            RSelectionKey key = KEYS[random.nextInt(KEYS.length)];
            switch (random.nextInt(200)) {
                case 0 -> {
                    keys.clear();
                    model.clear();
                }
                case 1, 2 -> {
                    Set<SelectionKey> seen = new HashSet<>();
                    for (Iterator<SelectionKey> each = keys.iterator(); each.hasNext(); ) {
                        SelectionKey next = each.next();
                        assertTrue(seen.add(next), "twice");
                        if (random.nextBoolean()) {
                            each.remove();
                            model.remove(next);
                        }
                    }
                    assertTrue(seen.containsAll(model), "left out");
                }
                default -> {
                    if (random.nextInt(3) > 0) {
                        assertEquals(model.add(key), keys.add(key));
                    } else {
                        assertEquals(model.remove(key), keys.remove(key));
                    }
                }
            }
            assertEquals(model.size(), keys.size());
            assertEquals(model.contains(key), keys.contains(key));
        }
        assertEquals(model, keys);
    }

    @Test
    void shouldTellSelectorsApart() {
        SelectedKeys one = new SelectedKeys();
        SelectedKeys other = new SelectedKeys();
        RSelectionKey ours = new RSelectionKey(null, null, null);
        RSelectionKey theirs = new RSelectionKey(null, null, null);
        one.add(ours);
        other.add(theirs);
        assertFalse(other.contains(ours));
        assertFalse(other.remove(ours));
        assertTrue(one.contains(ours));
    }

    /** As a HashSet does. */
    @Test
    void shouldNoticeChangesDuringAnIteration() {
        for (Consumer<SelectedKeys> change : List.<Consumer<SelectedKeys>>of(
                keys -> keys.add(new RSelectionKey(null, null, null)),
                keys -> keys.remove(KEYS[0]),
                SelectedKeys::clear)) {
            SelectedKeys keys = new SelectedKeys();
            keys.add(KEYS[0]);
            keys.add(KEYS[1]);
            Iterator<SelectionKey> each = keys.iterator();
            each.next();
            change.accept(keys);
            assertThrows(ConcurrentModificationException.class, each::remove);
            assertThrows(ConcurrentModificationException.class, each::next);
            keys.clear();
        }
    }

    @Test
    void shouldRemoveDuringAnIterationOnlyWhatItHasGiven() {
        SelectedKeys keys = new SelectedKeys();
        keys.add(KEYS[0]);
        keys.add(KEYS[1]);
        Iterator<SelectionKey> each = keys.iterator();
        assertThrows(IllegalStateException.class, each::remove);
        each.next();
        each.remove();
        assertThrows(IllegalStateException.class, each::remove);
        each.next();
        assertThrows(NoSuchElementException.class, each::next);
        assertEquals(1, keys.size());
        keys.clear();
    }
}
