/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A web application that has this transport in its own class loader is undeployed, and deployed again. */
@Timeout(300)
class UndeployTest {

    private static final int ROUNDS = 3;

    /** Uses the transport and ends it; says what carried its bytes. */
    static final class Application extends WebApplication {

        private final boolean ends;

        /** @param arguments of {@link Verbs}, and "ends" if it shuts the transport down */
        Application(String... arguments) throws Exception {
            super(Verbs.valueOf(arguments[0]));
            ends = arguments[1].equals("ends");
        }

        @Override
        public String call() throws Exception {
            EventLoopGroup loops = loops();
            Channel server = server(loops);
            RdmaSocketChannel client = (RdmaSocketChannel) client(loops, RdmaSocketChannel.class)
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            send(client);
            boolean rdma = client.isRdma();
            client.close().sync();
            server.close().sync();
            end(loops);
            if (ends) {
                Rdma.shutdown();
            }
            return (rdma ? "over RDMA" : "over TCP") + (ends && isOpen() ? ", transport open" : "");
        }

        /** Whether the transport can still be used; whoever has brought it ends it then. */
        private boolean isOpen() throws Exception {
            if (holder == null || !holder.hasVerbs()) {
                return false;
            }
            holder.transport().listen(HERE, 1, StreamConfig.DEFAULT).close();
            holder.close();
            return true;
        }
    }

    private static String undeployed(WebApplication.Verbs verbs, String ends, List<WeakReference<ClassLoader>> loaders)
            throws Exception {
        try (ApplicationLoader loader = new ApplicationLoader()) {
            loaders.add(new WeakReference<>(loader));
            return loader.run(Application.class, verbs.name(), ends);
        }
    }

    /** What each of the applications says. */
    private static List<String> rounds(WebApplication.Verbs verbs) throws Exception {
        int beans = beans();
        List<String> said = new ArrayList<>();
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            said.add(undeployed(verbs, "ends", loaders));
        }
        assertEquals(beans, beans(), "JMX beans");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (alive(loaders) > 0 && System.nanoTime() - deadline < 0) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(0, alive(loaders), "class loaders that are still reachable");
        return said;
    }

    private static long alive(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream().filter(each -> each.get() != null).count();
    }

    private static int beans() throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("org.jrsocket:*"), null)
                .size();
    }

    @Test
    void shouldLeaveNothingOfItsTransportBehind() throws Exception {
        String closed = "over RDMA";
        assertEquals(List.of(closed, closed, closed), rounds(WebApplication.Verbs.OWN));
    }

    /** The application's has another name then. */
    @Test
    void shouldLeaveNoBeanBehindWhereTheContainerHasOne() throws Exception {
        RdmaIoHandler.newFactory(); // which is when there is one
        assertTrue(beans() > 0);
        String closed = "over RDMA";
        assertEquals(List.of(closed, closed, closed), rounds(WebApplication.Verbs.OWN));
    }

    /** In the build it has none. */
    @Test
    void shouldLeaveNothingBehindWhateverTheHostHas() throws Exception {
        assertEquals(ROUNDS, rounds(WebApplication.Verbs.HOST).size());
    }

    @Test
    void shouldLeaveATransportAloneThatSomebodyElseHasBrought() throws Exception {
        String open = "over RDMA, transport open";
        assertEquals(List.of(open, open, open), rounds(WebApplication.Verbs.BROUGHT));
    }

    /** In a JVM of its own, which ends. */
    static final class Forgetting {
        private Forgetting() {}

        public static void main(String[] arguments) throws Exception {
            for (int i = 0; i < ROUNDS; i++) {
                System.out.println(undeployed(WebApplication.Verbs.OWN, "forgets", new ArrayList<>()));
            }
        }
    }

    @Test
    @Tag("once")
    void shouldLetTheJvmExitQuietlyIfItForgotToEndTheTransport() throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Forgetting.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("over RDMA"), output);
        assertFalse(output.contains("Exception") || output.contains("Error"), output);
    }
}
