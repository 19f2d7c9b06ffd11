/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What this network namespace has sent so far, by the kernel's own counters.
 *
 * @param rdmaPackets of all RDMA devices that count them
 * @param ipBytes of IP packets, TCP's among them. Traffic that an rxe device loops back to itself never becomes an IP
 *     packet
 */
public record Traffic(long rdmaPackets, long ipBytes) {

    /** The largest path MTU there is: no packet carries more payload. */
    private static final int MAX_PAYLOAD = 4096;

    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    public static Traffic now() {
        try {
            return new Traffic(packetsOfDevices(), octetsOfIp());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Traffic since(Traffic earlier) {
        return new Traffic(rdmaPackets - earlier.rdmaPackets, ipBytes - earlier.ipBytes);
    }

    /**
     * Asserts that {@code bytes} went over RDMA devices: packets enough to hold them were sent there, and IP did not
     * carry them. Either alone would prove nothing, because the devices count packets of any size.
     */
    public void assertRdmaCarried(long bytes) {
        assertTrue(rdmaPackets >= bytes / MAX_PAYLOAD, () -> this + " is too few RDMA packets for " + bytes + " bytes");
        assertTrue(ipBytes < bytes / 10, () -> this + " is too much IP traffic if RDMA carried " + bytes + " bytes");
    }

    /** Asserts that IP carried not as many. */
    public void assertIpCarriedLessThan(long bytes) {
        assertTrue(ipBytes < bytes, () -> this + " is IP traffic of " + bytes + " bytes or more");
    }

    /** Asserts that IP carried {@code bytes}. */
    public void assertIpCarried(long bytes) {
        assertTrue(ipBytes >= bytes, () -> this + " is too little IP traffic for " + bytes + " bytes");
    }

    private static long packetsOfDevices() throws IOException {
        long sum = 0;
        if (Files.isDirectory(DEVICES)) {
            try (DirectoryStream<Path> devices = Files.newDirectoryStream(DEVICES)) {
                for (Path device : devices) {
                    Path counter = device.resolve("ports/1/hw_counters/sent_pkts");
                    if (Files.isReadable(counter)) {
                        sum += Long.parseLong(Files.readString(counter).strip());
                    }
                }
            }
        }
        return sum;
    }

    private static long octetsOfIp() throws IOException {
        String[] names = {};
        for (String line : Files.readAllLines(Path.of("/proc/net/netstat"))) {
            if (line.startsWith("IpExt:")) {
                String[] fields = line.split(" ");
                if (names.length > 0) {
                    return Long.parseLong(fields[List.of(names).indexOf("OutOctets")]);
                }
                names = fields;
            }
        }
        throw new IOException("/proc/net/netstat has no IpExt: OutOctets");
    }
}
