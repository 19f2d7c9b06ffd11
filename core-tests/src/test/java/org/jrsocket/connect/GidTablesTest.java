/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrsocket.os.Sysfs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which devices' addresses count as addresses of RDMA, by what sysfs says of them. */
class GidTablesTest {

    private static final int ENTRIES = 32;
    private static final String EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000\n";

    @TempDir
    Path sys;

    private final Map<String, Map<InetAddress, Integer>> interfaces = new HashMap<>();
    private long now;
    private GidTables tables;

    @BeforeEach
    void begin() {
        tables = new GidTables(sys, () -> Map.copyOf(interfaces), () -> now);
    }

    private void device(String name, String type, String state) throws IOException {
        Path port = Files.createDirectories(port(name));
        Files.writeString(sys.resolve(name).resolve("node_type"), type + "\n");
        Files.writeString(port.resolve("state"), state + "\n");
        Files.createDirectories(Sysfs.gidAttributes(port, "ndevs"));
        Path table = Files.createDirectories(Sysfs.gids(port));
        for (int i = 0; i < ENTRIES; i++) {
            Files.writeString(table.resolve(Integer.toString(i)), EMPTY);
        }
    }

    private void roce(String name) throws IOException {
        device(name, "1: CA", "4: ACTIVE");
    }

    private Path port(String device) {
        return Sysfs.port(sys.resolve(device), 1);
    }

    /** Fills an entry of a device's table, as the kernel writes it. */
    private void entry(String device, int index, String gid, String networkInterface) throws IOException {
        String file = Integer.toString(index);
        Files.writeString(Sysfs.gids(port(device)).resolve(file), gid + "\n");
        Files.writeString(Sysfs.gidAttributes(port(device), "ndevs").resolve(file), networkInterface + "\n");
    }

    /** Gives an interface of this host the only address. */
    private void address(String networkInterface, String address, int length) throws IOException {
        interfaces.put(networkInterface, Map.of(InetAddress.getByName(address), length));
    }

    /** Returns what is found: device, address and the length of the prefix. */
    private List<String> found() throws IOException {
        return tables.read().stream()
                .map(each -> each.device() + " " + each.address().getHostAddress() + "/"
                        + each.network().length())
                .toList();
    }

    /** EFA and usNIC belong to network interfaces, too. */
    @Test
    void shouldTakeTheAddressesOfPortsThatAreUpAndMakeConnections() throws IOException {
        address("eth0", "10.0.0.1", 24);
        device("efa_0", "7: unspecified", "4: ACTIVE");
        device("mlx5_0", "1: CA", "4: ACTIVE");
        device("mlx5_1", "1: CA", "1: DOWN");
        device("usnic_0", "6: usNIC UDP", "4: ACTIVE");
        for (String name : Sysfs.names(sys)) {
            entry(name, 3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        }
        assertEquals(List.of("mlx5_0 10.0.0.1/24"), found());
    }

    /** RoCE v1 and v2 have an entry each, and a VLAN is an interface of its own. */
    @Test
    void shouldTakeEachAddressOnce() throws IOException {
        address("eth0", "10.0.0.1", 24);
        address("eth0.7", "fd00:7::abcd", 64);
        address("eth1", "10.0.1.1", 24);
        roce("mlx5_0");
        entry("mlx5_0", 0, "fe80:0000:0000:0000:0211:22ff:fe33:4455", "eth0");
        entry("mlx5_0", 2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        entry("mlx5_0", 3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        entry("mlx5_0", 4, "fd00:0007:0000:0000:0000:0000:0000:abcd", "eth0.7");
        assertEquals(List.of("mlx5_0 10.0.0.1/24", "mlx5_0 fd00:7:0:0:0:0:0:abcd/64"), found());
    }

    /** Where network namespaces share devices, a table has the entries of all of them, with the names they have there. */
    @Test
    void shouldNotTakeAnInterfaceOfAnotherNamespaceForItsNamesakeHere() throws IOException {
        address("eth0", "10.0.0.1", 24);
        address("eth1", "10.0.0.2", 24);
        roce("mlx5_0");
        entry("mlx5_0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        roce("mlx5_1");
        entry("mlx5_1", 0, "0000:0000:0000:0000:0000:ffff:0a00:0007", "eth0");
        entry("mlx5_1", 1, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth0"); // in use there as well
        assertEquals(List.of("mlx5_0 10.0.0.1/24"), found());
    }

    /** Many addresses came and went. */
    @Test
    void shouldFindAnEntryBehindManyEmptyOnes() throws IOException {
        address("eth0", "10.0.0.1", 24);
        roce("mlx5_0");
        entry("mlx5_0", ENTRIES - 1, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        assertEquals(List.of("mlx5_0 10.0.0.1/24"), found());
    }

    @Test
    void shouldTakeTheAdaptersInterfacesWhereGidsAreNoAddresses() throws IOException {
        address("ib0", "10.0.0.1", 24);
        address("eth5", "10.0.5.1", 24);
        roce("mlx4_0");
        entry("mlx4_0", 0, "fe80:0000:0000:0000:0002:c903:0029:fad1", "");
        Files.createDirectories(sys.resolve("mlx4_0/device/net/ib0"));
        device("siw0", "4: RNIC", "4: ACTIVE");
        entry("siw0", 0, "0211:2233:4455:0000:0000:0000:0000:0000", "eth5");
        assertEquals(List.of("mlx4_0 10.0.0.1/24", "siw0 10.0.5.1/24"), found());
    }

    /** A search reads hundreds of files. */
    @Test
    void shouldSearchAgainOnlyForAReason() throws IOException {
        address("eth0", "10.0.0.1", 24);
        roce("mlx5_0");
        assertEquals(List.of(), found());
        assertEquals(List.of(), found());
        entry("mlx5_0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        now += GidTables.SEARCH_NANOS - 1;
        assertEquals(List.of(), found());
        now++;
        assertEquals(List.of("mlx5_0 10.0.0.1/24"), found());
    }

    /** The process may have started just after an address was added. */
    @Test
    void shouldSearchOnceMoreAfterTheFirstSearch() throws IOException {
        address("eth0", "10.0.0.1", 24);
        roce("mlx5_0");
        assertEquals(List.of(), found());
        entry("mlx5_0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
        assertEquals(List.of("mlx5_0 10.0.0.1/24"), found());
    }

    @Test
    void shouldSearchAgainWhenAPortOrAnAddressHasChanged() throws IOException {
        address("eth0", "10.0.0.1", 24);
        roce("mlx5_0");
        assertEquals(List.of(), found());
        address("eth0", "10.0.0.2", 24);
        assertEquals(List.of(), found());
        entry("mlx5_0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth0"); // the kernel is a little later
        assertEquals(List.of("mlx5_0 10.0.0.2/24"), found());
        Files.writeString(port("mlx5_0").resolve("state"), "1: DOWN\n");
        assertEquals(List.of(), found());
    }
}
