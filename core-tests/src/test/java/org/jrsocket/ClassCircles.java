/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Circles of classes of one package that use each other. A nested class counts as a part of the class around it.
 * Comments do not count.
 */
final class ClassCircles {

    private static final Pattern NAME = Pattern.compile("(?<![\\w.])((?:[a-z]\\w*\\.)*)([A-Z]\\w*)");

    private static final Pattern IMPORT = Pattern.compile("(?m)^import ([\\w.]+\\.)(\\w+);");

    private static final Pattern DECLARED = Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w*)");

    private final String qualifier;
    private final Set<String> names = new TreeSet<>();
    /** For each class, the classes that it uses, each with one place where it does. */
    private final Map<String, NavigableMap<String, String>> uses = new TreeMap<>();

    private ClassCircles(String packageName) {
        qualifier = "org.jrsocket." + packageName + ".";
    }

    /** Returns the packages below {@code org.jrsocket} that have classes, sorted: "verbs.disni". */
    static List<String> packages(Path sources) throws IOException {
        Path root = sources.resolve("org/jrsocket");
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("package-info.java"))
                    .map(file -> root.relativize(file.getParent()).toString().replace('/', '.'))
                    .distinct()
                    .sorted()
                    .toList();
        }
    }

    /**
     * Returns a circle of each group of classes of which each uses each other one, by itself or through others.
     *
     * @param sources a module's {@code src/main/java}
     * @param compiled what that was compiled to, a folder or a jar, or null: classes also use what sources do not name,
     *     such as what one call returns and the next is made on
     */
    static List<String> among(Path sources, Path compiled, String packageName) throws IOException {
        ClassCircles found = new ClassCircles(packageName);
        found.readSources(sources.resolve(found.qualifier.replace('.', '/')));
        if (compiled != null) {
            try (FileSystem jar = Files.isDirectory(compiled) ? null : FileSystems.newFileSystem(compiled)) {
                Path root = jar == null ? compiled : jar.getPath("/");
                found.readClasses(root.resolve(found.qualifier.replace('.', '/')));
            }
        }
        return found.circles();
    }

    private void readSources(Path folder) throws IOException {
        List<Path> files = list(folder, ".java");
        for (Path file : files) {
            names.add(nameOf(file));
        }
        names.remove("package-info");
        for (String name : names) {
            uses.put(name, new TreeMap<>());
        }
        for (String name : names) {
            readSource(name, folder.resolve(name + ".java"));
        }
    }

    private void readSource(String name, Path file) throws IOException {
        String code = SourceText.withoutCommentsAndLiterals(file);
        Set<String> others = others(code); // that have the name of one of the package
        Matcher matcher = NAME.matcher(code);
        while (matcher.find()) {
            String used = matcher.group(2);
            boolean own = matcher.group(1).isEmpty()
                    ? !others.contains(used)
                    : matcher.group(1).equals(qualifier);
            if (own) {
                long before = code.substring(0, matcher.start())
                        .chars()
                        .filter(each -> each == '\n')
                        .count();
                add(name, used, file.getFileName() + ":" + (before + 1));
            }
        }
    }

    private Set<String> others(String code) {
        Set<String> others = new HashSet<>();
        Matcher imported = IMPORT.matcher(code);
        while (imported.find()) {
            if (!imported.group(1).equals(qualifier)) {
                others.add(imported.group(2));
            }
        }
        Matcher declared = DECLARED.matcher(code);
        while (declared.find()) {
            others.add(declared.group(1));
        }
        return others;
    }

    /** Looks for names in all of a class file: strings have dots where names of classes have slashes. */
    private void readClasses(Path folder) throws IOException {
        Pattern inClass = Pattern.compile(Pattern.quote(qualifier.replace('.', '/')) + "(\\w+)");
        for (Path file : list(folder, ".class")) {
            String name = nameOf(file);
            if (names.contains(name)) {
                Matcher matcher = inClass.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
                while (matcher.find()) {
                    add(name, matcher.group(1), file.getFileName().toString());
                }
            }
        }
    }

    private void add(String name, String used, String where) {
        if (!used.equals(name) && names.contains(used)) {
            uses.get(name).putIfAbsent(used, where);
        }
    }

    private static List<Path> list(Path folder, String suffix) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(each -> each.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the name of the top-level class. */
    private static String nameOf(Path file) {
        return file.getFileName().toString().split("[.$]", 2)[0];
    }

    private List<String> circles() {
        List<String> found = new ArrayList<>();
        Set<String> told = new HashSet<>();
        for (String name : names) {
            if (!told.contains(name) && reached(name).contains(name)) {
                List<String> group = names.stream()
                        .filter(each ->
                                reached(name).contains(each) && reached(each).contains(name))
                        .toList();
                told.addAll(group);
                found.add(shortest(group));
            }
        }
        return found;
    }

    private Set<String> reached(String from) {
        return before(from).keySet();
    }

    /** Returns what can be reached, each with the class before it on a shortest way. */
    private Map<String, String> before(String from) {
        Map<String, String> before = new HashMap<>();
        Queue<String> next = new ArrayDeque<>(List.of(from));
        while (!next.isEmpty()) {
            String at = next.remove();
            for (String used : uses.get(at).keySet()) {
                if (before.putIfAbsent(used, at) == null) {
                    next.add(used);
                }
            }
        }
        return before;
    }

    private String shortest(List<String> group) {
        List<String> circle = group.stream()
                .map(this::circle)
                .min(Comparator.comparing(List::size))
                .orElseThrow();
        StringBuilder text = new StringBuilder(String.join(" -> ", circle));
        if (circle.size() <= group.size()) {
            text.append(", one of the circles among ").append(group);
        }
        for (int i = 1; i < circle.size(); i++) {
            String name = circle.get(i - 1);
            String used = circle.get(i);
            text.append("\n    ")
                    .append(uses.get(name).get(used))
                    .append(" uses ")
                    .append(used);
        }
        return text.toString();
    }

    /** Returns a shortest circle that begins and ends at {@code name}. */
    private List<String> circle(String name) {
        Map<String, String> before = before(name);
        List<String> circle = new ArrayList<>(List.of(name));
        String at = before.get(name);
        while (!at.equals(name)) {
            circle.add(0, at);
            at = before.get(at);
        }
        circle.add(0, name);
        return circle;
    }
}
