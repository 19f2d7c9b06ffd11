/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JMX and Flight Recorder in a JVM with the finished agent, whose classes are on the boot class path. */
@Tag("lab")
class ObservedLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(4);

    @TempDir
    private Path folder;

    @Test
    void shouldTellOfAConnectionInTheBeanAndInTheRecording() throws Exception {
        Path file = folder.resolve("recording.jfr");
        int port;
        try (JvmProcess java = Observed.running(JmxReader.class, folder)
                .option("-XX:StartFlightRecording:settings=none,filename=" + file)
                .arguments(Site.address())
                .start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            Observed.assertRead("null", result);
            port = Integer.parseInt(result.value("port"));
        }
        List<RecordedEvent> all = RecordingFile.readAllEvents(file);
        List<RecordedEvent> opened = named(all, "org.jrsocket.ConnectionOpened");
        List<RecordedEvent> fallbacks = named(all, "org.jrsocket.Fallback");
        RecordedEvent client = opened.stream()
                .filter(event -> !event.getBoolean("accepted"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(all.toString()));
        assertEquals(port, client.getInt("remotePort"));
        if (Site.hasRdma()) {
            assertEquals(2, opened.size(), opened::toString);
            assertEquals("RDMA", client.getString("transport"));
            assertEquals(System.getenv("ROCE_LAB_DEVICE"), client.getString("device"));
            assertEquals(List.of(), fallbacks);
        } else {
            assertEquals("TCP", client.getString("transport"));
            assertTrue(client.getString("reason").equals("UNAVAILABLE"), client::toString);
            assertEquals(
                    List.of(true, false),
                    fallbacks.stream()
                            .map(event -> event.getBoolean("listening"))
                            .toList());
        }
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }
}
