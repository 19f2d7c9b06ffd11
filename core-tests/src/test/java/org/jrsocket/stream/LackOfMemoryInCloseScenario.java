/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jrsocket.Allocations;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * A listener is closed, watched by {@link Allocations}, that has a connection to accept, and a request that waits for
 * its place. Both clients hear of it, and so does whoever accepts. Returns what went wrong.
 */
public final class LackOfMemoryInCloseScenario implements Supplier<List<String>> {

    private static final long PATIENCE = StreamPair.PATIENCE;

    private final List<String> wrong = new ArrayList<>();

    @Override
    public List<String> get() {
        try {
            LoopbackProvider verbs = new LoopbackProvider();
            RdmaTransport transport = RdmaTransport.over(verbs);
            close(transport);
            await(() -> transport.liveStreams() == 0, "streams are left");
            transport.close();
            verbs.assertClean();
            verbs.close();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private void close(RdmaTransport transport) throws IOException, InterruptedException {
        CmListener listener = (CmListener)
                transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1, StreamConfig.DEFAULT);
        RdmaStream accepted = transport
                .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                .await(PATIENCE);
        await(() -> listener.halfOpen() == 0, "there is nothing to accept");
        PendingConnect held = transport.connect(null, listener.localAddress(), StreamConfig.DEFAULT);
        await(() -> listener.held() == 1, "no request waits");
        AtomicBoolean told = new AtomicBoolean();
        listener.onReady(() -> told.set(true));
        told.set(false); // there is something to accept
        Allocations.watch(true);
        try {
            listener.close();
        } catch (OutOfMemoryError e) {
            // the caller has heard of it
        }
        await(() -> listener.held() == 0 && listener.halfOpen() == 0, "something is under way for ever");
        Allocations.watch(false);
        if (!told.get()) {
            wrong.add("who accepts hears nothing");
        }
        assertEnds(accepted);
        try {
            held.await(PATIENCE).close();
            wrong.add("it has accepted a request");
        } catch (RdmaConnectException e) {
            if (e.reason() == RdmaConnectException.Reason.TIMEOUT) {
                wrong.add("who waits hears nothing");
            }
        }
    }

    private void assertEnds(RdmaStream client) throws IOException {
        try {
            int n = client.read(new byte[1], 0, 1, PATIENCE);
            if (n >= 0) {
                wrong.add("something was sent");
            }
        } catch (SocketTimeoutException e) {
            wrong.add("a client hears nothing");
        } catch (IOException e) {
            // as it should be
        } finally {
            client.close();
        }
    }

    private void await(BooleanSupplier condition, String otherwise) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                wrong.add(otherwise);
                return;
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
