/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Adds up what {@code scripts/test} ran: {@code java scripts/TestSummary.java RESULTS}. Each folder in RESULTS is a
 * part; it holds JUnit's XML reports, and in {@code parts.txt} lines such as {@code "skipped lab: no QEMU"} for what is
 * not a JUnit test.
 *
 * <p>A test that is skipped in one part and passes in another (it needs a device, or a newer JDK) is not counted as
 * skipped. Maven's parts give a test that fails a second chance: if it passes then, it is named as FLAKY, which
 * somebody has to mend. Ends with 1 if anything failed, if nothing passed, or if more than a few tests were flaky: that
 * is no accident.
 */
class TestSummary {

    private static final int MOST_FLAKY = 3;

    private int passed;
    private int failed;
    private int flaky;
    private final Map<String, String> skipped = new LinkedHashMap<>(); // test, where and why
    private final Set<String> ran = new HashSet<>();

    public static void main(String[] args) throws Exception {
        TestSummary summary = new TestSummary();
        try (Stream<Path> parts = Files.list(Path.of(args[0]))) {
            for (Path part : parts.filter(Files::isDirectory).sorted().toList()) {
                summary.add(part);
            }
        }
        System.exit(summary.print() ? 0 : 1);
    }

    private void add(Path part) throws Exception {
        int passedBefore = passed;
        int failedBefore = failed;
        try (Stream<Path> files = Files.walk(part)) {
            for (Path report : files.filter(
                            file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                    .sorted()
                    .toList()) {
                addReport(part.getFileName().toString(), report.toFile());
            }
        }
        Path lines = part.resolve("parts.txt");
        if (Files.exists(lines)) {
            for (String line : Files.readAllLines(lines)) {
                String[] words = line.split(" ", 2);
                count(part.getFileName().toString(), words[0], words[1], "");
            }
        }
        System.out.printf(
                "%s: %d passed, %d failed%n", part.getFileName(), passed - passedBefore, failed - failedBefore);
    }

    private void addReport(String part, File report) throws Exception {
        DocumentBuilder parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        parser.setErrorHandler(null);
        NodeList cases;
        try {
            cases = parser.parse(report).getElementsByTagName("testcase");
        } catch (IOException | org.xml.sax.SAXException e) {
            count(part, "failed", report.getName(), "unreadable report: " + e.getMessage());
            return;
        }
        for (int i = 0; i < cases.getLength(); i++) {
            Element test = (Element) cases.item(i);
            String name = test.getAttribute("classname")
                    + '.'
                    + test.getAttribute("name").replaceAll("[({][^\\[]*[)}](?=$|\\[)", "");
            String result = "passed";
            String detail = "";
            for (String kind : List.of("skipped", "failure", "error")) {
                NodeList found = test.getElementsByTagName(kind);
                if (found.getLength() > 0) {
                    result = kind.equals("skipped") ? kind : "failed";
                    Element why = (Element) found.item(0);
                    String message = why.getAttribute("message");
                    detail = (message.isEmpty() ? why.getTextContent() : message)
                            .strip()
                            .lines()
                            .findFirst()
                            .orElse("");
                }
            }
            count(part, result, name, detail);
            for (String kind : List.of("flakyFailure", "flakyError")) {
                NodeList found = test.getElementsByTagName(kind);
                if (found.getLength() > 0) {
                    flaky++;
                    System.out.printf(
                            "FLAKY %s: %s: %s%n", part, name, ((Element) found.item(0)).getAttribute("message"));
                }
            }
        }
    }

    private void count(String part, String result, String name, String detail) {
        switch (result) {
            case "passed" -> {
                passed++;
                ran.add(name);
            }
            case "skipped" ->
                skipped.merge(
                        name,
                        part + (detail.isEmpty() ? "" : ": " + detail),
                        (a, b) -> a.contains(b) ? a : a + "; " + b);
            default -> {
                failed++;
                ran.add(name);
                System.out.printf("FAILED %s: %s%s%n", part, name, detail.isEmpty() ? "" : ": " + detail);
            }
        }
    }

    private boolean print() {
        // A class that is skipped as a whole reports one test without a name.
        skipped.keySet()
                .removeIf(test -> test.endsWith(".")
                        ? ran.stream().anyMatch(other -> other.startsWith(test))
                        : ran.contains(test));
        skipped.forEach((test, why) -> System.out.printf("SKIPPED %s (%s)%n", test, why));
        if (flaky > MOST_FLAKY) {
            System.out.printf("FAILED: more than %d flaky tests%n", MOST_FLAKY);
        }
        System.out.printf("%d passed, %d failed, %d skipped, %d flaky%n", passed, failed, skipped.size(), flaky);
        return failed == 0 && passed > 0 && flaky <= MOST_FLAKY;
    }
}
