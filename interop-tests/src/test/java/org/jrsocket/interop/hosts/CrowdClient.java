/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * {@code CrowdClient LOCAL [WAIT]}: connects as its input says and tells the times. A line is
 * {@code NAME ADDRESS PORT COUNT CROWD MILLIS}: so many connections, so many of them at once, each with that limit (0:
 * none) and as many as ten tries. ADDRESS {@code self} is a server that it has itself, for classes to be loaded.
 * Answers {@code NAME count=N failed=N tries=N p50=MICROS p99=MICROS most=MICROS used={TRANSPORT OR REASON=COUNT,
 * ...}}. Forgets before each line what the agent remembers of peers, if there is an agent and NAME does not begin with
 * {@code still-}.
 *
 * <p>With WAIT all connections of a line wait for one timer, which ends so many milliseconds after the first has begun;
 * that counts as theirs. What is left is what it costs that all of them go on at once, whoever made them wait.
 */
final class CrowdClient {

    private static final int TRIES = 10;

    private final MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    private final ObjectName bean = new ObjectName("org.jrsocket:type=Transport");

    private final int wait; // milliseconds

    private CrowdClient(int wait) throws Exception {
        this.wait = wait;
    }

    public static void main(String[] args) throws Exception {
        CrowdClient client = new CrowdClient(args.length > 1 ? Integer.parseInt(args[1]) : 0);
        int own = echo(args[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            InetSocketAddress to = words[1].equals("self")
                    ? new InetSocketAddress(args[0], own)
                    : new InetSocketAddress(words[1], Integer.parseInt(words[2]));
            if (!words[0].startsWith("still-")) {
                client.forget();
            }
            System.out.println(words[0]
                    + ' '
                    + client.connections(
                            to, Integer.parseInt(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5])));
        }
        System.exit(0);
    }

    private static int echo(String address) throws IOException {
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(address, 0));
        Thread thread = new Thread(
                () -> {
                    for (; ; ) {
                        try (Socket socket = server.accept()) {
                            socket.getOutputStream()
                                    .write(socket.getInputStream().read());
                        } catch (IOException e) {
                            System.out.println("self=" + e);
                        }
                    }
                },
                "self");
        thread.setDaemon(true);
        thread.start();
        return server.getLocalPort();
    }

    private void forget() throws Exception {
        if (beans.isRegistered(bean)) {
            beans.invoke(bean, "forgetRemembered", null, null);
        }
    }

    private String connections(InetSocketAddress to, int count, int crowd, int millis) throws Exception {
        Map<String, Long> before = used();
        long[] micros = new long[count];
        AtomicInteger next = new AtomicInteger();
        AtomicInteger tries = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        HeadStart headStart = new HeadStart();
        CountDownLatch all = new CountDownLatch(crowd);
        Thread[] threads = new Thread[crowd];
        for (int i = 0; i < crowd; i++) {
            threads[i] = new Thread(() -> {
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int n = next.getAndIncrement(); n < count; n = next.getAndIncrement()) {
                    micros[n] = connect(to, millis, headStart, tries, failed);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Arrays.sort(micros);
        Map<String, Long> used = used();
        before.forEach((name, value) -> used.merge(name, -value, Long::sum));
        used.values().removeIf(value -> value == 0);
        return "count=" + count + " failed=" + failed + " tries=" + tries + " p50=" + micros[count / 2] + " p99="
                + micros[count * 99 / 100] + " most=" + micros[count - 1] + " used=" + used;
    }

    /** What all connections of a line wait for. */
    private final class HeadStart {
        private final AtomicInteger begun = new AtomicInteger();
        private final CountDownLatch over = new CountDownLatch(wait == 0 ? 0 : 1);

        void await() {
            if (wait > 0 && begun.getAndIncrement() == 0) {
                CompletableFuture.delayedExecutor(wait, TimeUnit.MILLISECONDS).execute(over::countDown);
            }
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** @return microseconds until it was connected, all tries included */
    private static long connect(
            InetSocketAddress to, int millis, HeadStart headStart, AtomicInteger tries, AtomicInteger failed) {
        long start = System.nanoTime();
        headStart.await();
        for (int i = 0; i < TRIES; i++) {
            tries.incrementAndGet();
            try (Socket socket = new Socket()) {
                socket.connect(to, millis);
                long micros = (System.nanoTime() - start) / 1000;
                socket.getOutputStream().write(7);
                if (socket.getInputStream().read() == 7) {
                    return micros;
                }
            } catch (IOException e) {
                System.err.println(to + ": " + e);
            }
        }
        failed.incrementAndGet();
        return (System.nanoTime() - start) / 1000;
    }

    private Map<String, Long> used() throws Exception {
        Map<String, Long> used = new TreeMap<>();
        if (beans.isRegistered(bean)) {
            used.put("RDMA", (long) beans.getAttribute(bean, "RdmaConnected"));
            for (Object row : ((TabularData) beans.getAttribute(bean, "TcpChosen")).values()) {
                CompositeData each = (CompositeData) row;
                if ((long) each.get("value") > 0) {
                    used.put((String) each.get("key"), (long) each.get("value"));
                }
            }
        }
        return used;
    }
}
