/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jrsocket.interop.Tool;

/** What a process holds of the RDMA device, by the kernel's account. */
record Holdings(long queuePairs, long regions, long queues, long domains, long descriptors) {

    static Holdings of(Program program) {
        return new Holdings(
                objects("qp", program),
                objects("mr", program),
                objects("cq", program),
                objects("pd", program),
                descriptors(program));
    }

    private static long objects(String kind, Program program) {
        return Tool.run("rdma", "resource", "show", kind)
                .lines()
                .filter(line -> List.of(line.split(" ")).indexOf(Long.toString(program.pid())) > 0
                        && line.contains(" pid " + program.pid()))
                .count();
    }

    /** Devices, completion channels and event channels. */
    private static long descriptors(Program program) {
        try (Stream<Path> all = Files.list(Path.of("/proc", Long.toString(program.pid()), "fd"))) {
            return all.filter(each -> {
                        try {
                            return Files.readSymbolicLink(each).toString().contains("infiniband");
                        } catch (IOException e) { // closed meanwhile
                            return false;
                        }
                    })
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean hasConnections() {
        return queuePairs > 0 || regions > 0;
    }

    /** Waits until {@code wanted} is so: what a connection leaves is kept some seconds, for the next one. */
    static Holdings await(Program program, Predicate<Holdings> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + Lab.SOON.toNanos();
        for (; ; ) {
            Holdings now = of(program);
            if (wanted.test(now)) {
                return now;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("still " + now);
            }
            TimeUnit.MILLISECONDS.sleep(500);
        }
    }
}
