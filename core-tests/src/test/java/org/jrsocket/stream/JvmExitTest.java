/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.NativeLibraryTest;
import org.jrsocket.verbs.loopback.LoopbackProvider;
import org.jrsocket.wire.Imm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** JVMs that really exit, with something that their peers do not have yet. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JvmExitTest {

    /** Writes and exits. Nothing lets its peer have all of it before the JVM waits for that. */
    static final class Program {

        private static final StreamConfig SMALL = StreamConfig.DEFAULT.withBuffers(16 * 1024, 16 * 1024);

        public static void main(String[] args) throws Exception {
            LoopbackProvider verbs = new LoopbackProvider();
            verbs.onMessage((from, to, opcode, imm, length, address, key) -> {
                if (Imm.op(imm) == Imm.OP_DATA && Imm.value(imm) > 0) {
                    System.out.println("arrived: " + Imm.value(imm));
                }
            });
            StreamPair pair = StreamPair.connect(RdmaTransport.over(verbs), InetAddress.getLoopbackAddress(), SMALL);
            if (args[0].equals("open")) {
                verbs.faults().holdAcks(true);
                pair.client.write(new byte[10], 0, 10, StreamPair.PATIENCE);
                whenTheExitWaits(() -> verbs.faults().holdAcks(false));
            } else {
                System.out.println("written: " + fill(pair.client));
                pair.client.close();
                whenTheExitWaits(() -> pair.server.read(new byte[1 << 20], 0, 1 << 20, 0));
                System.exit(0);
            }
        }

        /** Writes until the peer has no room; how much. */
        private static int fill(RdmaStream stream) throws Exception {
            ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
            while (stream.write(bytes) > 0 || stream.awaitWritable(TimeUnit.MILLISECONDS.toNanos(100))) {
                // goes on
            }
            return bytes.position();
        }

        private interface Step {
            void run() throws Exception;
        }

        /** Does {@code step} again and again from then on. */
        private static void whenTheExitWaits(Step step) {
            Thread thread = new Thread(() -> {
                try {
                    while (!exitWaits()) {
                        Thread.sleep(1);
                    }
                    System.out.println("waits");
                    while (true) {
                        step.run();
                    }
                } catch (Exception e) {
                    e.printStackTrace(System.out);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private static boolean exitWaits() {
            return Thread.getAllStackTraces().values().stream()
                    .flatMap(Arrays::stream)
                    .anyMatch(frame -> frame.getClassName().equals(OpenStreams.class.getName())
                            && frame.getMethodName().equals("awaitDelivery"));
        }
    }

    private static String run(String argument) throws Exception {
        Path testkit = Path.of(LoopbackProvider.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        return NativeLibraryTest.java(
                "-cp", NativeLibraryTest.classPath() + ":" + testkit, Program.class.getName(), argument);
    }

    /** The device forgets what it may have to send again, together with the process. */
    @Test
    void shouldWaitForTheAcknowledgementOfWhatAnOpenSocketHasSent() throws Exception {
        String output = run("open");
        assertTrue(output.contains("waits\n"), output);
    }

    /** With TCP the kernel delivers it when the process is gone. */
    @Test
    void shouldDeliverWhatAClosedSocketHadTaken() throws Exception {
        String output = run("closed");
        assertTrue(output.contains("waits\n"), output);
        assertTrue(
                output.indexOf("arrived: ", output.indexOf("waits\n")) > 0, () -> "all had arrived before:\n" + output);
        assertEquals(sum(output, "written: "), sum(output, "arrived: "), output);
    }

    private static int sum(String output, String label) {
        return output.lines()
                .filter(line -> line.startsWith(label))
                .mapToInt(line -> Integer.parseInt(line.substring(label.length())))
                .sum();
    }
}
