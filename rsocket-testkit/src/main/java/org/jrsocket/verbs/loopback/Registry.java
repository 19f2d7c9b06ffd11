/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Everything that a provider has made and that is not destroyed yet, and what its users did wrong. */
final class Registry {

    enum Kind {
        CM_CHANNEL,
        ID,
        QP,
        CQ,
        COMP_CHANNEL,
        MR,
        PD
    }

    private final Map<Kind, Set<Object>> live = new EnumMap<>(Kind.class);
    private final List<String> violations = new CopyOnWriteArrayList<>();

    Registry() {
        for (Kind kind : Kind.values()) {
            live.put(kind, ConcurrentHashMap.newKeySet());
        }
    }

    void add(Kind kind, Object object) {
        live.get(kind).add(object);
    }

    void remove(Kind kind, Object object) {
        live.get(kind).remove(object);
    }

    int count(Kind kind) {
        return live.get(kind).size();
    }

    Set<Object> all(Kind kind) {
        return live.get(kind);
    }

    LiveObjects counts() {
        return new LiveObjects(
                count(Kind.CM_CHANNEL),
                count(Kind.ID),
                count(Kind.QP),
                count(Kind.CQ),
                count(Kind.COMP_CHANNEL),
                count(Kind.MR),
                count(Kind.PD));
    }

    void violation(String text) {
        StringBuilder where = new StringBuilder(text)
                .append(" [")
                .append(Thread.currentThread().getName())
                .append(']');
        StackWalker.getInstance().forEach(frame -> {
            if (frame.getClassName().startsWith("org.jrsocket.")) {
                where.append(" < ")
                        .append(frame.getClassName().replaceAll(".*\\.", ""))
                        .append('.')
                        .append(frame.getMethodName())
                        .append(':')
                        .append(frame.getLineNumber());
            }
        });
        violations.add(where.toString());
    }

    List<String> violations() {
        return violations;
    }

    @Override
    public String toString() {
        return live.toString();
    }
}
