/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Collectors;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.loopback.LoopbackConfig;
import org.jrsocket.verbs.loopback.LoopbackProvider;

/**
 * The agent over loopback verbs that serve all addresses of this host: connections within the JVM are over RDMA, those
 * to another process over TCP. {@code scripts/jdk-tests} builds a jar of it.
 */
public final class LoopbackAgent {

    /** System property: a file that gets a line when the JVM ends, with the transports that its connections had. */
    static final String COUNTS = "org.jrsocket.test.counts";

    private LoopbackAgent() {}

    /** Called by the JVM before {@code main}. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        // As the agent does, whose slf4j is renamed.
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        Installation.start(arguments, instrumentation, TransportHolder.opening(LoopbackAgent::open));
        String file = System.getProperty(COUNTS);
        if (file != null) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> count(Path.of(file))));
        }
    }

    private static VerbsProvider open() throws VerbsUnavailableException {
        // A busy machine is not a silent peer.
        LoopbackProvider provider = new LoopbackProvider(new LoopbackConfig().cmTimeoutMillis(30_000));
        try {
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .forEach((InetAddress address) -> provider.serve(address, provider.device()));
        } catch (SocketException e) {
            throw new VerbsUnavailableException(
                    VerbsUnavailableException.Reason.NO_DEVICE, "no addresses: " + e.getMessage(), e);
        }
        return provider;
    }

    private static void count(Path file) {
        TransportBean bean = Management.bean();
        // The name is jtreg's. A program that a test starts has none.
        String line = String.format(
                "%s rdma-connected=%d rdma-accepted=%d tcp-accepted=%d tcp-chosen=%s%n",
                System.getProperty("test.name", "child"),
                bean.getRdmaConnected(),
                bean.getRdmaAccepted(),
                bean.getTcpAccepted(),
                bean.getTcpChosen().entrySet().stream()
                        .filter(each -> each.getValue() > 0)
                        .map(Object::toString)
                        .collect(Collectors.joining(",", "{", "}")));
        try {
            Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
