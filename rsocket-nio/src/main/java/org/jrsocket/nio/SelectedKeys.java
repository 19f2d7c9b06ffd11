/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The selected keys of one selector. Unlike a {@code HashSet}, it allocates nothing for a key, and it is less
 * forgiving: only one thread at a time may touch it. For event loops, which make sure of that.
 */
final class SelectedKeys extends AbstractSet<SelectionKey> {

    private RSelectionKey[] keys = new RSelectionKey[64];
    private int size;
    private int changes; // except by iterators

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean contains(Object o) {
        return o instanceof RSelectionKey key && isIn(key);
    }

    private boolean isIn(RSelectionKey key) {
        int at = key.selectedAt;
        return at >= 0 && at < size && keys[at] == key; // the key may be another selector's
    }

    @Override
    public boolean add(SelectionKey o) {
        RSelectionKey key = (RSelectionKey) o;
        if (isIn(key)) {
            return false;
        }
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, 2 * size);
        }
        key.selectedAt = size;
        keys[size++] = key;
        changes++;
        return true;
    }

    @Override
    public boolean remove(Object o) {
        if (!(o instanceof RSelectionKey key) || !isIn(key)) {
            return false;
        }
        removeAt(key.selectedAt);
        changes++;
        return true;
    }

    /** Removes the key at an index; the last key takes its place. */
    private void removeAt(int at) {
        keys[at].selectedAt = -1;
        RSelectionKey last = keys[--size];
        keys[size] = null;
        if (at < size) {
            keys[at] = last;
            last.selectedAt = at;
        }
    }

    @Override
    public void clear() {
        for (int i = 0; i < size; i++) {
            keys[i].selectedAt = -1;
            keys[i] = null;
        }
        size = 0;
        changes++;
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return new Keys();
    }

    private final class Keys implements Iterator<SelectionKey> {
        private int next;
        private boolean removable;
        private final int expected = changes;

        @Override
        public boolean hasNext() {
            return next < size;
        }

        @Override
        public SelectionKey next() {
            check();
            if (next >= size) {
                throw new NoSuchElementException();
            }
            removable = true;
            return keys[next++];
        }

        @Override
        public void remove() {
            if (!removable) {
                throw new IllegalStateException();
            }
            check();
            removable = false;
            removeAt(--next); // the key that takes its place is the next
        }

        private void check() {
            if (changes != expected) {
                throw new ConcurrentModificationException();
            }
        }
    }
}
