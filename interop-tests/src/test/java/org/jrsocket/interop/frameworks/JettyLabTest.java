/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.frameworks;

import java.nio.file.Path;
import org.jrsocket.interop.JvmProcess;
import org.jrsocket.interop.Site;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Jetty server, and the JDK's HttpClient. */
@Tag("lab")
@Tag("frameworks")
class JettyLabTest {

    @TempDir
    private Path folder;

    @Test
    void shouldSpeakHttp1AndHttp2WithAndWithoutTls() throws Exception {
        Path keys = Programs.keyStore(folder);
        try (JvmProcess server = Programs.under("jetty", "EchoServer", Site.address(), keys, Programs.PASSWORD)
                .start()) {
            HttpEcho.run(server, keys, "");
        }
    }
}
