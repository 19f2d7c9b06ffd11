/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.os.Sysfs;
import org.jrsocket.verbs.DeviceInfo;

/** Reads what a device says about itself. */
final class RdmaCoreInfo {

    // Elements of Native.portAttributes; device.c has the same order.
    private static final int STATE = 0;
    private static final int ETHERNET = 1;
    private static final int MTU = 2;
    private static final int GIDS = 3;
    private static final int ELEMENTS = 4;

    /** {@code IBV_PORT_ACTIVE}. */
    private static final int ACTIVE = 4;

    private RdmaCoreInfo() {}

    static DeviceInfo read(long device) throws IOException {
        String name = Native.deviceName(device);
        int[] attributes = new int[RdmaCoreDevice.ELEMENTS];
        check(Native.deviceAttributes(device, attributes), "ibv_query_device", name);
        String firmware = Native.deviceFirmware(device);
        List<DeviceInfo.Port> ports = new ArrayList<>();
        for (int number = 1; number <= attributes[RdmaCoreDevice.PORTS]; number++) {
            ports.add(port(device, name, number));
        }
        return new DeviceInfo(
                name,
                attributes[RdmaCoreDevice.IWARP] != 0,
                firmware == null ? "" : firmware,
                attributes[RdmaCoreDevice.MAX_QP],
                attributes[RdmaCoreDevice.MAX_QP_WR],
                attributes[RdmaCoreDevice.MAX_CQE],
                attributes[RdmaCoreDevice.MAX_MR],
                List.copyOf(ports));
    }

    private static DeviceInfo.Port port(long device, String name, int number) throws IOException {
        int[] attributes = new int[ELEMENTS];
        check(Native.portAttributes(device, number, attributes), "ibv_query_port", name + " port " + number);
        List<DeviceInfo.Gid> gids = new ArrayList<>();
        byte[] gid = new byte[16];
        for (int index = 0; index < attributes[GIDS]; index++) {
            if (Native.portGid(device, number, index, gid) < 0) {
                continue; // an entry that was never filled
            }
            InetAddress address = InetAddress.getByAddress(gid);
            if (!address.isAnyLocalAddress()) {
                gids.add(new DeviceInfo.Gid(index, gidType(name, number, index), address));
            }
        }
        return new DeviceInfo.Port(
                number,
                attributes[STATE] == ACTIVE,
                Native.portState(attributes[STATE]),
                attributes[ETHERNET] != 0,
                attributes[MTU],
                List.copyOf(gids));
    }

    private static String gidType(String device, int port, int index) {
        Path types = Sysfs.gidAttributes(Sysfs.port(Sysfs.DEVICES.resolve(device), port), "types");
        return Sysfs.text(types.resolve(Integer.toString(index))); // InfiniBand has none
    }
}
