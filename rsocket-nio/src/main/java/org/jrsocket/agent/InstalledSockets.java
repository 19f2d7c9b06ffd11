/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.TransportContext;

/**
 * Which sockets of this JVM are ours, for people to read, with the reason why others are the JDK's; and what chooses
 * the transport of ours. Any thread may use it.
 */
final class InstalledSockets {

    /** The kinds of sockets that can be ours, independently of one another. */
    enum Kind {
        SOCKETS("java.net sockets"),
        CHANNELS("NIO channels"),
        ASYNCHRONOUS_CHANNELS("asynchronous channels");

        final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    private static final Map<Kind, String> STATES = Collections.synchronizedMap(new EnumMap<>(Kind.class));

    /** Copies of Netty that do not use the JDK's channels, and what they use. */
    private static final Map<String, String> BYPASSES = Collections.synchronizedMap(new TreeMap<>());

    private static volatile TransportContext context;

    private InstalledSockets() {}

    /** Sets what chooses the transport of our sockets, before any socket of this JVM is ours. */
    static void choose(TransportContext chooser) {
        context = chooser;
    }

    /**
     * Leaves this JVM's own sockets to TCP. For commands, which use RDMA directly and compare it with TCP. It is not in
     * {@code Installation}, because that class needs a module (java.instrument) which commands do not need.
     */
    static void useTcp() {
        TransportContext chooser = context;
        if (chooser != null) {
            chooser.override(Policy.TCP);
        }
    }

    static void ours(Kind kind) {
        STATES.put(kind, "ours");
    }

    /** Records that a kind is the JDK's, unless something has been recorded already. */
    static void jdks(Kind kind, String reason) {
        STATES.putIfAbsent(kind, "the JDK's (" + reason + ")");
    }

    /** Does the same for all kinds. */
    static void jdks(String reason) {
        for (Kind kind : Kind.values()) {
            jdks(kind, reason);
        }
    }

    /** @param netty the name of the copy's packages; its connections are neither ours nor the JDK's */
    static void bypassed(String netty, String transport) {
        BYPASSES.put(netty, "TCP by " + transport);
    }

    /** Describes everything in one line. */
    static String describe() {
        Map<String, String> all = new LinkedHashMap<>();
        synchronized (STATES) {
            STATES.forEach((kind, state) -> all.put(kind.text, state));
        }
        synchronized (BYPASSES) {
            all.putAll(BYPASSES);
        }
        return all.entrySet().stream()
                .map(entry -> entry.getKey() + ": " + entry.getValue())
                .collect(Collectors.joining("; "));
    }
}
