/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RulesTest {

    private static Rules rules(String... lines) throws ConfigurationException {
        return RulesFile.parse("sdp.conf", Arrays.asList(lines));
    }

    private static Policy connect(Rules rules, String address, int port) throws IOException {
        return rules.match(Rules.Action.CONNECT, new InetSocketAddress(InetAddress.getByName(address), port));
    }

    @Test
    void shouldReadTheExamplesOfTheJdksSdpFile() throws Exception {
        Rules rules = rules(
                "# Enable SDP when binding to 192.0.2.1",
                "bind 192.0.2.1 *",
                "# Enable SDP when connecting to all application services on 192.0.2.*",
                "connect 192.0.2.0/24     1024-*",
                "",
                "\tconnect  192.0.3.7\t80  ");
        assertEquals(Policy.AUTO, connect(rules, "192.0.2.77", 1024));
        assertEquals(Policy.AUTO, connect(rules, "192.0.2.77", 65535));
        assertNull(connect(rules, "192.0.2.77", 1023));
        assertNull(connect(rules, "192.0.4.77", 1024));
        assertEquals(Policy.AUTO, connect(rules, "192.0.3.7", 80));
        assertNull(connect(rules, "192.0.3.7", 81));
        assertEquals(
                Policy.AUTO,
                rules.match(Rules.Action.BIND, new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 5)));
        assertNull(connect(rules, "192.0.2.1", 5));
    }

    @Test
    void shouldLetTheFirstMatchDecide() throws Exception {
        Rules rules = rules("connect 10.1.2.3 22 tcp", "connect 10.0.0.0/8 * rdma", "connect * 80-90 auto");
        assertEquals(Policy.TCP, connect(rules, "10.1.2.3", 22));
        assertEquals(Policy.RDMA, connect(rules, "10.1.2.3", 23));
        assertEquals(Policy.RDMA, connect(rules, "10.1.2.3", 85));
        assertEquals(Policy.AUTO, connect(rules, "fd00::1", 85));
        assertNull(connect(rules, "fd00::1", 91));
    }

    @Test
    void shouldMatchPrefixesThatEndWithinAByte() throws Exception {
        Rules rules = rules("connect 10.0.0.128/25 *", "connect fd00:0:0:8000::/49 *");
        assertEquals(Policy.AUTO, connect(rules, "10.0.0.200", 1));
        assertNull(connect(rules, "10.0.0.127", 1));
        assertEquals(Policy.AUTO, connect(rules, "fd00:0:0:ffff::1", 1));
        assertNull(connect(rules, "fd00:0:0:7fff::1", 1));
        assertEquals(Policy.AUTO, connect(rules("connect 0.0.0.0/0 *"), "1.2.3.4", 1));
    }

    @Test
    void shouldMatchAServerOnAllAddressesByEitherWildcard() throws Exception {
        for (String rule : new String[] {
            "bind 0.0.0.0 7470 rdma", "bind :: 7470 rdma", "bind 0.0.0.0/0 7470 rdma", "bind * 7470 rdma"
        }) {
            for (String all : new String[] {"0.0.0.0", "::"}) {
                InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(all), 7470);
                assertEquals(Policy.RDMA, rules(rule).match(Rules.Action.BIND, address), rule);
                assertNull(rules("bind 192.0.2.1 7470 rdma").match(Rules.Action.BIND, address));
            }
        }
        assertNull(rules("bind 0.0.0.0 7470 rdma")
                .match(Rules.Action.BIND, new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 7470)));
    }

    @Test
    void shouldMatchIpv4MappedAddressesAsIpv4() throws Exception {
        assertEquals(Policy.AUTO, connect(rules("connect 10.0.0.0/8 *"), "::ffff:10.1.1.1", 1));
    }

    @Test
    void shouldMatchEveryAddressOfAHostName() throws Exception {
        assertEquals(Policy.TCP, connect(rules("connect localhost * tcp"), "127.0.0.1", 1));
    }

    @Test
    void shouldNotFailForANameThatCannotBeLookedUp() throws Exception {
        assertNull(connect(rules("connect no-such-host.invalid *"), "127.0.0.1", 1));
    }

    private static boolean admit(Rules rules, String source, int port) throws IOException {
        return rules.admit(InetAddress.getByName(source), new InetSocketAddress("10.9.9.9", port), "mlx5_0");
    }

    @Test
    void shouldAdmitAllUntilThereIsAnAcceptRule() throws Exception {
        assertTrue(admit(Rules.NONE, "203.0.113.1", 80));
        assertTrue(admit(rules("bind * * tcp", "connect * * tcp"), "203.0.113.1", 80));
    }

    @Test
    void shouldAdmitOnlyThoseThatAnAcceptRuleNames() throws Exception {
        Rules rules = rules("accept 10.1.2.3 * tcp", "accept 10.0.0.0/8 5432", "accept fd00::/8 1024-* auto");
        assertTrue(admit(rules, "10.1.2.4", 5432));
        assertTrue(admit(rules, "::ffff:10.1.2.4", 5432));
        assertFalse(admit(rules, "10.1.2.4", 5433));
        assertFalse(admit(rules, "10.1.2.3", 5432));
        assertFalse(admit(rules, "11.0.0.1", 5432));
        assertTrue(admit(rules, "fd00::1", 1024));
        assertFalse(admit(rules, "fd00::1", 1023));
        assertTrue(admit(rules("accept 10.1.2.3 * tcp", "accept * *"), "11.0.0.1", 1));
        assertNull(connect(rules, "10.1.2.4", 5432));
    }

    @Test
    void shouldAdmitOverTheDevicesThatAnAcceptRuleNames() throws Exception {
        assertTrue(admit(rules("accept * * auto mlx5_0+mlx5_1"), "10.1.2.3", 80));
        assertTrue(admit(rules("accept * * auto 10.9.9.9"), "10.1.2.3", 80));
        assertFalse(admit(rules("accept * * auto mlx5_1+10.9.9.8"), "10.1.2.3", 80));
        assertFalse(admit(rules("accept * * tcp mlx5_0", "accept * * auto"), "10.1.2.3", 80));
    }

    /** A name server that is away must not open the door. */
    @Test
    void shouldAdmitNobodyByANameThatCannotBeLookedUp() throws Exception {
        assertFalse(admit(rules("accept no-such-host.invalid *"), "127.0.0.1", 1));
        assertFalse(admit(rules("accept no-such-host.invalid * tcp", "accept * *"), "127.0.0.1", 1));
        assertTrue(admit(rules("accept no-such-host.invalid 80-90 tcp", "accept * *"), "127.0.0.1", 1));
    }

    @Test
    void shouldSayWhichLinesHaveNamesThatCannotBeLookedUp() throws Exception {
        assertEquals(
                "3 rules (sdp.conf line 1: no-such-host.invalid cannot be looked up, so this line matches nothing; "
                        + "sdp.conf line 2: neither_this.invalid cannot be looked up, so this line refuses everybody)",
                rules("connect no-such-host.invalid *", "accept neither_this.invalid * tcp", "connect * *")
                        .toString());
    }

    /** It is there so that RDMA does not carry something. */
    @Test
    void shouldLeaveAllToTcpWhereANameThatIsToUseTcpCannotBeLookedUp() throws Exception {
        Rules rules = rules("connect no-such-host.invalid 80-90 tcp", "connect * *");
        assertEquals(Policy.TCP, connect(rules, "127.0.0.1", 80));
        assertEquals(Policy.AUTO, connect(rules, "127.0.0.1", 91));
        assertEquals(
                "2 rules (sdp.conf line 1: no-such-host.invalid cannot be looked up, so this line leaves all addresses"
                        + " to TCP)",
                rules.toString());
    }

    @Test
    void shouldGoOnWithTheAddressesOfBeforeWhenANameCannotBeLookedUpAgain() throws Exception {
        List<String> lines = List.of("connect db.example 5432 rdma", "accept db.example * tcp", "accept * *");
        Rules before = RulesFile.parse(
                "sdp.conf",
                lines,
                Rules.NONE,
                name -> InetAddress.getAllByName(name.equals("db.example") ? "10.0.0.7" : name));
        Rules.Resolver away = name -> {
            throw new UnknownHostException(name);
        };
        Rules after = RulesFile.parse("sdp.conf", lines, RulesFile.parse("sdp.conf", lines, before, away), away);
        assertEquals(Policy.RDMA, connect(after, "10.0.0.7", 5432));
        assertFalse(admit(after, "10.0.0.7", 1));
        assertTrue(admit(after, "10.0.0.8", 1));
        assertEquals(
                "3 rules (sdp.conf line 1: db.example cannot be looked up, so this line goes on with the addresses of"
                        + " before; sdp.conf line 2: db.example cannot be looked up, so this line goes on with the"
                        + " addresses of before)",
                after.toString());
    }

    @Test
    void shouldGoOnWithEachNamesOwnAddresses() throws Exception {
        List<String> lines = List.of("connect db.example * rdma", "connect web.example * tcp");
        Rules before = RulesFile.parse(
                "sdp.conf",
                lines,
                Rules.NONE,
                name -> InetAddress.getAllByName(name.equals("db.example") ? "10.0.0.7" : "10.0.0.8"));
        Rules after = unknown(before, lines);
        assertEquals(Policy.RDMA, connect(after, "10.0.0.7", 80));
        assertEquals(Policy.TCP, connect(after, "10.0.0.8", 80));
    }

    @Test
    void shouldLeaveAllToTcpThoughTheNameWasUnknownBeforeToo() throws Exception {
        List<String> lines = List.of("connect db.example 5432 rdma", "connect db.example * tcp");
        Rules rules = unknown(unknown(Rules.NONE, lines), lines);
        assertEquals(Policy.TCP, connect(rules, "10.0.0.7", 5432));
    }

    private static Rules unknown(String... lines) throws ConfigurationException {
        return unknown(Rules.NONE, Arrays.asList(lines));
    }

    private static Rules unknown(Rules before, List<String> lines) throws ConfigurationException {
        return RulesFile.parse("sdp.conf", lines, before, name -> {
            throw new UnknownHostException(name);
        });
    }

    private static InetAddress[] addresses(String... texts) throws IOException {
        InetAddress[] addresses = new InetAddress[texts.length];
        for (int i = 0; i < texts.length; i++) {
            addresses[i] = InetAddress.getByName(texts[i]);
        }
        return addresses;
    }

    @Test
    void shouldApplyToTheAddressesOfANameOnceItIsKnown() throws Exception {
        Rules before = unknown(
                "connect db.example 5432 rdma", "connect web.example 80 tcp", "accept db.example * tcp", "accept * *");
        assertEquals(Set.of("db.example", "web.example"), before.unknownNames());
        Rules rules = before.with("db.example", addresses("192.0.2.7", "fd00::7"));
        assertEquals(Policy.RDMA, connect(rules, "192.0.2.7", 5432));
        assertEquals(Policy.RDMA, connect(rules, "fd00::7", 5432));
        assertNull(connect(rules, "192.0.2.8", 5432));
        assertNull(connect(rules, "192.0.2.7", 5433));
        assertFalse(admit(rules, "192.0.2.7", 1));
        assertTrue(admit(rules, "192.0.2.8", 1));
        assertEquals(Policy.TCP, connect(rules, "192.0.2.8", 80), "its name is still unknown");
        assertEquals(Set.of("web.example"), rules.unknownNames());
        assertEquals(
                "4 rules (sdp.conf line 2: web.example cannot be looked up, so this line leaves all addresses to TCP)",
                rules.toString());
        Rules all = rules.with("web.example", addresses("192.0.2.9"));
        assertEquals(Policy.TCP, connect(all, "192.0.2.9", 80));
        assertNull(connect(all, "192.0.2.8", 80));
        assertFalse(all.hasUnknownNames());
        assertEquals("4 rules", all.toString());
        assertNull(connect(before, "192.0.2.7", 5432), "rules do not change");
    }

    @Test
    void shouldKeepWhatANameTurnedOutToBeWhenItCannotBeLookedUpAgain() throws Exception {
        Rules known = unknown("connect db.example 5432").with("db.example", addresses("192.0.2.7"));
        Rules.Resolver away = name -> {
            throw new UnknownHostException(name);
        };
        Rules old = RulesFile.parse("sdp.conf", List.of("connect db.example 5432 tcp"), known, away);
        assertEquals(Policy.TCP, connect(old, "192.0.2.7", 5432));
        assertNull(connect(old, "192.0.2.8", 5432));
        assertEquals(Set.of("db.example"), old.unknownNames());
        Rules moved = old.with("db.example", addresses("192.0.2.8"));
        assertNull(connect(moved, "192.0.2.7", 5432));
        assertEquals(Policy.TCP, connect(moved, "192.0.2.8", 5432));
        assertEquals("1 rule", moved.toString());
    }

    /** A JVM is set up when it starts for all that its rules may ask of it later. */
    @Test
    void shouldMentionWhatRulesSayWhoseNamesAreUnknown() throws Exception {
        Rules rules = unknown("connect db.example 5432 rdma", "bind web.example 80 auto mlx5_0");
        assertTrue(rules.mentions(Policy.RDMA));
        assertTrue(rules.mentions(Policy.AUTO));
        assertFalse(rules.mentions(Policy.TCP));
        assertTrue(rules.nameDevices());
        assertEquals(Set.of("mlx5_0"), rules.deviceNames());
        assertFalse(unknown("accept db.example *").mentions(Policy.AUTO));
    }

    @Test
    void shouldReadAFileWithAByteOrderMark() throws Exception {
        assertEquals(Policy.TCP, connect(rules("\uFEFFconnect * * tcp"), "127.0.0.1", 1));
        assertEquals(Policy.TCP, connect(rules("\uFEFF", "connect * * tcp"), "127.0.0.1", 1));
    }

    /** Nobody would notice that such a line matches nothing. */
    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.*", "10.0.0.1-10.0.0.9", "10.0.0.1,10.0.0.2", "*.example.com", "1.2.3.4.5x/8", "a..b"})
    void shouldRefuseWhatIsNeitherAnAddressNorAHostName(String host) {
        ConfigurationException e = assertThrows(ConfigurationException.class, () -> rules("accept " + host + " * tcp"));
        assertTrue(e.getMessage().startsWith("sdp.conf line 1: "), e::getMessage);
    }

    @ParameterizedTest
    @CsvSource({
        "connect 10.0.0.1, 'expected \"bind|connect|accept address port [auto|rdma|tcp [devices]]\"'",
        "connect 10.0.0.1 80 tcp all please, 'expected \"bind|connect|accept address port [auto|rdma|tcp [devices]]\"'",
        "connect 10.0.0.1 80 auto mlx5_0+, '\"\" is neither a device name nor an address'",
        "connect 10.0.0.1 80 auto 10.0.0.999, '\"10.0.0.999\" is not an address'",
        "listen 10.0.0.1 80, 'not one of bind, connect, accept'",
        "accept 10.0.0.1 80 rdma, accept applies to RDMA connections only: use auto or tcp",
        "connect 10.0.0.1 80 fast, 'not one of auto, rdma, tcp'",
        "connect 10.0.0.1 http, port is not a number from 0 to 65535",
        "connect 10.0.0.1 65536, port is not a number from 0 to 65535",
        "connect 10.0.0.1 90-80, the port range ends before it begins",
        "connect 10.0.0.1 80-, port is not a number from 0 to 65535",
        "connect 10.0.0.1/33 80, prefix length is not a number from 0 to 32",
        "connect fd00::/129 80, prefix length is not a number from 0 to 128",
        "connect 10.0.0.1/ 80, prefix length is not a number from 0 to 32",
        "connect localhost/8 80, a prefix length needs a numeric address",
        "connect 10.0.0.999 80, not an address",
        "accept 10/8 *, '\"10\" is not an address: write all four numbers, such as 10.0.0.0/8'",
        "connect 192.168/16 80, '\"192.168\" is not an address: write all four numbers, such as 10.0.0.0/8'",
        "connect 10.1 80, '\"10.1\" is not an address: write all four numbers, such as 10.0.0.0/8'",
        "connect 10.0.0.1 80 auto 10.1, '\"10.1\" is not an address: write all four numbers, such as 10.0.0.0/8'",
        "connect fd00:::1 80, not an address"
    })
    void shouldSayFileLineAndReason(String line, String reason) {
        String message = assertThrows(ConfigurationException.class, () -> rules("# a comment", line))
                .getMessage();
        assertEquals("sdp.conf line 2: " + reason + ": " + line, message);
    }

    @Test
    void shouldSayThatTheFileIsMissingOrNotText(@TempDir Path folder) throws IOException {
        Path missing = folder.resolve("none");
        assertEquals(
                missing + ": no such file",
                assertThrows(ConfigurationException.class, () -> RulesFile.load(missing))
                        .getMessage());
        Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
        assertEquals(
                binary + ": not UTF-8 text",
                assertThrows(ConfigurationException.class, () -> RulesFile.load(binary))
                        .getMessage());
        assertThrows(ConfigurationException.class, () -> RulesFile.load(folder));
    }
}
