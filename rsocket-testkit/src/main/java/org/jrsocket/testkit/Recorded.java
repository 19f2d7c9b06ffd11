/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** A Flight Recorder recording of this JVM, with only this project's events. */
public final class Recorded implements AutoCloseable {

    private final Recording recording = new Recording();

    public Recorded() {
        recording.enable("org.jrsocket.CreditStall").withThreshold(Duration.ZERO);
        recording.start();
    }

    /** Returns the events so far that pass the filter, in order of time. */
    public List<RecordedEvent> events(String name, Predicate<RecordedEvent> filter) throws IOException {
        Path file = Files.createTempFile("recorded", ".jfr");
        try {
            recording.dump(file);
            return RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals("org.jrsocket." + name))
                    .filter(filter)
                    .sorted((a, b) -> a.getStartTime().compareTo(b.getStartTime()))
                    .toList();
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Returns the events of a connection or listener with this port, on either side; waits for {@code count} of them.
     */
    public List<RecordedEvent> await(int count, String name, int port) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (true) {
            List<RecordedEvent> events = events(
                    name,
                    event -> has(event, "port", port)
                            || has(event, "localPort", port)
                            || has(event, "remotePort", port));
            if (events.size() == count) {
                return events;
            }
            if (events.size() > count || System.nanoTime() - deadline > 0) {
                throw new AssertionError(count + " events " + name + " expected: " + events);
            }
            Thread.sleep(50);
        }
    }

    private static boolean has(RecordedEvent event, String field, int port) {
        return event.hasField(field) && event.getInt(field) == port;
    }

    @Override
    public void close() {
        recording.close();
    }
}
