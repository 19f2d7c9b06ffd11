/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A selector for RDMA, TCP, datagrams and pipes together. Everything except RDMA is in an inner selector of the JDK's.
 * This class has the keys, the selected keys, and the locks: its monitor, the set of selected keys and {@code
 * registrations}, in the order that the package documentation gives. {@link Selection} finds the keys that are ready.
 */
final class RSelector extends AbstractSelector implements Selection.Sleeper {

    private final AbstractSelector jdk;
    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> selected;
    private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
    private final Set<SelectionKey> publicSelected;
    private final Object registrations = new Object();

    private final Selection selection;
    private boolean inSelect; // guarded by this
    private boolean inFind; // the same; the selection still needs what a close frees
    private boolean closedInFind; // by the selecting thread itself

    RSelector(ProviderServices services, AbstractSelector jdk) {
        this(services, jdk, services.context().settings().streamConfig().spinNanos());
    }

    RSelector(ProviderServices services, AbstractSelector jdk, long spinNanos) {
        this(services, jdk, spinNanos, new HashSet<>(), 0);
    }

    /** Creates a selector for one thread, which selects again and again, and alone touches the selected keys. */
    static RSelector forEventLoop(ProviderServices services, AbstractSelector jdk, long lookAfterNanos) {
        long spinNanos = services.context().settings().streamConfig().spinNanos();
        return new RSelector(services, jdk, spinNanos, new SelectedKeys(), lookAfterNanos);
    }

    private RSelector(
            ProviderServices services,
            AbstractSelector jdk,
            long spinNanos,
            Set<SelectionKey> selected,
            long lookAfterNanos) {
        super(services.provider());
        this.jdk = jdk;
        this.selected = selected;
        this.publicSelected = new UngrowableSet<>(selected);
        this.selection = new Selection(this, services, jdk, spinNanos, lookAfterNanos);
    }

    void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        ensureOpen();
        return publicKeys;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return publicSelected;
    }

    // ---- selecting ----

    @Override
    public int select() throws IOException {
        return lockAndSelect(null, -1);
    }

    @Override
    public int select(long timeout) throws IOException {
        return lockAndSelect(null, nanos(timeout));
    }

    @Override
    public int selectNow() throws IOException {
        return lockAndSelect(null, 0);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), -1);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        Objects.requireNonNull(action);
        return lockAndSelect(action, nanos(timeout));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), 0);
    }

    private static long nanos(long millis) {
        if (millis < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return millis == 0 ? -1 : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** @param nanos 0 does not wait, negative waits for ever */
    private int lockAndSelect(Consumer<SelectionKey> action, long nanos) throws IOException {
        synchronized (this) {
            ensureOpen();
            if (inSelect) {
                throw new IllegalStateException("select in progress");
            }
            inSelect = true;
            try {
                synchronized (publicSelected) {
                    try {
                        deregisterCancelled();
                        ReadyKeys ready = find(nanos);
                        if (closedInFind) {
                            return 0;
                        }
                        deregisterCancelled();
                        return publish(ready, action);
                    } finally {
                        selection.over();
                    }
                }
            } finally {
                inSelect = false;
            }
        }
    }

    private ReadyKeys find(long nanos) throws IOException {
        inFind = true;
        try {
            return selection.find(nanos);
        } finally {
            inFind = false;
            if (closedInFind) {
                closeAll();
            }
        }
    }

    private int publish(ReadyKeys ready, Consumer<SelectionKey> action) {
        int count = 0;
        for (int i = 0; i < ready.size(); i++) {
            RSelectionKey key = ready.get(i);
            int ops = key.found & key.interest(); // which may have changed since it was looked at
            key.found = 0;
            boolean wanted = key.isValid() && ops != 0;
            if (wanted && action != null) {
                key.ready(ops);
                count++;
                action.accept(key);
                ensureOpen();
            } else if (wanted && selected.add(key)) {
                key.ready(ops);
                count++;
            } else if (wanted && (ops & ~key.ready()) != 0) {
                key.ready(key.ready() | ops);
                count++;
            }
        }
        return count;
    }

    // ---- for the selection ----

    /** For tests. */
    Selection selection() {
        return selection;
    }

    @Override
    public void beginSleep() {
        begin();
    }

    @Override
    public void endSleep() {
        end();
    }

    @Override
    public Selector wakeup() {
        selection.wakeUp();
        return this;
    }

    // ---- registering and deregistering ----

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
        if (!(channel instanceof RSelectionKey.RdmaSelectable) && !JdkChannels.isJdkChannel(channel)) {
            throw new IllegalSelectorException();
        }
        RSelectionKey key = new RSelectionKey(this, selection, channel);
        key.attach(attachment);
        synchronized (registrations) {
            ensureOpen();
            keys.add(key);
            try {
                if (key.member != null) {
                    key.member.join(key);
                } else {
                    key.inner(JdkChannels.register(jdk, channel, 0, key));
                }
            } catch (RuntimeException | Error e) { // for example, no descriptor is left
                keys.remove(key);
                if (key.member != null) {
                    key.member.leave(key);
                }
                throw e;
            }
        }
        key.start(ops);
        return key;
    }

    private void deregisterCancelled() throws IOException {
        Set<SelectionKey> cancelled = cancelledKeys();
        Object[] gone;
        synchronized (cancelled) {
            if (cancelled.isEmpty()) {
                return;
            }
            gone = cancelled.toArray();
        }
        for (Object key : gone) {
            ((RSelectionKey) key).cancelInner();
        }
        // the JDK's selector has to forget its keys before the channels forget ours and can be registered again
        selection.selectTcpNow();
        endAll(gone);
    }

    /**
     * Ends keys. One that fails does not keep the others from ending; the first failure is thrown at the end. The next
     * selection tries again to end a cancelled key that has failed.
     */
    private void endAll(Object... gone) throws IOException {
        Throwable first = null;
        for (Object key : gone) {
            try {
                end((RSelectionKey) key);
            } catch (IOException | RuntimeException | Error e) {
                if (first == null) {
                    first = e;
                } else if (first != e) { // the JVM has errors that it throws more than once
                    first.addSuppressed(e);
                }
            }
        }
        if (first instanceof IOException e) {
            throw e;
        } else if (first instanceof RuntimeException e) {
            throw e;
        } else if (first != null) {
            throw (Error) first;
        }
    }

    /** Ends a key whose inner key has ended. Repeated calls have no effect. */
    private void end(RSelectionKey key) throws IOException {
        if (key.member != null) {
            key.member.leave(key);
        }
        selection.forget(key);
        selected.remove(key);
        keys.remove(key);
        deregister(key);
        if (key.member == null && !key.channel().isOpen() && !key.channel().isRegistered()) {
            JdkChannels.release(key.channel());
        }
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            cancelled.remove(key);
        }
    }

    private void closeWithKeys() throws IOException {
        List<SelectionKey> all = List.of();
        try {
            synchronized (registrations) {
                all = List.copyOf(keys); // no key is registered after this
            }
            for (SelectionKey key : all) {
                key.channel().keyFor(this); // waits until a registration in progress is complete
            }
        } finally {
            try {
                jdk.close();
            } finally {
                endAll(all.toArray());
            }
        }
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (publicSelected) {
                if (inFind) { // then by this thread, which closes it when it has finished
                    closedInFind = true;
                } else {
                    closeAll();
                }
            }
        }
    }

    private void closeAll() throws IOException {
        try {
            closeWithKeys();
        } finally { // also when there is no memory to list the keys
            selection.close();
        }
    }
}
