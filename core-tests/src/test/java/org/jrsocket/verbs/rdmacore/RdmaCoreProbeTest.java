/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrsocket.os.NativeLibrary;
import org.jrsocket.os.NativeLibraryTest;
import org.jrsocket.os.Sysfs;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Why verbs are not available, with folders that stand for sysfs and /dev. */
@Tag("lab")
public class RdmaCoreProbeTest {

    @TempDir
    Path folder;

    private Path sys;
    private Path dev;

    @BeforeEach
    void prepare() throws IOException {
        sys = Files.createDirectory(folder.resolve("infiniband"));
        dev = Files.createDirectory(folder.resolve("dev"));
    }

    private void device(String name, String guid) throws IOException {
        Files.createDirectory(sys.resolve(name));
        Files.writeString(sys.resolve(name).resolve("node_guid"), guid + "\n");
    }

    private void assertUnavailable(Reason reason, String message, RdmaCoreProbe probe) {
        VerbsUnavailableException e = assertThrows(VerbsUnavailableException.class, probe::check);
        assertEquals(reason, e.reason());
        assertEquals(1, e.getMessage().lines().count());
        assertTrue(e.getMessage().contains(message), e::getMessage);
    }

    @Test
    void shouldSayThatThereIsNoDevice() {
        assertUnavailable(Reason.NO_DEVICE, "no RDMA device on this host: ", new RdmaCoreProbe(sys, dev));
        assertUnavailable(Reason.NO_DEVICE, "modprobe rdma_rxe", new RdmaCoreProbe(folder.resolve("nothing"), dev));
    }

    /** As in a container whose device is in another network namespace. */
    @Test
    void shouldSayThatTheDeviceIsElsewhereIfThereAreItsFiles() throws IOException {
        Files.createFile(dev.resolve("rdma_cm"));
        Files.createFile(dev.resolve("uverbs1"));
        RdmaCoreProbe probe = new RdmaCoreProbe(sys, dev);
        assertUnavailable(
                Reason.NO_DEVICE, "no RDMA device in " + sys + ", although there is " + dev + "/uverbs1: ", probe);
        device("efa_0", "0000:0000:0000:0000");
        Files.writeString(sys.resolve("efa_0").resolve("node_type"), "7: unspecified\n");
        assertUnavailable(Reason.NO_DEVICE, "none of this host's RDMA devices (efa_0) makes connections", probe);
    }

    @Test
    void shouldSayThatAModuleIsNotLoaded() throws IOException {
        device("rxe0", "7473:0cff:fe0d:fbee");
        assertUnavailable(
                Reason.PERMISSION, dev + "/rdma_cm does not exist: modprobe rdma_ucm", new RdmaCoreProbe(sys, dev));
        Files.createFile(dev.resolve("rdma_cm"));
        assertUnavailable(
                Reason.PERMISSION, dev + "/uverbs0 does not exist: modprobe ib_uverbs", new RdmaCoreProbe(sys, dev));
    }

    private static String unopened(IOException cause) {
        return RdmaCoreProbe.unopened(Path.of("/dev/f"), "rdma_ucm", cause).getMessage();
    }

    @Test
    void shouldAdviseByTheReason() {
        String denied = unopened(new AccessDeniedException("/dev/f"));
        assertTrue(denied.startsWith("/dev/f cannot be opened (Permission denied): give this user access"), denied);
        assertEquals(
                "/dev/f cannot be opened (No such device): modprobe rdma_ucm on the host",
                unopened(new FileSystemException("/dev/f", null, "No such device")));
        assertEquals(
                "/dev/f cannot be opened (Too many open files)",
                unopened(new FileSystemException("/dev/f", null, "Too many open files")));
    }

    @Test
    void shouldNameTheFileThatDoesNotOpen() throws IOException {
        device("rxe0", "7473:0cff:fe0d:fbee");
        Files.createFile(dev.resolve("rdma_cm"));
        Files.createDirectory(dev.resolve("uverbs3")); // a folder does not open either, and does not mind root
        assertUnavailable(
                Reason.PERMISSION, dev + "/uverbs3 cannot be opened (Is a directory)", new RdmaCoreProbe(sys, dev));
        Files.createFile(dev.resolve("uverbs1"));
        try {
            new RdmaCoreProbe(sys, dev).checkFiles();
        } catch (VerbsUnavailableException e) {
            throw new AssertionError("one device that opens is enough", e);
        }
    }

    @Test
    void shouldNotLetLibrdmacmCrashOnADeviceWithoutGuid() throws IOException {
        device("mlx5_0", "7473:0cff:fe0d:fbee");
        device("odd0", "0000:0000:0000:0000");
        assertUnavailable(Reason.NO_DEVICE, "odd0 has the node GUID 0", new RdmaCoreProbe(sys, dev));
    }

    /** Beside others, too: a listener at all addresses is one at its addresses. */
    @Test
    void shouldNotTakeTcpsPortsForAnIwarpDevice() throws IOException {
        device("mlx5_0", "7473:0cff:fe0d:fbee");
        Files.writeString(sys.resolve("mlx5_0").resolve("node_type"), "1: CA\n");
        RdmaCoreProbe probe = new RdmaCoreProbe(sys, dev);
        assertDoesNotThrow(probe::checkDevices);
        device("siw0", "7473:0cff:fe0d:fbef");
        Files.writeString(sys.resolve("siw0").resolve("node_type"), "4: RNIC\n");
        assertUnavailable(Reason.NO_DEVICE, "RDMA device siw0 is iWARP, which shares its ports with TCP", probe);
        System.setProperty(RdmaCoreProbe.IWARP_PROPERTY, "true");
        try {
            assertDoesNotThrow(probe::checkDevices);
        } finally {
            System.clearProperty(RdmaCoreProbe.IWARP_PROPERTY);
        }
    }

    /** Such as EFA, which has verbs but no connections, and no GUID. */
    @Test
    void shouldNotTakeADeviceWithoutConnectionsForOne() throws IOException {
        device("efa_0", "0000:0000:0000:0000");
        Files.writeString(sys.resolve("efa_0").resolve("node_type"), "7: unspecified\n");
        RdmaCoreProbe probe = new RdmaCoreProbe(sys, dev);
        assertUnavailable(Reason.NO_DEVICE, "none of this host's RDMA devices (efa_0) makes connections: add", probe);
        device("mlx5_0", "7473:0cff:fe0d:fbee");
        Files.writeString(sys.resolve("mlx5_0").resolve("node_type"), "1: CA\n");
        assertDoesNotThrow(probe::checkDevices);
    }

    private void port(String device, String state, String networkInterface) throws IOException {
        Path port = Files.createDirectories(sys.resolve(device).resolve("ports").resolve("1"));
        Files.writeString(port.resolve("state"), state + "\n");
        Files.createDirectories(
                sys.resolve(device).resolve("device").resolve("net").resolve(networkInterface));
    }

    /** As virtual functions are that nobody has set up: they must not keep the others from being used. */
    @Test
    void shouldLeaveOutADeviceWithoutGuidThatNoAddressLeadsTo() throws IOException {
        device("mlx5_0", "7473:0cff:fe0d:fbee");
        device("mlx5_4", "0000:0000:0000:0000");
        port("mlx5_4", "1: DOWN", "nosuchif0");
        RdmaCoreProbe probe = new RdmaCoreProbe(sys, dev);
        assertDoesNotThrow(probe::checkDevices);
        assertDoesNotThrow(probe::checkAgain);

        port("mlx5_4", "4: ACTIVE", "nosuchif0");
        assertThrows(VerbsUnavailableException.class, probe::checkAgain, "before each connection");
        assertUnavailable(Reason.NO_DEVICE, "mlx5_4 has the node GUID 0", probe);
        port("mlx5_4", "1: DOWN", "lo"); // which has an address
        assertUnavailable(Reason.NO_DEVICE, "mlx5_4 has the node GUID 0", probe);
    }

    @Test
    void shouldSayThatTheOnlyDeviceHasNoGuid() throws IOException {
        device("mlx5_4", "0000:0000:0000:0000");
        port("mlx5_4", "1: DOWN", "nosuchif0");
        assertUnavailable(Reason.NO_DEVICE, "mlx5_4 has the node GUID 0", new RdmaCoreProbe(sys, dev));
    }

    /** On a host without RDMA nothing of rdma-core may be touched: it need not be installed there. */
    @Test
    void shouldNotLoadAnythingWithoutADevice() throws Exception {
        assumeTrue(Sysfs.names(Sysfs.DEVICES).isEmpty(), "this host has an RDMA device");
        String output = NativeLibraryTest.java(
                "-D" + NativeLibrary.LIBRARY_PROPERTY + "=/nonexistent", OpenMain.class.getName());
        assertTrue(output.contains("NO_DEVICE: no RDMA device on this host"), output);
        assertTrue(output.contains("mapped: false"), output);
        assertFalse(output.contains("Exception"), output);
    }

    static final class OpenMain {
        public static void main(String[] args) throws IOException {
            try {
                RdmaCoreProvider.open();
            } catch (VerbsUnavailableException e) {
                System.out.println(e.reason() + ": " + e.getMessage());
            }
            System.out.println(
                    "mapped: " + Files.readString(Path.of("/proc/self/maps")).contains("librdmacm"));
        }
    }
}
