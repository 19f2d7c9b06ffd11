/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.jrsocket.endpoint.OpenDevices;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.EventFd;
import org.jrsocket.verbs.Device;
import org.junit.jupiter.api.Test;

/** Devices whose events cannot be had. */
class OpenDevicesTest extends RawPeerTests {

    private final Device device = mock(Device.class);

    private OpenDevices devices() {
        when(device.name()).thenReturn("troubled");
        OpenDevices devices = new OpenDevices(
                transport.services().service,
                transport.services().bundles,
                transport.services().inlineLimits,
                () -> {},
                mock(OpenDevices.Users.class));
        later(devices::end);
        return devices;
    }

    @Test
    void shouldTryAgainToListenToADeviceWithTheNextConnection() throws Exception {
        OpenDevices devices = devices();
        when(device.asyncFd()).thenReturn(-1); // as if the process could watch no more
        devices.opened(device);
        passTheServiceThread();
        assertEquals(0, devices.count());
        try (EventFd events = new EventFd()) {
            when(device.asyncFd()).thenReturn(events.fd());
            for (int connection = 0; connection < 2; connection++) {
                devices.opened(device);
                passTheServiceThread();
                assertEquals(1, devices.count());
            }
            devices.end();
            passTheServiceThread();
        }
    }

    @Test
    void shouldSayThatTheWildcardIsNoDevicesAddress() throws Exception {
        InetAddress wildcard = InetAddress.getByName("0.0.0.0");
        ErrnoException e = assertThrows(ErrnoException.class, () -> transport.tryQueuePair(wildcard, CONFIG));
        assertEquals(Errno.ENODEV, e.errno());
    }

    /** Else the service thread would do nothing but fail to read them. */
    @Test
    void shouldListenNoMoreToADeviceWhoseEventsCannotBeRead() throws Exception {
        OpenDevices devices = devices();
        try (EventFd events = new EventFd()) {
            when(device.asyncFd()).thenReturn(events.fd());
            when(device.takeAsyncEvent()).thenThrow(new IOException("as the test wants"));
            devices.opened(device);
            passTheServiceThread();
            assertEquals(1, devices.count());
            List<String> warnings = warningsIn(() -> {
                events.signal();
                RawPeer.await(() -> devices.count() == 0, () -> "it listens still");
                passTheServiceThread();
            });
            assertEquals(1, warnings.size(), warnings.toString());
            assertTrue(warnings.get(0).contains("troubled"), warnings.toString());
            verify(device).takeAsyncEvent(); // once, though the descriptor is readable still
        }
    }
}
