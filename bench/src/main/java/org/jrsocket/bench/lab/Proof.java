/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the RDMA device and IP say they moved: a number over RDMA counts only if the device agrees. rxe counts packets,
 * acknowledgements among them.
 */
public record Proof(long packets, long ipBytes) {

    private static final Path PACKETS = Path.of("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts");
    private static final int PACKET_BYTES = 4096;
    /** What goes over IP whatever is measured: perftest's own exchange, and little else. */
    private static final long IP_NOISE = 64 * 1024;
    /** What the device may still send of the sample before: fewer than any sample over RDMA needs. */
    private static final long PACKET_NOISE = 8;

    public static Proof now() throws IOException {
        return new Proof(Long.parseLong(Files.readString(PACKETS).trim()), ipBytesSent());
    }

    private static long ipBytesSent() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/net/netstat"));
        for (int i = 0; i + 1 < lines.size(); i++) {
            if (lines.get(i).startsWith("IpExt:")) {
                int at = List.of(lines.get(i).split(" ")).indexOf("OutOctets");
                return Long.parseLong(lines.get(i + 1).split(" ")[at]);
            }
        }
        throw new IOException("no IpExt in /proc/net/netstat");
    }

    public Proof since(Proof before) {
        return new Proof(packets - before.packets, ipBytes - before.ipBytes);
    }

    /** Whether this moved as {@code operations} of {@code row} over RDMA or TCP must; null, or what is wrong. */
    String doubt(Row row, long operations, boolean rdma) {
        if (row.kind == Row.Kind.IDLE) {
            return null;
        }
        long payload = row.payload(operations);
        long packetsEach = ((long) row.size + PACKET_BYTES - 1) / PACKET_BYTES;
        // Small writes of a stream may share packets; the messages of a round trip cannot.
        long leastPackets = row.kind == Row.Kind.RTT || row.kind == Row.Kind.CONNECTS
                ? 2 * operations * packetsEach
                : payload / PACKET_BYTES;
        if (rdma && packets < leastPackets) {
            return "the device sent " + packets + " packets, " + leastPackets + " at least were needed; IP sent "
                    + ipBytes + " bytes";
        }
        if (rdma && ipBytes > payload / 10 + IP_NOISE) {
            return "IP sent " + ipBytes + " bytes for a payload of " + payload;
        }
        if (!rdma && (ipBytes < payload || packets > PACKET_NOISE)) {
            return "IP sent " + ipBytes + " bytes for a payload of " + payload + ", the RDMA device " + packets
                    + " packets";
        }
        return null;
    }
}
