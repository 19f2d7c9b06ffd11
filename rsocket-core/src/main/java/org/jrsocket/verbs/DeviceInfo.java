/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.net.InetAddress;
import java.util.List;

/**
 * What a device says about itself, read once; see {@code ibv_query_device(3)} and {@code ibv_query_port(3)}.
 *
 * @param name the kernel's name, for example {@code rxe0} or {@code mlx5_0}
 * @param iwarp whether the transport is iWARP (no RDMA write with immediate data)
 * @param firmware the firmware version, may be empty
 * @param maxQp how many queue pairs the device can have
 * @param maxQpWr how many work requests a queue can hold
 * @param maxCqe how many entries a completion queue can hold
 * @param maxMr how many memory regions the device can have
 * @param ports its ports, the first of which has number 1
 */
public record DeviceInfo(
        String name, boolean iwarp, String firmware, int maxQp, int maxQpWr, int maxCqe, int maxMr, List<Port> ports) {

    /**
     * @param number from 1
     * @param active whether the state is {@code IBV_PORT_ACTIVE}
     * @param state the state's name as {@code ibv_port_state_str} gives it
     * @param ethernet whether the link layer is Ethernet (RoCE), rather than InfiniBand
     * @param activeMtu bytes of payload in one packet: 256 to 4096
     * @param gids the entries of the GID table that are not zero
     */
    public record Port(int number, boolean active, String state, boolean ethernet, int activeMtu, List<Gid> gids) {}

    /**
     * @param index in the port's GID table
     * @param type as sysfs names it: {@code "RoCE v2"}, {@code "IB/RoCE v1"}
     * @param address the GID as an address; an IPv4-mapped one as IPv4
     */
    public record Gid(int index, String type, InetAddress address) {}
}
