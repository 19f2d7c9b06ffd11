/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code scripts/test} selects by tag: a class that is named for the lab and has no tag would never run there. */
class TagsTest {

    @Test
    void shouldRunInTheLabWhatIsNamedForIt() throws Exception {
        assertTagged(".*LabTest", "lab");
        assertTagged(".*\\.c\\..*LabTest", "c");
        assertTagged(".*\\.frameworks\\..*LabTest", "frameworks");
        assertTagged(".*\\.programs\\..*LabTest", "programs");
        assertTagged(".*BetweenHosts", "hosts");
    }

    private static void assertTagged(String pattern, String tag) throws Exception {
        Path folder = Site.classes(TagsTest.class);
        List<String> names;
        try (Stream<Path> files = Files.walk(folder)) {
            names = files.map(file -> folder.relativize(file).toString().replace('/', '.'))
                    .filter(name -> name.matches(pattern + "\\.class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .toList();
        }
        assertFalse(names.isEmpty(), "no class " + pattern);
        for (String name : names) {
            Class<?> type = Class.forName(name, false, TagsTest.class.getClassLoader());
            assertTrue(
                    Stream.of(type.getAnnotationsByType(Tag.class))
                            .anyMatch(found -> found.value().equals(tag)),
                    name + " has no tag '" + tag + "'");
        }
    }
}
