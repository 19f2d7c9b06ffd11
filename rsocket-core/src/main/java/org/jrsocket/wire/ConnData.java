/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import java.nio.ByteBuffer;

/**
 * What each side says about itself in the private data of the CM's REQ and REP: C's {@code rs_conn_data}, 40 bytes in
 * network order, followed, where C does not look, by our own extension of 16 bytes. Immutable.
 *
 * <pre>
 *  0 version 1 | 1 flags 1 | 2 credits 2 | 4 reserved 3 | 7 iomap size (scaled) 1
 *  8 target_sgl: addr 8, key 4, length 4 (a count of entries)
 * 24 data_buf:   addr 8, key 4, length 4 (half of the ring, in bytes)
 * 40 extension:  "JRS1" 4 | length 1 | version 1 | features 2 | reserved 4 | CRC32 of bytes 0 to 51, 4
 * </pre>
 *
 * <p>IB and RoCE pad private data with zeros to a fixed size, and the receiver cannot tell what was really sent; hence
 * magic and checksum. A block that is absent, of another version or damaged counts as no extension, and is never an
 * error.
 *
 * @param version of the protocol, 1
 * @param flags {@link #NET} and {@link #IOMAP}; other flags are ignored on receipt
 * @param credits data messages that the other side may send at first, 1 to 65535
 * @param iomapSize entries of the iomap table; 0 unless {@link #IOMAP} is set
 * @param targetAddr where the other side writes its grants
 * @param targetKey the remote key for the grants
 * @param targetLength how many grants fit there, {@value #MIN_ENTRIES} to {@value #MAX_ENTRIES}
 * @param dataAddr the first grant: where the other side's data goes at first
 * @param dataKey the remote key for the first grant
 * @param dataLength bytes of the first grant; 0 means "none yet"
 * @param hasExtension whether the sender is one of ours
 * @param features {@code FEATURE_} bits; 0 without the extension
 */
public record ConnData(
        int version,
        int flags,
        int credits,
        int iomapSize,
        long targetAddr,
        int targetKey,
        int targetLength,
        long dataAddr,
        int dataKey,
        int dataLength,
        boolean hasExtension,
        int features) {

    /** The only version; there is no negotiation and no fallback. */
    public static final int VERSION = 1;
    /** Flag: the sender reads grants in big-endian order. */
    public static final int NET = 1;
    /** Flag: the iomap size field is set. */
    public static final int IOMAP = 1 << 1;
    /**
     * The flags that this machine declares. C loses its other options if the order declared here differs from its own,
     * so it must be the truth.
     */
    public static final int LOCAL_FLAGS = IOMAP | (Grant.BIG_ENDIAN_HOST ? NET : 0);

    /**
     * Feature: the sender understands {@link Imm#CTRL_RESET}, an abortive close that its peer sees as "connection
     * reset".
     */
    public static final int FEATURE_RESET = 1;

    /** Feature: the sender understands {@link Imm#CTRL_RELEASE}, with which an idle peer gives memory back. */
    public static final int FEATURE_RELEASE = 1 << 1;

    /**
     * Mark of a request: the sender does not want a connection, only to know whether there could be one. A listener of
     * ours refuses it as {@link Refusal#PROBED}; others do not know the mark.
     */
    public static final int FEATURE_PROBE = 1 << 2;

    /** Size of C's structure in bytes. */
    public static final int SIZE = 40;
    /** Size of our extension in bytes, which is all that a REQ has room for. */
    public static final int EXTENSION_SIZE = OwnBlock.SIZE;

    /** C's own table has two entries, and its writes start at the second. */
    public static final int MIN_ENTRIES = 2;
    /** Nobody needs more; the limit keeps a broken count from becoming a stride through the peer's memory. */
    public static final int MAX_ENTRIES = 1024;

    private static final int SCALED = 0x80;
    private static final int MAX_IOMAP = 0x7f << 8;

    /** @throws IllegalArgumentException where {@link #parse} would refuse the same value from a peer */
    public ConnData {
        try {
            check(version, credits, targetAddr, targetLength, dataAddr, dataLength);
        } catch (WireException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        flags &= NET | IOMAP;
        if (iomapSize < 0 || iomapSize > MAX_IOMAP || iomapSize != 0 && (flags & IOMAP) == 0) {
            throw new IllegalArgumentException("iomap size " + iomapSize + " with flags " + flags);
        }
        if ((features & ~0xffff) != 0 || features != 0 && !hasExtension) {
            throw new IllegalArgumentException("features 0x" + Integer.toHexString(features));
        }
    }

    /** Returns what this machine sends: without an iomap, and without an extension until {@link #withFeatures}. */
    public static ConnData local(
            int credits, long targetAddr, int targetKey, int targetLength, long dataAddr, int dataKey, int dataLength) {
        return new ConnData(
                VERSION,
                LOCAL_FLAGS,
                credits,
                0,
                targetAddr,
                targetKey,
                targetLength,
                dataAddr,
                dataKey,
                dataLength,
                false,
                0);
    }

    /** Returns a copy with our extension. To be used in a REP only if the REQ carried one. */
    public ConnData withFeatures(int newFeatures) {
        return new ConnData(
                version,
                flags,
                credits,
                iomapSize,
                targetAddr,
                targetKey,
                targetLength,
                dataAddr,
                dataKey,
                dataLength,
                true,
                newFeatures);
    }

    /** Returns whether the sender announced all of {@code bits}. */
    public boolean hasFeature(int bits) {
        return (features & bits) == bits;
    }

    /** Returns whether the sender reads grants in big-endian order; see {@link Grant#put}. */
    public boolean isBigEndian() {
        return (flags & NET) != 0;
    }

    /** Returns the 40 bytes of the message, or 56 with the extension. */
    public byte[] encode() {
        byte[] bytes = new byte[hasExtension ? SIZE + EXTENSION_SIZE : SIZE];
        ByteBuffer out = ByteBuffer.wrap(bytes);
        out.put((byte) version)
                .put((byte) flags)
                .putShort((short) credits)
                .put(new byte[3])
                .put((byte) scale(iomapSize));
        out.putLong(targetAddr).putInt(targetKey).putInt(targetLength);
        out.putLong(dataAddr).putInt(dataKey).putInt(dataLength);
        if (hasExtension) {
            OwnBlock.put(bytes, SIZE, features);
        }
        return bytes;
    }

    /**
     * Parses what a peer sent, with every check that needs no knowledge of the connection.
     *
     * @param privateData the private data as the CM reported it; bytes beyond ours are padding
     * @throws WireException if a field is not what rsocket v1 allows; the message names it
     */
    public static ConnData parse(byte[] privateData) throws WireException {
        if (privateData.length < SIZE) {
            throw new WireException(
                    "private data length",
                    Integer.toString(privateData.length),
                    "at least " + SIZE + " bytes are needed");
        }
        ByteBuffer in = ByteBuffer.wrap(privateData);
        int version = Byte.toUnsignedInt(in.get(0));
        int flags = in.get(1);
        int credits = Short.toUnsignedInt(in.getShort(2));
        int iomapSize = (flags & IOMAP) != 0 ? descale(Byte.toUnsignedInt(in.get(7))) : 0;
        long targetAddr = in.getLong(8);
        int targetLength = in.getInt(20);
        long dataAddr = in.getLong(24);
        int dataLength = in.getInt(36);
        check(version, credits, targetAddr, targetLength, dataAddr, dataLength);
        int features = OwnBlock.value(privateData, SIZE);
        return new ConnData(
                version,
                flags,
                credits,
                iomapSize,
                targetAddr,
                in.getInt(16),
                targetLength,
                dataAddr,
                in.getInt(32),
                dataLength,
                features >= 0,
                Math.max(features, 0));
    }

    private static void check(
            int version, int credits, long targetAddr, int targetLength, long dataAddr, int dataLength)
            throws WireException {
        if (version != VERSION) {
            throw new WireException("version", Integer.toString(version), "only " + VERSION + " is known");
        }
        if (credits < 1 || credits > Credits.MASK) {
            throw new WireException("credits", Integer.toString(credits), "1 to " + Credits.MASK + " are possible");
        }
        if (targetLength < MIN_ENTRIES || targetLength > MAX_ENTRIES) {
            throw new WireException(
                    "target_sgl.length",
                    Integer.toUnsignedString(targetLength),
                    MIN_ENTRIES + " to " + MAX_ENTRIES + " entries are accepted");
        }
        if (!Grant.isSound(targetAddr, targetLength * Grant.SIZE)) {
            throw new WireException(
                    "target_sgl.addr", hex(targetAddr), targetLength + " entries there pass the end of memory");
        }
        if (dataLength < 0) {
            throw new WireException(
                    "data_buf.length",
                    Integer.toUnsignedString(dataLength),
                    "at most " + Integer.MAX_VALUE + " is accepted");
        }
        if (!Grant.isSound(dataAddr, dataLength)) {
            throw new WireException("data_buf.addr", hex(dataAddr), dataLength + " bytes there pass the end of memory");
        }
    }

    // C's own scaling: values from 129 to 255 come back as 128.

    private static int scale(int iomapSize) {
        return iomapSize <= SCALED ? iomapSize : SCALED | iomapSize >> 8;
    }

    private static int descale(int scaled) {
        return scaled <= SCALED ? scaled : (scaled & ~SCALED) << 8;
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    /** Returns one line for logs, without the keys, because they give access to memory. */
    @Override
    public String toString() {
        return "version " + version + ", flags " + flags + ", credits " + credits + ", iomap " + iomapSize
                + ", target_sgl " + hex(targetAddr) + " of "
                + targetLength + " entries, data_buf " + hex(dataAddr) + " of " + dataLength + " bytes"
                + (hasExtension ? ", JRS1 features 0x" + Integer.toHexString(features) : "");
    }
}
