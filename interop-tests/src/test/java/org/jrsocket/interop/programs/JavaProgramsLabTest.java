/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.nio.file.Path;
import org.jrsocket.interop.Tool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs whose both ends are Java's. */
@Tag("lab")
@Tag("programs")
class JavaProgramsLabTest {

    @TempDir
    private Path folder;

    @Test
    void shouldCarryAnRmiServiceAndItsCallBacks() throws Exception {
        Conversation.of(RmiStore.class).expectTheBestTransportThatThereIs();
    }

    @Test
    void shouldCarryHttp() throws Exception {
        Conversation.of(HttpFiles.class, "nanohttpd").expectTheBestTransportThatThereIs();
    }

    @Test
    void shouldCarryHttps() throws Exception {
        String keys = keys();
        Conversation.of(HttpFiles.class, "nanohttpd")
                .options(
                        "-Dkeys=" + keys,
                        "-Djavax.net.ssl.trustStore=" + keys,
                        "-Djavax.net.ssl.trustStorePassword=changeit")
                .expectTheBestTransportThatThereIs();
    }

    @Test
    void shouldCarryMailAndItsStartTls() throws Exception {
        String keys = keys();
        Conversation.of(
                        Mail.class,
                        "subethasmtp",
                        "guava-mini",
                        "jakarta.mail-api",
                        "angus-mail",
                        "jakarta.activation-api",
                        "angus-activation",
                        "slf4j-api")
                .options(
                        "-Djavax.net.ssl.keyStore=" + keys,
                        "-Djavax.net.ssl.keyStorePassword=changeit",
                        "-Djavax.net.ssl.trustStore=" + keys,
                        "-Djavax.net.ssl.trustStorePassword=changeit")
                .expectTheBestTransportThatThereIs();
    }

    @Test
    void shouldCarryFtpInBothModes() throws Exception {
        Conversation.of(
                        Ftp.class,
                        "ftpserver-core",
                        "ftplet-api",
                        "mina-core",
                        "commons-net",
                        "commons-io",
                        "slf4j-api")
                .options("-Dfolder=" + folder.resolve("files"))
                .expectTheBestTransportThatThereIs();
    }

    /** A store with a certificate for this host, and its key. */
    private String keys() {
        return Tool.keyStore(folder, "changeit").toString();
    }
}
