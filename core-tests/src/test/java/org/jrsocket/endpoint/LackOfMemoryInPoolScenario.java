/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jrsocket.Allocations;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.loopback.LoopbackConfig;

/**
 * What is kept of ended connections on two devices is freed in several ways, watched by {@link Allocations}. Each may
 * fail, but what it has not freed can be freed later. Returns what went wrong.
 */
public final class LackOfMemoryInPoolScenario implements Supplier<List<String>> {

    private final List<String> wrong = new ArrayList<>();

    @Override
    public List<String> get() {
        try {
            Pool parts = new Pool(TimeUnit.HOURS.toNanos(1));
            BundlePool pool = parts.bundles;
            Device one = parts.verbs.device();
            Device other =
                    parts.verbs.addDevice(new LoopbackConfig().name("other"), InetAddress.getByName("127.0.0.9"));
            List<Consumer<BundlePool>> ways = List.of(
                    each -> each.makeRoom(one),
                    each -> each.deviceRemoved(other),
                    BundlePool::freeIdle,
                    BundlePool::close);
            for (Consumer<BundlePool> way : ways) {
                keep(pool, one);
                keep(pool, other);
                watch(() -> way.accept(pool));
                awaitNothingLeft(parts);
            }
            parts.close();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private static void keep(BundlePool pool, Device device) throws IOException {
        List<Bundle> used = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            used.add(pool.obtain(Pool.shape(device, 8192)));
        }
        used.forEach(pool::giveBack);
    }

    private static void watch(Runnable way) {
        Allocations.watch(true);
        try {
            way.run();
        } catch (OutOfMemoryError e) {
            // the caller has heard of it
        } finally {
            Allocations.watch(false);
        }
    }

    private void awaitNothingLeft(Pool parts) throws InterruptedException {
        long start = System.nanoTime();
        while (parts.budget.used() > 0 || parts.verbs.liveObjects().pds() > 0) {
            if (System.nanoTime() - start > Pool.PATIENCE_NANOS) {
                wrong.add(parts.budget.used() + " bytes are left, and " + parts.verbs.liveObjects());
                return;
            }
            parts.bundles.freeIdle();
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
