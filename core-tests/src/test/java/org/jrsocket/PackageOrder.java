/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Which package may use which: the table of docs/architecture.md, held against the sources. */
final class PackageOrder {

    private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
            Map.entry("wire", Set.of()),
            Map.entry("os", Set.of()),
            Map.entry("jfr", Set.of()),
            Map.entry("verbs", Set.of("os")),
            Map.entry("verbs.disni", Set.of("verbs", "os")),
            Map.entry("verbs.rdmacore", Set.of("verbs", "verbs.disni", "os")),
            Map.entry("verbs.loopback", Set.of("verbs", "verbs.disni", "wire", "os")),
            Map.entry("protocol", Set.of("wire")),
            Map.entry("sim", Set.of("protocol", "wire")),
            Map.entry("threads", Set.of("verbs", "os")),
            Map.entry("endpoint", Set.of("threads", "protocol", "verbs", "wire", "os")),
            Map.entry("stream", Set.of("endpoint", "threads", "protocol", "verbs", "wire", "os", "jfr")),
            Map.entry("connect", Set.of("stream", "threads", "verbs", "verbs.rdmacore", "os", "jfr")),
            Map.entry("net", Set.of("connect", "stream", "threads")),
            Map.entry("nio", Set.of("connect", "stream", "threads", "verbs", "os")),
            Map.entry("aio", Set.of("nio", "stream", "threads")),
            Map.entry("netty", Set.of("nio", "stream", "verbs", "os")),
            Map.entry("perf", Set.of("connect", "stream", "threads")),
            Map.entry(
                    "agent",
                    Set.of("net", "nio", "aio", "perf", "connect", "stream", "endpoint", "threads", "verbs", "os")));

    /** Names in imports, in code and in strings: a class found by name is used, too. */
    private static final Pattern USE = Pattern.compile("\\borg\\.jrsocket\\.([a-z]+(?:\\.[a-z]+)*)(?=\\.[A-Z])");

    private PackageOrder() {}

    /** Uses that the table has not, as "file uses package"; {@code sources} is a module's {@code src/main/java}. */
    static List<String> violations(Path sources) throws IOException {
        Path root = sources.resolve("org/jrsocket");
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                String own = root.relativize(file.getParent()).toString().replace('/', '.');
                for (String used : uses(file)) {
                    if (!used.equals(own)
                            && !MAY_USE.getOrDefault(own, Set.of()).contains(used)) {
                        found.add(root.relativize(file) + " uses " + used);
                    }
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return found;
    }

    private static Set<String> uses(Path file) throws IOException {
        Set<String> used = new TreeSet<>();
        Matcher matcher = USE.matcher(SourceText.withoutComments(file));
        while (matcher.find()) {
            used.add(matcher.group(1));
        }
        return used;
    }
}
