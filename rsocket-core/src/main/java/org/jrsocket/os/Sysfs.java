/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the kernel's files say of RDMA devices. A device may go at any moment: what is not there is empty, and never an
 * error. Safe for use by many threads; callers see to the rights under a security manager.
 */
public final class Sysfs {

    /** The folder of the devices. */
    public static final Path DEVICES = Path.of("/sys/class/infiniband");

    /** {@code RDMA_NODE_RNIC}. */
    private static final String IWARP_NODE = "4:";
    /** {@code IB_PORT_ACTIVE}. */
    private static final String ACTIVE_STATE = "4:";

    private Sysfs() {}

    /** What is in a folder, in alphabetical order; nothing if there is no such folder. */
    public static List<String> names(Path folder) {
        String[] names = folder.toFile().list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        return List.of(names);
    }

    /** The text of a file, without white space at its ends; empty if it cannot be read. */
    public static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Whether the transport of a device is iWARP. */
    public static boolean isIwarp(Path device) {
        return text(device.resolve("node_type")).startsWith(IWARP_NODE);
    }

    /** The folders of a device's ports. */
    public static List<Path> ports(Path device) {
        Path folder = device.resolve("ports");
        List<Path> ports = new ArrayList<>();
        for (String name : names(folder)) {
            ports.add(folder.resolve(name));
        }
        return ports;
    }

    /** The folder of one of them, whose number is from 1. */
    public static Path port(Path device, int number) {
        return device.resolve("ports").resolve(Integer.toString(number));
    }

    /** For {@link #isActive}; empty if it cannot be read. */
    public static String state(Path port) {
        return text(port.resolve("state"));
    }

    /** Whether a port in this {@link #state} is up. */
    public static boolean isActive(String state) {
        return state.startsWith(ACTIVE_STATE);
    }

    /** The folder of a port's GID table that has an entry's attribute: {@code types} or {@code ndevs}. */
    public static Path gidAttributes(Path port, String attribute) {
        return port.resolve("gid_attrs").resolve(attribute);
    }

    /** The network interfaces of the adapter that a device is part of. */
    public static List<String> interfaces(Path device) {
        return names(device.resolve("device").resolve("net"));
    }
}
