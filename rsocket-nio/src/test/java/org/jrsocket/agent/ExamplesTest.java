/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The examples of docs/operations.md: what the exporter's rules name is what the bean has, and what the dashboard shows
 * is what the rules give.
 */
class ExamplesTest {

    private static final Pattern FIELD = Pattern.compile("^ {2}(?:- | {2})(\\w+): (.+)$");
    private static final Pattern LABEL = Pattern.compile("^ {6}(\\w+): (.+)$");
    private static final Pattern METRIC = Pattern.compile("jrsocket_\\w+");

    /** A rule of the exporter. */
    private static final class Rule {
        private final Map<String, String> fields = new LinkedHashMap<>();
        private final Map<String, String> labels = new LinkedHashMap<>();

        String name() {
            return fields.get("name");
        }

        String type() {
            return fields.get("type");
        }
    }

    private final List<Rule> rules = new ArrayList<>();
    private Map<?, ?> dashboard;

    @BeforeEach
    void read() throws IOException {
        boolean inRules = false;
        for (String line : Files.readAllLines(file("jmx-exporter.yml"))) {
            Matcher field = FIELD.matcher(line);
            Matcher label = LABEL.matcher(line);
            if (!inRules) {
                inRules = line.equals("rules:");
            } else if (label.matches()) {
                last().labels.put(label.group(1), label.group(2));
            } else if (field.matches()) {
                if (line.startsWith("  - ")) {
                    rules.add(new Rule());
                }
                last().fields.put(field.group(1), field.group(2));
            } else {
                assertEquals("    labels:", line, "of another form than this test knows");
            }
        }
        dashboard = (Map<?, ?>) Json.parse(Files.readString(file("grafana-dashboard.json")));
    }

    private static Path file(String name) {
        Path here = Path.of("docs/examples", name);
        return Files.exists(here) ? here : Path.of("..").resolve(here);
    }

    private Rule last() {
        return rules.get(rules.size() - 1);
    }

    /** The numbers of the bean, as the exporter's patterns see them; by attribute. */
    private static Map<String, String> numbers() {
        Map<String, String> numbers = new TreeMap<>();
        for (Method method : TransportMXBean.class.getMethods()) {
            if (method.getName().startsWith("get")) {
                String attribute = method.getName().substring("get".length());
                if (method.getReturnType() == Map.class) {
                    numbers.put(attribute, "org.jrsocket<type=Transport, key=WORD><>" + attribute);
                } else if (method.getReturnType().isPrimitive()) {
                    numbers.put(attribute, "org.jrsocket<type=Transport><>" + attribute);
                }
            }
        }
        return numbers;
    }

    @Test
    void shouldExportEachNumberOfTheBeanByOneRule() {
        Set<Rule> used = new HashSet<>();
        numbers().forEach((attribute, seen) -> {
            List<Rule> matching = rules.stream()
                    .filter(rule -> Pattern.compile(rule.fields.get("pattern"))
                            .matcher(seen)
                            .find())
                    .toList();
            assertEquals(1, matching.size(), attribute);
            assertTrue(used.add(matching.get(0)), attribute);
            assertEquals(seen.contains("key="), matching.get(0).labels.containsValue("$1"), attribute);
        });
        assertEquals(rules.size(), used.size(), "a rule names what the bean does not have");
    }

    @Test
    void shouldNameMetricsAsPrometheusDoes() {
        Set<String> names = new HashSet<>();
        for (Rule rule : rules) {
            assertEquals(Set.of("pattern", "name", "help", "type"), rule.fields.keySet());
            assertTrue(METRIC.matcher(rule.name()).matches() && names.add(rule.name()), rule.name());
            assertEquals(rule.name(), rule.name().toLowerCase(Locale.ROOT));
            assertTrue(Set.of("COUNTER", "GAUGE", "UNTYPED").contains(rule.type()), rule.name());
            assertEquals(rule.type().equals("COUNTER"), rule.name().endsWith("_total"), rule.name());
        }
    }

    @Test
    void shouldShowWhatIsExportedAndNothingElse() {
        Map<String, Rule> byName = new HashMap<>();
        rules.forEach(rule -> byName.put(rule.name(), rule));
        Set<String> shown = new TreeSet<>();
        for (Map<?, ?> panel : panels()) {
            Set<Object> refs = new HashSet<>();
            for (Object each : (List<?>) panel.get("targets")) {
                Map<?, ?> target = (Map<?, ?>) each;
                assertTrue(refs.add(target.get("refId")), panel::toString);
                String expression = (String) target.get("expr");
                Matcher metric = METRIC.matcher(expression);
                assertTrue(metric.find(), expression);
                Rule rule = byName.get(metric.group());
                assertTrue(rule != null, "no rule gives " + metric.group());
                assertFalse(metric.find(), "one metric: " + expression);
                shown.add(rule.name());
                assertExpression(rule, expression, String.valueOf(target.get("legendFormat")));
            }
        }
        assertEquals(byName.keySet(), shown);
        assertTrue(dashboard.toString().contains("label_values(jrsocket_rdma_connected_total, job)"));
    }

    /** That a counter is shown as a rate, a histogram by quantiles, and labels that there are. */
    private static void assertExpression(Rule rule, String expression, String legend) {
        assertEquals(!rule.type().equals("GAUGE"), expression.contains("rate("), expression);
        assertEquals(rule.labels.containsKey("le"), expression.contains("histogram_quantile("), expression);
        assertTrue(expression.contains("{job=~\"$job\"}"), expression);
        assertEquals(
                expression.chars().filter(c -> c == '(').count(),
                expression.chars().filter(c -> c == ')').count(),
                expression);
        Set<String> known = new HashSet<>(rule.labels.keySet());
        known.addAll(Set.of("job", "instance"));
        Set<String> kept = new HashSet<>();
        Matcher by = Pattern.compile("by \\((\\w+)\\)").matcher(expression);
        while (by.find()) {
            kept.add(by.group(1));
        }
        assertTrue(known.containsAll(kept), expression);
        Matcher named = Pattern.compile("\\{\\{(\\w+)}}").matcher(legend);
        while (named.find()) {
            assertTrue(kept.contains(named.group(1)), legend + " of " + expression);
        }
    }

    private List<Map<?, ?>> panels() {
        List<Map<?, ?>> panels = new ArrayList<>();
        for (Object panel : (List<?>) dashboard.get("panels")) {
            panels.add((Map<?, ?>) panel);
        }
        return panels;
    }

    @Test
    void shouldHavePanelsBesideEachOther() {
        Set<Object> ids = new HashSet<>();
        Set<String> taken = new HashSet<>();
        for (Map<?, ?> panel : panels()) {
            assertTrue(ids.add(panel.get("id")), panel::toString);
            Map<?, ?> place = (Map<?, ?>) panel.get("gridPos");
            int x = number(place.get("x"));
            int y = number(place.get("y"));
            assertTrue(x + number(place.get("w")) <= 24, panel::toString);
            for (int i = x; i < x + number(place.get("w")); i++) {
                for (int j = y; j < y + number(place.get("h")); j++) {
                    assertTrue(taken.add(i + " " + j), () -> panel.get("title") + " lies on another panel");
                }
            }
        }
    }

    private static int number(Object value) {
        return ((Double) value).intValue();
    }
}
