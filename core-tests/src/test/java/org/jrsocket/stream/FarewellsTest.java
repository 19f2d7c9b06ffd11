/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.loopback.LoopbackId;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much is kept for peers that are not told yet. What they hear, see {@link LostPathTest}. */
@Timeout(120)
class FarewellsTest {

    /** A link that is down for hours, and connections that fail all the time. */
    @Test
    void shouldKeepABoundedNumberWhileTheLinkIsDown() throws Exception {
        LoopbackProvider verbs = new LoopbackProvider();
        RdmaTransport transport = RdmaTransport.over(verbs);
        AtomicBoolean down = new AtomicBoolean(true);
        transport.services().farewells.judgeBy(address -> down.get());
        CmChannel events = transport.services().cm.createEventChannel();
        List<CmId> ids = new ArrayList<>();
        while (ids.size() < Farewells.MOST + 10) {
            CmId id = transport.services().cm.createId(events, RdmaCm.RDMA_PS_TCP);
            ids.add(id);
            transport.services().farewells.say(id, InetAddress.getLoopbackAddress());
        }
        Set<CmId> kept = Set.copyOf(ids.subList(0, Farewells.MOST));
        List<CmId> beyond = ids.subList(Farewells.MOST, ids.size());
        RawPeer.await(
                () -> Collections.disjoint(verbs.ids(), beyond),
                () -> "more are kept: " + verbs.ids().size());
        assertTrue(new HashSet<>(verbs.ids()).containsAll(kept), "fewer are kept");
        down.set(false); // they were never connected, so that there is nothing to say
        RawPeer.await(() -> Collections.disjoint(verbs.ids(), Set.copyOf(ids)), () -> "an id is kept");
        transport.services().cm.destroyEventChannel(events);
        transport.close();
        verbs.assertClean();
        verbs.close();
    }

    /** It answers nothing any more, so its end must not be missed between two owners of the id. */
    @Test
    void shouldNotWaitForAPeerThatLeavesWhileTheConnectionIsFreed() throws Exception {
        LoopbackProvider verbs = new LoopbackProvider();
        HookedVerbs hooked = new HookedVerbs(verbs);
        RdmaTransport transport = RdmaTransport.over(hooked);
        StreamPair pair = StreamPair.connect(transport, InetAddress.getLoopbackAddress(), StreamConfig.DEFAULT);
        verbs.faults().breakAfter(0);
        pair.client.write(new byte[1], 0, 1, StreamPair.PATIENCE);
        assertThrows(IOException.class, () -> pair.client.read(new byte[1], 0, 1, StreamPair.PATIENCE));
        AtomicBoolean left = new AtomicBoolean();
        hooked.afterDestroyQp = () -> {
            if (!left.getAndSet(true)) {
                pair.server.abort();
                RawPeer.await(() -> pair.client.core().peerGone, () -> "the client has not heard of it");
            }
        };
        pair.client.close();
        RawPeer.await(() -> verbs.ids().stream().noneMatch(LoopbackId::isActive), () -> "its id is kept");
        pair.close();
        transport.close();
        verbs.assertClean();
        verbs.close();
    }
}
