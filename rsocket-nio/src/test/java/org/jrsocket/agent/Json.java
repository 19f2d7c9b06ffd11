/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON as RFC 8259 has it: maps, lists, strings, numbers, booleans, null. For files of this repository. */
final class Json {

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** @throws IllegalArgumentException with the place where it is no JSON */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        json.require(json.at == text.length());
        return value;
    }

    private Object value() {
        skipSpace();
        require(at < text.length());
        return switch (text.charAt(at)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        take('{');
        for (boolean more = !tookAny('}'); more; more = next('}')) {
            skipSpace();
            String name = string();
            take(':');
            require(!members.containsKey(name));
            members.put(name, value());
        }
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        take('[');
        for (boolean more = !tookAny(']'); more; more = next(']')) {
            elements.add(value());
        }
        return elements;
    }

    /** Whether a comma follows; else the end has to. */
    private boolean next(char end) {
        if (tookAny(',')) {
            return true;
        }
        take(end);
        return false;
    }

    private String string() {
        take('"');
        StringBuilder out = new StringBuilder();
        for (; ; ) {
            require(at < text.length());
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            require(c >= ' ');
            out.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        require(at < text.length());
        char c = text.charAt(at++);
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> {
                require(c == 'u' && at + 4 <= text.length());
                at += 4;
                yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
            }
        };
    }

    private Object word(String word, Object value) {
        require(text.startsWith(word, at));
        at += word.length();
        return value;
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        require(number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?"));
        return Double.valueOf(number);
    }

    private boolean tookAny(char wanted) {
        skipSpace();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void take(char wanted) {
        require(tookAny(wanted));
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private void require(boolean holds) {
        if (!holds) {
            throw new IllegalArgumentException(
                    "no JSON at character " + at + ": " + text.substring(at, Math.min(text.length(), at + 20)));
        }
    }
}
