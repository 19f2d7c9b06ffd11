/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jrsocket.os.Epoll;
import org.jrsocket.os.EventFd;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.threads.ServiceLoop;

/**
 * The descriptors that wake a selector with RDMA streams: their completion channels, the JDK selector's epoll set, and
 * an eventfd for {@code wakeup()}, all in one epoll set. Nothing native exists before the first stream. The selecting
 * thread waits; any thread adds and removes.
 */
final class SelectorEpollSet {

    /** The values that the epoll set reports in place of a descriptor number. */
    private static final long WAKE = -1;

    private static final long JDK = -2;

    private static final int EVENTS = 256;

    private final int jdkDescriptor; // -1 if unknown

    private final Object lock = new Object(); // taken before a stream's
    // Guarded by lock; the epoll set's own waits are not.
    private Epoll epoll;
    private volatile EventFd wake; // read without the lock
    private RSelectionKey[] keys = new RSelectionKey[64]; // indexed by descriptor
    private volatile int size;
    private boolean closed;
    private ServiceLoop.Watch watch;

    SelectorEpollSet(int jdkDescriptor) {
        this.jdkDescriptor = jdkDescriptor;
    }

    /** Returns whether the JDK selector's descriptors are in the set too. */
    boolean coverJdk() {
        return jdkDescriptor >= 0;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Has the stream's events reported for this key. A stream that has been freed already has none. */
    void add(RSelectionKey key, RdmaStream stream) {
        synchronized (lock) {
            if (closed || key.watched == stream) {
                return;
            }
            try {
                open();
                int fd = stream.completionFd();
                if (fd >= keys.length) { // first: an event of which nobody knows the key would come again and again
                    keys = Arrays.copyOf(keys, Math.max(fd + 1, 2 * keys.length));
                }
                if (!stream.watchedBy(epoll, fd)) {
                    return;
                }
                // Another key may still be there: that of a stream freed by its own failure, whose number this one got.
                if (keys[fd] != null) {
                    forget(keys[fd]);
                }
                keys[fd] = key;
                key.watched = stream;
                key.watchedFd = fd;
                size++;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Opens the set if there is none yet. Called with the lock held. */
    private void open() throws IOException {
        assert Thread.holdsLock(lock);
        if (epoll == null) {
            Epoll set = new Epoll(EVENTS);
            EventFd waker = null;
            try {
                waker = new EventFd();
                set.add(waker.fd(), Epoll.IN, WAKE);
                if (coverJdk()) {
                    set.add(jdkDescriptor, Epoll.IN, JDK);
                }
            } catch (IOException | Error e) { // for example, no descriptor is left: the next to register tries again
                if (waker != null) {
                    waker.close();
                }
                set.close();
                throw e;
            }
            wake = waker;
            epoll = set;
        }
    }

    /** Removes the key's stream before it is closed: its number may then be another's. Harmless when repeated. */
    void remove(RSelectionKey key) {
        synchronized (lock) {
            if (key.watched != null && !closed) {
                epoll.remove(key.watchedFd);
                forget(key);
            }
        }
    }

    /** Called with the lock held. */
    private void forget(RSelectionKey key) {
        assert Thread.holdsLock(lock);
        keys[key.watchedFd] = null;
        key.watched = null;
        key.watchedFd = -1;
        size--;
    }

    /**
     * Ends a wait that is in progress or about to begin. Takes no lock: observers of streams call this, and must not
     * wait, whatever locks their threads hold.
     */
    void signal() {
        EventFd waker = wake;
        if (waker != null) {
            waker.signal(); // does nothing once it is closed
        }
    }

    /**
     * Waits for events.
     *
     * @param nanos 0 does not wait, negative waits for ever
     * @return the number of events for {@link #take}
     */
    int await(long nanos) throws IOException {
        return epoll.await(nanos);
    }

    /** Returns whether an event was for the JDK's selector. */
    boolean isJdk(int index) {
        return epoll.data(index) == JDK;
    }

    /** Returns the key whose stream has an event, or null; a wake-up is taken care of. */
    RSelectionKey take(int index) {
        long data = epoll.data(index);
        if (data < 0) {
            if (data == WAKE) {
                wake.clear();
            }
            return null;
        }
        RSelectionKey key;
        RdmaStream stream;
        synchronized (lock) {
            key = data < keys.length ? keys[(int) data] : null;
            if (key == null) {
                return null; // removed in the meantime
            }
            if (!key.isValid()) {
                remove(key); // the channel may be blocking by now, and its events meant for a reader
                return null;
            }
            stream = key.watched;
        }
        stream.takeEvent();
        return key;
    }

    /** Has the service thread run {@code action} once when there are events. */
    void watch(ServiceLoop service, Runnable action) throws IOException {
        synchronized (lock) {
            if (!closed) {
                if (watch == null) {
                    watch = service.watch(epoll.fd(), action);
                }
                watch.arm();
            }
        }
    }

    /** Closes the set. Called when no thread waits any more. */
    void close() {
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            if (watch != null) {
                watch.cancel();
            }
            if (epoll != null) {
                epoll.close();
                wake.close();
            }
        }
    }
}
