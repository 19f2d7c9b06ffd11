/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Reads what the kernel's files say about RDMA devices. A device may go at any moment: what is not there is empty, and
 * never an error. Safe for use by many threads; under a security manager callers have to provide the rights.
 */
public final class Sysfs {

    /** The folder of the devices. */
    public static final Path DEVICES = Path.of("/sys/class/infiniband");

    /** {@code RDMA_NODE_IB_CA}: InfiniBand and RoCE. */
    private static final String CHANNEL_ADAPTER_NODE = "1:";
    /** {@code RDMA_NODE_RNIC}. */
    private static final String IWARP_NODE = "4:";
    /** {@code IB_PORT_ACTIVE}. */
    private static final String ACTIVE_STATE = "4:";

    private static final HexFormat HEX = HexFormat.of();

    private Sysfs() {}

    /** Returns the names in a folder, in alphabetical order; none if there is no such folder. */
    public static List<String> names(Path folder) {
        String[] names = folder.toFile().list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        return List.of(names);
    }

    /** Returns the text of a file, without white space at its ends; empty if it cannot be read. */
    public static String text(Path file) {
        try (FileInputStream in = new FileInputStream(file.toFile())) { // at half the cost of Files.readString
            return new String(in.readAllBytes(), UTF_8).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns whether the transport of a device is iWARP. */
    public static boolean isIwarp(Path device) {
        return text(device.resolve("node_type")).startsWith(IWARP_NODE);
    }

    /**
     * Returns whether the kernel's connection manager may know the device. It leaves out EFA and usNIC: to an address
     * of such a device there are no connections.
     */
    public static boolean hasConnections(Path device) {
        String type = text(device.resolve("node_type"));
        return type.isEmpty() || type.startsWith(CHANNEL_ADAPTER_NODE) || type.startsWith(IWARP_NODE);
    }

    /** Returns the folders of a device's ports. */
    public static List<Path> ports(Path device) {
        Path folder = device.resolve("ports");
        List<Path> ports = new ArrayList<>();
        for (String name : names(folder)) {
            ports.add(folder.resolve(name));
        }
        return ports;
    }

    /** Returns the folder of one of the ports, whose number is from 1. */
    public static Path port(Path device, int number) {
        return device.resolve("ports").resolve(Integer.toString(number));
    }

    /** Returns the state of a port, for {@link #isActive}; empty if it cannot be read. */
    public static String state(Path port) {
        return text(port.resolve("state"));
    }

    /** Returns whether a port in this {@link #state} is up. */
    public static boolean isActive(String state) {
        return state.startsWith(ACTIVE_STATE);
    }

    /** Returns the folder of a port's GID table: one file for each entry, numbered from 0, filled or not. */
    public static Path gids(Path port) {
        return port.resolve("gids");
    }

    /** Returns the entry of an address of RoCE in the {@linkplain #gids table}. */
    public static String gid(InetAddress address) {
        byte[] bytes = address.getAddress();
        StringBuilder gid = new StringBuilder(bytes.length == 4 ? "0000:0000:0000:0000:0000:ffff" : "");
        for (int i = 0; i < bytes.length; i += 2) {
            gid.append(gid.length() == 0 ? "" : ":")
                    .append(HEX.toHexDigits(bytes[i]))
                    .append(HEX.toHexDigits(bytes[i + 1]));
        }
        return gid.toString();
    }

    /**
     * Returns the folder of a port's GID table that has an attribute of its entries: {@code types} or {@code ndevs}.
     */
    public static Path gidAttributes(Path port, String attribute) {
        return port.resolve("gid_attrs").resolve(attribute);
    }

    /** Returns the network interfaces of the adapter that a device is part of. */
    public static List<String> interfaces(Path device) {
        return names(device.resolve("device").resolve("net"));
    }
}
