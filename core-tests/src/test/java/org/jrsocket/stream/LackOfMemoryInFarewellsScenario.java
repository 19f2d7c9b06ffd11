/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jrsocket.Allocations;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * An id is left to the farewells, of a connection that never was, and another while the link is down, until the
 * transport ends. Watched by {@link Allocations}: each may fail, but both ids are freed. Returns what went wrong.
 */
public final class LackOfMemoryInFarewellsScenario implements Supplier<List<String>> {

    private final List<String> wrong = new ArrayList<>();

    @Override
    public List<String> get() {
        try {
            LoopbackProvider verbs = new LoopbackProvider();
            RdmaTransport transport = RdmaTransport.over(verbs);
            Farewells farewells = transport.services().farewells;
            farewells.judgeBy(local -> false);
            watch(leave(transport));
            awaitNothingLeft(verbs);
            farewells.judgeBy(local -> true);
            watch(leave(transport));
            watch(farewells::end);
            farewells.end(); // for those that it did not get to
            awaitNothingLeft(verbs);
            transport.close();
            verbs.assertClean();
            verbs.close();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            wrong.add(e.toString());
        }
        return wrong;
    }

    private static Runnable leave(RdmaTransport transport) throws IOException {
        CmId id = transport.services().cm.createId(transport.services().channel, RdmaCm.RDMA_PS_TCP);
        InetAddress here = InetAddress.getLoopbackAddress();
        Farewells farewells = transport.services().farewells;
        return () -> farewells.say(id, here);
    }

    private static void watch(Runnable step) {
        Allocations.watch(true);
        try {
            step.run();
        } catch (OutOfMemoryError e) {
            // the caller has heard of it
        } finally {
            Allocations.watch(false);
        }
    }

    private void awaitNothingLeft(LoopbackProvider verbs) throws InterruptedException {
        long end = System.nanoTime() + StreamPair.PATIENCE;
        while (!verbs.ids().isEmpty()) {
            if (System.nanoTime() - end > 0) {
                wrong.add("left: " + verbs.ids());
                return;
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
