/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.LabBytes;
import org.jrsocket.interop.Site;
import org.jrsocket.interop.Tool;
import org.jrsocket.interop.Traffic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Tomcat server, on channels of NIO and on asynchronous ones; the JDK's HttpClient, and curl. */
@Tag("lab")
@Tag("frameworks")
class TomcatLabTest {

    @TempDir
    private Path folder;

    @Test
    void shouldSpeakHttp1AndHttp2WithAndWithoutTlsThroughEachConnector() throws Exception {
        String[] connectors = {"Http11Nio2Protocol", "Http11NioProtocol"};
        Path keys = Programs.keyStore(folder);
        try (JvmProcess server = Programs.under(
                        "tomcat", "EchoServer", Site.address(), keys, Programs.PASSWORD, connectors[0], connectors[1])
                .start()) {
            HttpEcho.run(server, keys, connectors[0] + '.', connectors[1] + '.');
            for (String connector : connectors) {
                serveCurl(
                        "http://" + Site.address() + ':' + Programs.port(server, connector + ".plain") + '/',
                        "--http1.1");
                serveCurl(
                        "https://" + Site.address() + ':' + Programs.port(server, connector + ".tls") + '/', "--http2");
            }
        }
    }

    /** The same port, to a program that has no RDMA. */
    private void serveCurl(String site, String version) throws IOException {
        byte[] data = new byte[HttpEcho.SIZE];
        new SplittableRandom(System.nanoTime()).nextBytes(data);
        Path sent = Files.write(folder.resolve("sent"), data);
        Path received = folder.resolve("received");
        Traffic before = Traffic.now();
        try (LabBytes delivered = Site.hasRdma() ? LabBytes.count() : null) {
            Tool.run(
                    "curl",
                    "--fail",
                    "--silent",
                    "--show-error",
                    "--insecure",
                    version,
                    "--data-binary",
                    "@" + sent,
                    "--header",
                    "Content-Type: application/octet-stream",
                    "--output",
                    received.toString(),
                    site);
            assertArrayEquals(data, Files.readAllBytes(received));
            Traffic.now().since(before).assertIpCarried(2 * HttpEcho.SIZE);
            if (delivered != null) {
                delivered.assertLessThan(HttpEcho.SIZE);
            }
        }
    }
}
