/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

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
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * What is kept of ended connections on two devices is freed in several ways, watched by {@link Allocations}. Each may
 * fail, but what it has not freed can be freed later. Returns what went wrong.
 */
public final class LackOfMemoryInPoolScenario implements Supplier<List<String>> {

    private final List<String> wrong = new ArrayList<>();

    @Override
    public List<String> get() {
        try {
            LoopbackProvider verbs = new LoopbackProvider();
            Device one = verbs.device();
            Device other = verbs.addDevice(new LoopbackConfig().name("other"), InetAddress.getByName("127.0.0.9"));
            RdmaTransport transport = RdmaTransport.over(verbs, TimeUnit.HOURS.toNanos(1));
            BundlePool pool = transport.services().bundles;
            List<Consumer<BundlePool>> ways = List.of(
                    each -> each.makeRoom(one),
                    each -> each.deviceRemoved(other),
                    BundlePool::freeIdle,
                    BundlePool::close);
            for (Consumer<BundlePool> way : ways) {
                keep(pool, one);
                keep(pool, other);
                watch(() -> way.accept(pool));
                awaitNothingLeft(transport, verbs);
            }
            transport.close();
            verbs.assertClean();
            verbs.close();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private static void keep(BundlePool pool, Device device) throws IOException {
        List<Bundle> used = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            used.add(pool.obtain(new Bundle.Shape(device, 16, 16, 4096, 8192)));
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

    private void awaitNothingLeft(RdmaTransport transport, LoopbackProvider verbs) throws InterruptedException {
        long end = System.nanoTime() + StreamPair.PATIENCE;
        while (transport.registeredMemory() > 0 || verbs.liveObjects().pds() > 0) {
            if (System.nanoTime() - end > 0) {
                wrong.add(transport.registeredMemory() + " bytes are left, and " + verbs.liveObjects());
                return;
            }
            transport.freeIdle();
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
