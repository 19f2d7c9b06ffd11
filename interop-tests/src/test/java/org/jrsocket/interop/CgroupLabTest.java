/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM in a control group that limits what it may have of the device, as a container's. */
@Tag("lab")
@Tag("once")
class CgroupLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    /** Objects of a connection that is idle. The device itself has one more. */
    private static final int CONNECTION = 7;

    private static final String ALLOWS_NO_MORE =
            "Resource temporarily unavailable); the device, or rdma.max of this process's cgroup (hca_object), allows"
                    + " no more";

    /** Of the whole machine's groups, while a test runs. */
    @TempDir
    Path root;

    private boolean mounted;
    private Path group;

    @BeforeEach
    void makeGroup() throws Exception {
        assumeTrue(Site.hasRdma(), "needs an RDMA device: runs in the lab");
        Tool.run("mount", "-t", "cgroup2", "none", root.toString());
        mounted = true;
        String controllers = Files.readString(root.resolve("cgroup.controllers"));
        assumeTrue(controllers.contains("rdma"), "needs a kernel with the rdma controller, has: " + controllers);
        Files.writeString(root.resolve("cgroup.subtree_control"), "+rdma");
        group = Files.createDirectory(root.resolve("jrsocket-test"));
    }

    @AfterEach
    void removeGroup() throws Exception {
        if (group != null) {
            Files.delete(group); // fails if a process is left in it
        }
        if (mounted) {
            Tool.run("umount", root.toString());
        }
    }

    private JvmProcess.Builder limited(Class<?> program, int handles, int objects) throws IOException {
        Files.writeString(group.resolve("rdma.max"), "rxe0 hca_handle=" + handles + " hca_object=" + objects);
        return JvmProcess.running(program)
                .agent()
                .under(
                        "sh",
                        "-c",
                        "echo $$ >\"$0\" && exec \"$@\"",
                        group.resolve("cgroup.procs").toString());
    }

    private static JvmProcess.Result run(JvmProcess.Builder builder) throws Exception {
        try (JvmProcess java = builder.arguments(Site.address()).start()) {
            return java.await(LIMIT).expectSuccess();
        }
    }

    private static void assertSaidOnce(JvmProcess.Result result, String text) {
        assertEquals(
                1, result.err().stream().filter(line -> line.contains(text)).count(), text + " in " + result);
    }

    @Test
    void shouldUseTcpWhereNoDeviceMayBeOpened() throws Exception {
        JvmProcess.Result result = run(limited(SelfConnection.class, 0, 1000));
        assertEquals(1, result.err().size(), result::toString);
        assertSaidOnce(
                result,
                "jrsocket: TCP only: libibverbs cannot open a device (rxe0: Resource temporarily unavailable): raise"
                        + " hca_handle and hca_object if rdma.max of this process's cgroup limits them");
    }

    @Test
    void shouldNeedForTheDeviceAndForEachEndWhatTheDocsSay() throws Exception {
        try (LabBytes delivered = LabBytes.count()) {
            JvmProcess.Result result = run(limited(SelfConnection.class, 1, 1 + 2 * CONNECTION));
            assertEquals(0, result.err().size(), result::toString);
            delivered.assertAtLeast(SelfConnection.BYTES);
        }
    }

    @Test
    void shouldUseTcpForAConnectionThatHasNoRoom() throws Exception {
        JvmProcess.Result result = run(limited(SelfConnection.class, 1, 2 * CONNECTION)); // for one end alone
        assertSaidOnce(result, "was refused: java.io.IOException: no room for another connection on rxe0 (");
        assertSaidOnce(result, ALLOWS_NO_MORE);
        assertSaidOnce(result, "over TCP, not RDMA: the peer cannot take another RDMA connection now");
    }

    @Test
    void shouldGoOnWithWhatItHasWhereABusyConnectionGetsNoMore() throws Exception {
        long bytes = 1 << 20;
        try (LabBytes delivered = LabBytes.count();
                JvmProcess server = limited(EchoServer.class, 1, 1 + CONNECTION)
                        .arguments(Site.address(), 1)
                        .start()) {
            String port =
                    server.awaitLine(Pattern.compile("listening=(\\d+)"), LIMIT).group(1);
            try (JvmProcess client = JvmProcess.running(EchoClient.class)
                    .agent()
                    .arguments(Site.address(), port, bytes, 1)
                    .start()) {
                JvmProcess.Result sender = client.await(LIMIT).expectSuccess();
                assertTrue(sender.value("received").startsWith(bytes + " bytes"), sender::toString);
            }
            JvmProcess.Result echoer = server.await(LIMIT).expectSuccess();
            assertSaidOnce(echoer, "connections over rxe0 stay smaller than they would be, for lack of room (");
            assertSaidOnce(echoer, ALLOWS_NO_MORE);
            delivered.assertAtLeast(2 * bytes);
        }
    }
}
