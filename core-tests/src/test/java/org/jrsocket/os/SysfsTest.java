/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SysfsTest {

    @TempDir
    private Path folder;

    private Path write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        return Files.writeString(path, text);
    }

    @Test
    void shouldListDevicesAndPortsInOrder() throws IOException {
        write("rxe1/ports/1/state", "1: DOWN\n");
        write("mlx5_0/ports/2/state", "4: ACTIVE\n");
        write("mlx5_0/ports/1/state", "1: DOWN\n");
        assertEquals(List.of("mlx5_0", "rxe1"), Sysfs.names(folder));
        Path device = folder.resolve("mlx5_0");
        List<Path> ports = List.of(Sysfs.port(device, 1), Sysfs.port(device, 2));
        assertEquals(ports, Sysfs.ports(device));
        assertFalse(Sysfs.isActive(Sysfs.state(ports.get(0))));
        assertTrue(Sysfs.isActive(Sysfs.state(ports.get(1))));
    }

    @Test
    void shouldTellIwarpByTheTypeOfTheNode() throws IOException {
        write("siw0/node_type", "4: RNIC\n");
        write("rxe0/node_type", "1: CA\n");
        assertTrue(Sysfs.isIwarp(folder.resolve("siw0")));
        assertFalse(Sysfs.isIwarp(folder.resolve("rxe0")));
    }

    @Test
    void shouldBeEmptyOfADeviceThatIsGone() {
        Path gone = folder.resolve("gone");
        assertEquals(List.of(), Sysfs.names(gone));
        assertEquals(List.of(), Sysfs.ports(gone));
        assertEquals(List.of(), Sysfs.interfaces(gone));
        assertEquals("", Sysfs.state(Sysfs.port(gone, 1)));
        assertFalse(Sysfs.isActive(""));
        assertFalse(Sysfs.isIwarp(gone));
    }

    @Test
    void shouldWriteAddressesAsTheKernelWritesGids() throws IOException {
        assertEquals("0000:0000:0000:0000:0000:ffff:0aff:0001", Sysfs.gid(InetAddress.getByName("10.255.0.1")));
        assertEquals("fd00:0007:0000:0000:0000:0000:0000:abcd", Sysfs.gid(InetAddress.getByName("fd00:7::abcd")));
    }
}
