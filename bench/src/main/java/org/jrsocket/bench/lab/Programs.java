/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Runs a C benchmark once: its server, then its client, each with a time limit, on a port that nothing used before. */
final class Programs {

    private static final int TRIES = 4;
    private static int nextPort = 18_600;

    private Programs() {}

    /**
     * @param listensOnTcp whether the server shows in the kernel's list of TCP listeners when it is ready; else it gets
     *     some time
     * @param watch looks while the client runs
     * @return the client's output
     */
    static String run(
            List<String> server,
            List<String> client,
            String portOption,
            boolean listensOnTcp,
            Path folder,
            Column.Watch watch)
            throws IOException {
        String last = "";
        for (int i = 0; i < TRIES; i++) {
            int port = nextPort++;
            Path output = folder.resolve(server.get(0) + ".out");
            Process passive = start(server, portOption, port, folder.resolve(server.get(0) + ".server.out"));
            try {
                awaitListening(passive, port, listensOnTcp);
                watch.begin();
                Process active = start(client, portOption, port, output);
                boolean done = active.waitFor(60, TimeUnit.SECONDS);
                if (!done) {
                    active.destroyForcibly().waitFor();
                }
                watch.end();
                last = Files.readString(output);
                if (done && active.exitValue() == 0) {
                    return last;
                }
                // rstream's own connect, which does not block, fails now and then; its server is of no use after that.
            } catch (InterruptedException e) {
                throw new IOException(e);
            } finally {
                passive.destroyForcibly();
            }
        }
        throw new IOException(client + " failed " + TRIES + " times: " + last);
    }

    private static Process start(List<String> program, String portOption, int port, Path output) throws IOException {
        List<String> command = new ArrayList<>(program);
        command.add(1, portOption);
        command.add(2, Integer.toString(port));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    private static void awaitListening(Process server, int port, boolean listensOnTcp)
            throws IOException, InterruptedException {
        if (!listensOnTcp) {
            awaitListeningOverRdma(server, port);
            return;
        }
        String listening = String.format(Locale.ROOT, ":%04X 00000000:0000 0A", port);
        String listening6 = String.format(Locale.ROOT, ":%04X 00000000000000000000000000000000:0000 0A", port);
        for (int i = 0; i < 400 && server.isAlive(); i++) {
            if (Files.readString(Path.of("/proc/net/tcp")).contains(listening)
                    || Files.readString(Path.of("/proc/net/tcp6")).contains(listening6)) {
                return;
            }
            Thread.sleep(50);
        }
        throw new IOException("a server did not start listening at " + port);
    }

    private static void awaitListeningOverRdma(Process server, int port) throws IOException, InterruptedException {
        for (int i = 0; i < 400 && server.isAlive(); i++) {
            Process rdma = new ProcessBuilder("rdma", "resource", "show", "cm_id")
                    .redirectErrorStream(true)
                    .start();
            String ids = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (ids.lines().anyMatch(id -> id.contains("LISTEN") && id.matches(".*src-addr \\S*:" + port + "\\b.*"))) {
                return;
            }
            Thread.sleep(50);
        }
        throw new IOException("a server did not start listening over RDMA at " + port);
    }
}
