/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.stream.RawPeer;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is kept of connections that are over, and how the bytes of it are counted. */
@Timeout(120)
class BundlePoolTest {

    private static final long NEVER = TimeUnit.HOURS.toNanos(1);
    /** Of these three are kept, because four would be too much. */
    private static final int LARGE = 5 << 20;

    private Pool parts;
    private LoopbackProvider verbs;
    private BundlePool pool;
    private Device one;
    private Device other;

    @BeforeEach
    void open() throws IOException {
        parts = new Pool(NEVER);
        verbs = parts.verbs;
        pool = parts.bundles;
        one = verbs.device();
        other = verbs.addDevice(new LoopbackConfig().name("other"), InetAddress.getByName("127.0.0.9"));
    }

    @AfterEach
    void everythingIsGivenBack() {
        parts.close();
    }

    /** So many in use at a time, and then none. */
    private void use(int count, Bundle.Shape shape) throws IOException {
        List<Bundle> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(pool.obtain(shape));
        }
        all.forEach(pool::giveBack);
    }

    /** Each has a protection domain. */
    private int kept() {
        return verbs.liveObjects().pds();
    }

    private void lose(Device device) {
        device.lose();
        pool.deviceRemoved(device);
    }

    /** Draining the queues of a bundle would crash in the library of a device that does not allow that. */
    @Test
    void shouldKeepNothingOfADeviceWhoseQueuesDieWithTheirQueuePair() throws IOException {
        Device qedr = verbs.addDevice(
                new LoopbackConfig().name("qedr0").queuesOutliveQp(false), InetAddress.getByName("127.0.0.8"));
        use(2, Pool.shape(qedr, 8192));
        assertEquals(0, kept());
        use(2, Pool.shape(one, 8192));
        assertEquals(2, kept());
    }

    /** Its next user would wait for completions for ever. */
    @Test
    void shouldNotKeepACompletionQueueThatHasFailed() throws IOException {
        Bundle bundle = pool.obtain(Pool.shape(one, 8192));
        bundle.recvCq.failed();
        pool.giveBack(bundle);
        assertEquals(0, kept());
    }

    @Test
    void shouldNotHandOutACompletionQueueThatHasFailedSinceItWasKept() throws Exception {
        Bundle bundle = pool.obtain(Pool.shape(one, 8192));
        pool.giveBack(bundle);
        parts.devices.opened(one);
        verbs.faults().asyncEvent(verbs.device(), Device.event(Device.EVENT_CQ_ERR, bundle.sendCq.getHandle()));
        RawPeer.await(() -> bundle.recvCq.hasFailed(), () -> "nobody has taken note of it");
        Bundle next = pool.obtain(Pool.shape(one, 8192));
        assertNotSame(bundle, next);
        pool.giveBack(next);
        assertSame(next, pool.obtain(Pool.shape(one, 8192)));
        pool.giveBack(next);
    }

    @Test
    void shouldKeepAsMuchEachTimeItIsUsed() throws IOException {
        for (int i = 0; i < 4; i++) {
            use(3, Pool.shape(one, LARGE));
            assertEquals(3, kept());
        }
        use(4, Pool.shape(one, LARGE));
        assertEquals(3, kept());
    }

    @Test
    void shouldKeepAsMuchAfterAllWasFreed() throws IOException {
        for (int i = 0; i < 3; i++) {
            use(3, Pool.shape(one, LARGE));
            assertEquals(3, kept());
            assertTrue(pool.freeIdle());
            assertEquals(0, kept());
        }
    }

    @Test
    void shouldKeepAsMuchAfterADeviceWasLost() throws IOException {
        use(3, Pool.shape(other, LARGE));
        lose(other);
        RawPeer.await(() -> kept() == 0, () -> kept() + " are kept of a lost device");
        use(3, Pool.shape(one, LARGE));
        assertEquals(3, kept());
    }

    @Test
    void shouldKeepWhatOtherDevicesHaveWhenOneIsLost() throws IOException {
        Bundle ofOne = pool.obtain(Pool.shape(one, 4096));
        pool.giveBack(ofOne);
        use(1, Pool.shape(other, 4096));
        lose(other);
        RawPeer.await(() -> kept() == 1, () -> kept() + " are kept");
        assertSame(ofOne, pool.obtain(Pool.shape(one, 4096)));
        pool.giveBack(ofOne);
    }

    /** A connection that was closed before the device was lost, and whose queue pair takes long to destroy. */
    @Test
    void shouldNotKeepWhatComesBackAfterItsDeviceWasLost() throws IOException {
        Bundle late = pool.obtain(Pool.shape(other, 4096));
        lose(other);
        pool.giveBack(late);
        assertEquals(0, kept());
        ErrnoException e = assertThrows(ErrnoException.class, () -> pool.obtain(Pool.shape(other, 4096)));
        assertEquals(Errno.ENODEV, e.errno());
    }
}
