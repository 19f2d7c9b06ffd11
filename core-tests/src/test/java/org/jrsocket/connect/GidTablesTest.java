/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which devices' addresses count as addresses of RDMA, by what sysfs says of them. */
class AdaptersTest {

    @TempDir
    Path sys;

    private void device(String name, String type, String state) throws IOException {
        Path port = Files.createDirectories(sys.resolve(name).resolve("ports").resolve("1"));
        Files.writeString(sys.resolve(name).resolve("node_type"), type + "\n");
        Files.writeString(port.resolve("state"), state + "\n");
        Path interfaces = Files.createDirectories(port.resolve("gid_attrs").resolve("ndevs"));
        Files.writeString(interfaces.resolve("0"), "lo\n");
    }

    /** EFA and usNIC belong to network interfaces, too. */
    @Test
    void shouldTakeTheAddressesOfPortsThatAreUpAndMakeConnections() throws IOException {
        device("efa_0", "7: unspecified", "4: ACTIVE");
        device("mlx5_0", "1: CA", "4: ACTIVE");
        device("mlx5_1", "1: CA", "1: DOWN");
        device("usnic_0", "6: usNIC UDP", "4: ACTIVE");
        Set<String> devices =
                Adapters.read(sys).stream().map(Adapters.Local::device).collect(Collectors.toSet());
        assertEquals(Set.of("mlx5_0"), devices);
    }
}
