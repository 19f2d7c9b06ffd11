/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks.zookeeper;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * Creates nodes, reads each with a watch, changes some and waits for their watches. Fails unless every byte is right.
 *
 * <p>{@code Client ADDRESS PORT NODES SIZE SEED}. Prints {@code bytes=}, the data of the nodes both ways, and
 * {@code events=}.
 */
public final class Client {

    private static final long LIMIT_MINUTES = 5;

    private final ZooKeeper zookeeper;
    private final int nodes;
    private final byte[][] data;
    private final AtomicReference<String> failure = new AtomicReference<>();

    private Client(ZooKeeper zookeeper, int nodes, int size, long seed) {
        this.zookeeper = zookeeper;
        this.nodes = nodes;
        data = new byte[nodes][size];
        SplittableRandom random = new SplittableRandom(seed);
        for (byte[] each : data) {
            random.nextBytes(each);
        }
    }

    public static void main(String[] args) throws Exception {
        int nodes = Integer.parseInt(args[2]);
        int size = Integer.parseInt(args[3]);
        ZooKeeper zookeeper = new ZooKeeper(args[0] + ':' + args[1], 60_000, event -> {});
        Client client = new Client(zookeeper, nodes, size, Long.parseLong(args[4]));
        client.create();
        CountDownLatch changes = client.readAndWatch();
        client.change();
        client.await(changes);
        zookeeper.close();
        System.out.println("events=" + nodes / 10);
        System.out.println("bytes=" + 2L * nodes * size);
    }

    private static String path(int node) {
        return "/test/" + node;
    }

    private void create() throws Exception {
        zookeeper.create("/test", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        CountDownLatch created = new CountDownLatch(nodes);
        AsyncCallback.StringCallback done = (status, path, context, name) -> {
            expect(status == Code.OK.intValue(), path, Code.get(status));
            created.countDown();
        };
        for (int i = 0; i < nodes; i++) {
            zookeeper.create(path(i), data[i], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, done, null);
        }
        await(created);
        int children = zookeeper.getChildren("/test", false).size();
        expect(children == nodes, "/test", children + " children");
    }

    /** The latch counts the nodes that change() changes. */
    private CountDownLatch readAndWatch() throws Exception {
        CountDownLatch changes = new CountDownLatch(nodes / 10);
        CountDownLatch read = new CountDownLatch(nodes);
        for (int i = 0; i < nodes; i++) {
            int node = i;
            zookeeper.getData(
                    path(i),
                    event -> {
                        if (event.getPath() != null) { // null: the state of the connection
                            expect(event.getPath().equals(path(node)), path(node), event);
                            changes.countDown();
                        }
                    },
                    (status, path, context, found, stat) -> {
                        expect(
                                status == Code.OK.intValue() && Arrays.equals(data[node], found),
                                path,
                                Code.get(status));
                        read.countDown();
                    },
                    null);
        }
        await(read);
        return changes;
    }

    private void change() throws Exception {
        for (int i = 0; i < nodes / 10; i++) {
            zookeeper.setData(path(i), new byte[] {1}, 0);
        }
    }

    /** Callbacks cannot throw to anybody. */
    private void expect(boolean right, String path, Object found) {
        if (!right) {
            failure.compareAndSet(null, path + ": " + found);
        }
    }

    private void check() {
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
    }

    private void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
            throw new IllegalStateException(latch.getCount() + " are missing after " + LIMIT_MINUTES + " minutes");
        }
        check();
    }
}
