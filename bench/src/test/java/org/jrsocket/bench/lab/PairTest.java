/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes of which one does not start. */
@Timeout(120)
class PairTest {

    private static final String READY = "echo $$ > \"$1\"; echo ready; exec sleep 600";

    @TempDir
    private Path directory;

    private IOException failure(String server, String client) {
        Path pid = directory.resolve("pid");
        return assertThrows(
                IOException.class,
                () -> new Pair(
                        List.of("sh", "-c"),
                        List.of(server, "sh", pid.toString()),
                        List.of(client, "sh", pid.toString()),
                        Map.of(),
                        directory.resolve("log")));
    }

    /** It would have the port that the next attempt needs. */
    @Test
    void shouldEndTheServerIfItsClientDoesNotStart() throws Exception {
        IOException e = failure(READY, "echo '#'; echo '# SIGILL'; echo a line of its errors >&2; exit 3");
        assertEquals(
                "the client did not start: #; the client has ended with 3 and said: # SIGILL / a line of its errors",
                e.getMessage());
        long server = Long.parseLong(Files.readString(directory.resolve("pid")).strip());
        while (ProcessHandle.of(server).map(ProcessHandle::isAlive).orElse(false)) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @Test
    void shouldSayWhyAServerDidNotStart() {
        String message = failure("echo no port is left >&2; exit 1", READY).getMessage();
        assertTrue(message.startsWith("the server did not start: "), message);
        assertTrue(message.endsWith("has ended with 1 and said: no port is left"), message);
    }
}
