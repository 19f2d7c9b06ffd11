/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class ConnDataTest {

    private static final String CLIENT = "01020180" + "000000" + "00" + "00007f1000001000" + "00000a01" + "00000002"
            + "00007f1000100000" + "00000a02" + "00010000";
    private static final String SERVER = "01020180" + "000000" + "00" + "00007f2000001000" + "00000b01" + "00000002"
            + "00007f2000100000" + "00000b02" + "00010000";

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static ConnData client(int flags) {
        return new ConnData(1, flags, 384, 0, 0x7f1000001000L, 0xa01, 2, 0x7f1000100000L, 0xa02, 65536, false, 0);
    }

    private static byte[] valid() {
        return client(ConnData.IOMAP).withFeatures(ConnData.FEATURE_RESET).encode();
    }

    private static WireException refused(Consumer<ByteBuffer> change) {
        byte[] data = valid();
        change.accept(ByteBuffer.wrap(data));
        return assertThrows(WireException.class, () -> ConnData.parse(data));
    }

    private static ConnData accepted(Consumer<ByteBuffer> change) throws WireException {
        byte[] data = valid();
        change.accept(ByteBuffer.wrap(data));
        return ConnData.parse(data);
    }

    private static void assertNames(WireException e, String field, String value) {
        assertTrue(e.getMessage().startsWith("rsocket: " + field + " is "), e.getMessage());
        assertTrue(e.getMessage().contains(value), e.getMessage());
    }

    @Test
    void shouldWriteTheWorkedExampleByteForByte() {
        assertEquals(CLIENT, HexFormat.of().formatHex(client(ConnData.IOMAP).encode()));
    }

    @Test
    void shouldReadTheWorkedExampleOutOfAPaddedRequestAndAnswer() throws WireException {
        assertEquals(client(ConnData.IOMAP), ConnData.parse(Arrays.copyOf(bytes(CLIENT), 56)));
        ConnData server = ConnData.parse(Arrays.copyOf(bytes(SERVER), 196));
        assertEquals(
                new ConnData(
                        1, ConnData.IOMAP, 384, 0, 0x7f2000001000L, 0xb01, 2, 0x7f2000100000L, 0xb02, 65536, false, 0),
                server);
        assertFalse(server.isBigEndian());
        assertFalse(server.hasExtension());
        assertFalse(server.hasFeature(ConnData.FEATURE_RESET));
    }

    @Test
    void shouldDeclareThisMachinesByteOrderAndNoIomap() {
        ConnData local = ConnData.local(384, 0x7f1000001000L, 0xa01, 2, 0x7f1000100000L, 0xa02, 65536);
        assertEquals(Grant.BIG_ENDIAN_HOST, local.isBigEndian());
        assertEquals(Grant.BIG_ENDIAN_HOST ? 3 : 2, local.encode()[1]);
        assertEquals(0, local.encode()[7]);
        assertEquals(40, local.encode().length);
        assertTrue(client(ConnData.NET).isBigEndian());
    }

    @Test
    void shouldCarryTheExtensionInTheSixteenSpareBytesOfARequest() throws WireException {
        ConnData sent = client(ConnData.IOMAP).withFeatures(0x8001);
        byte[] encoded = sent.encode();
        assertEquals(56, encoded.length);
        assertEquals(CLIENT, HexFormat.of().formatHex(encoded, 0, 40));
        assertEquals(
                "4a525331" + "10" + "01" + "8001" + "00000000" + "5aeea108",
                HexFormat.of().formatHex(encoded, 40, 56));
        for (byte[] received : new byte[][] {encoded, Arrays.copyOf(encoded, 196)}) {
            ConnData read = ConnData.parse(received);
            assertEquals(sent, read);
            assertTrue(read.hasExtension());
            assertEquals(0x8001, read.features());
            assertTrue(read.hasFeature(ConnData.FEATURE_RESET));
            assertTrue(read.hasFeature(0x8001));
            assertFalse(read.hasFeature(0x0003));
        }
    }

    @Test
    void shouldTakeAnExtensionWithoutFeaturesAsAPeerOfOurs() throws WireException {
        ConnData read = ConnData.parse(client(0).withFeatures(0).encode());
        assertTrue(read.hasExtension());
        assertEquals(0, read.features());
    }

    @Test
    void shouldTakeAnExtensionDamagedInAnyBitAsNone() throws WireException {
        byte[] good = valid();
        ConnData plain = client(ConnData.IOMAP);
        for (int bit = 40 * 8; bit < 56 * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            assertEquals(plain, ConnData.parse(bad), "bit " + bit);
        }
        byte[] otherData = good.clone();
        otherData[5] = 1; // a reserved byte: C ignores it, the checksum does not
        assertEquals(plain, ConnData.parse(otherData));
    }

    @Test
    void shouldTakeAnUndamagedExtensionOfAnotherKindAsNone() throws WireException {
        for (int field : new int[] {40, 44, 45}) { // magic, length, version
            byte[] other = valid();
            other[field]++;
            CRC32 crc = new CRC32();
            crc.update(other, 0, 52);
            ByteBuffer.wrap(other).putInt(52, (int) crc.getValue());
            assertEquals(client(ConnData.IOMAP), ConnData.parse(other), "field at " + field);
        }
    }

    @Test
    void shouldTakeATruncatedExtensionAsNone() throws WireException {
        for (int length = 40; length < 56; length++) {
            assertEquals(client(ConnData.IOMAP), ConnData.parse(Arrays.copyOf(valid(), length)), "length " + length);
        }
    }

    @Test
    void shouldRefuseFewerThanFortyBytes() {
        for (int length = 0; length < 40; length++) {
            byte[] data = Arrays.copyOf(valid(), length);
            assertNames(
                    assertThrows(WireException.class, () -> ConnData.parse(data)),
                    "private data length",
                    "is " + length);
        }
    }

    @Test
    void shouldRefuseEveryVersionButOne() {
        for (int version = 0; version < 256; version++) {
            byte value = (byte) version;
            if (version != 1) {
                assertNames(refused(b -> b.put(0, value)), "version", "is " + version);
            }
        }
    }

    @Test
    void shouldIgnoreUnknownFlagsAndReservedBytes() throws WireException {
        ConnData read = accepted(
                b -> b.put(1, (byte) 0xfe).put(4, (byte) 1).put(5, (byte) 2).put(6, (byte) 3));
        assertEquals(client(ConnData.IOMAP), read);
    }

    @Test
    void shouldReadCreditsUnsignedAndRefuseNone() throws WireException {
        assertEquals(65535, accepted(b -> b.putShort(2, (short) -1)).credits());
        assertEquals(1, accepted(b -> b.putShort(2, (short) 1)).credits());
        assertNames(refused(b -> b.putShort(2, (short) 0)), "credits", "is 0");
    }

    @Test
    void shouldReadTheIomapSizeScaledAndOnlyIfTheFlagSaysSo() throws WireException {
        assertEquals(0, accepted(b -> b.put(1, (byte) 0).put(7, (byte) 9)).iomapSize());
        assertEquals(9, accepted(b -> b.put(7, (byte) 9)).iomapSize());
        assertEquals(128, accepted(b -> b.put(7, (byte) 128)).iomapSize());
        assertEquals(256, accepted(b -> b.put(7, (byte) 129)).iomapSize());
        assertEquals(0x7f00, accepted(b -> b.put(7, (byte) 0xff)).iomapSize());
        for (int scaled = 0; scaled < 256; scaled++) {
            byte value = (byte) scaled;
            assertEquals(value, accepted(b -> b.put(7, value)).encode()[7]);
        }
    }

    @Test
    void shouldRefuseAGrantTableThatIsTooSmallOrTooLarge() throws WireException {
        assertEquals(2, accepted(b -> b.putInt(20, 2)).targetLength());
        assertEquals(1024, accepted(b -> b.putInt(20, 1024)).targetLength());
        assertNames(refused(b -> b.putInt(20, 0)), "target_sgl.length", "is 0");
        assertNames(refused(b -> b.putInt(20, 1)), "target_sgl.length", "is 1");
        assertNames(refused(b -> b.putInt(20, 1025)), "target_sgl.length", "is 1025");
        assertNames(refused(b -> b.putInt(20, -1)), "target_sgl.length", "is 4294967295");
        assertNames(refused(b -> b.putInt(20, Integer.MIN_VALUE)), "target_sgl.length", "is 2147483648");
    }

    @Test
    void shouldRefuseAGrantTableBeyondTheEndOfMemory() throws WireException {
        assertEquals(-33, accepted(b -> b.putLong(8, -33)).targetAddr());
        assertNames(refused(b -> b.putLong(8, -32)), "target_sgl.addr", "0xffffffffffffffe0");
        assertNames(refused(b -> b.putLong(8, -1)), "target_sgl.addr", "0xffffffffffffffff");
        assertEquals(Long.MAX_VALUE, accepted(b -> b.putLong(8, Long.MAX_VALUE)).targetAddr());
    }

    @Test
    void shouldRefuseADataBufferThatCannotExist() throws WireException {
        assertEquals(0, accepted(b -> b.putInt(36, 0)).dataLength());
        assertEquals(
                Integer.MAX_VALUE,
                accepted(b -> b.putInt(36, Integer.MAX_VALUE)).dataLength());
        assertNames(refused(b -> b.putInt(36, Integer.MIN_VALUE)), "data_buf.length", "is 2147483648");
        assertNames(refused(b -> b.putInt(36, -1)), "data_buf.length", "is 4294967295");
        assertEquals(-65537, accepted(b -> b.putLong(24, -65537)).dataAddr());
        assertNames(refused(b -> b.putLong(24, -65536)), "data_buf.addr", "0xffffffffffff0000");
        assertEquals(-1, accepted(b -> b.putLong(24, -1).putInt(36, 0)).dataAddr());
    }

    @Test
    void shouldRefuseToSendWhatItWouldRefuseToReceive() {
        assertThrows(IllegalArgumentException.class, () -> ConnData.local(0, 0, 0, 2, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> ConnData.local(65536, 0, 0, 2, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> ConnData.local(1, 0, 0, 1, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> ConnData.local(1, 0, 0, 2, 0, 0, -1));
        assertThrows(IllegalArgumentException.class, () -> new ConnData(2, 2, 1, 0, 0, 0, 2, 0, 0, 0, false, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnData(1, 1, 1, 5, 0, 0, 2, 0, 0, 0, false, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnData(1, 2, 1, -1, 0, 0, 2, 0, 0, 0, false, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnData(1, 2, 1, 0x7f01, 0, 0, 2, 0, 0, 0, false, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConnData(1, 2, 1, 0, 0, 0, 2, 0, 0, 0, false, 1));
        assertThrows(IllegalArgumentException.class, () -> client(0).withFeatures(0x10000));
    }

    @Test
    void shouldDescribeItselfWithoutItsKeys() {
        String text = client(ConnData.IOMAP).withFeatures(1).toString();
        assertTrue(text.contains("credits 384") && text.contains("features 0x1"), text);
        assertFalse(
                text.contains("a01") || text.contains("a02") || text.contains("2561") || text.contains("2562"), text);
        assertFalse(client(0).toString().contains("JRS1"));
    }

    @Test
    void shouldNotKeepOrChangeTheBytesItParsed() throws WireException {
        byte[] data = valid();
        byte[] copy = data.clone();
        ConnData read = ConnData.parse(data);
        assertArrayEquals(copy, data);
        Arrays.fill(data, (byte) 0);
        assertArrayEquals(copy, read.encode());
    }
}
