/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.perf.Perf;
import org.jrsocket.perf.Server;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

@Command(
        name = "perf",
        mixinStandardHelpOptions = true,
        versionProvider = Commands.Version.class,
        subcommands = {PerfCommand.ServerCommand.class},
        synopsisSubcommandLabel = "[server]",
        description = "Measures round trips and throughput to a host that runs \"perf server\"."
                + " Ctrl-C prints the result so far.",
        exitCodeListHeading = "Exit status:%n",
        exitCodeList = {"0:all was measured", "1:something failed", "2:wrong usage or configuration", "130:Ctrl-C"})
final class PerfCommand implements Callable<Integer> {

    @ParentCommand
    private Commands.Terminal terminal;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ClientOptions options;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "SECONDS",
            defaultValue = "5",
            converter = ClientOptions.Seconds.class,
            description = "duration of each test; default ${DEFAULT-VALUE}")
    private long time;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            defaultValue = "64",
            converter = ClientOptions.Size.class,
            description = "message size for round trips, up to 16m; default ${DEFAULT-VALUE}")
    private int size;

    @Option(
            names = {"-b", "--block"},
            paramLabel = "BYTES",
            defaultValue = "64k",
            converter = ClientOptions.Size.class,
            description = "size of each write for throughput, up to 16m; default ${DEFAULT-VALUE}")
    private int block;

    @Option(
            names = "--tests",
            paramLabel = "latency|send|receive",
            split = ",",
            description = "which tests to run; default: all three")
    private Set<Perf.Measurement> tests = EnumSet.allOf(Perf.Measurement.class);

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST[:PORT]",
            description = "where perf server runs; default port: " + ClientOptions.PORT)
    private String peer;

    @Override
    public Integer call() throws ConfigurationException {
        if (peer == null) {
            throw new CommandLine.ParameterException(spec.commandLine(), "Missing HOST[:PORT], or the word server");
        }
        Peer parsed = options.peer(peer, Integer.parseInt(ClientOptions.PORT));
        Settings settings = Commands.settings();
        InetSocketAddress address = ClientOptions.resolve(parsed, terminal.err());
        if (address == null) {
            return 1;
        }
        TransportContext context = ClientOptions.context(settings);
        return new Perf(context, options.transport, options.report(terminal), parsed.text(), address)
                        .run(tests, time, size, block)
                ? 0
                : 1;
    }

    @Command(
            name = "server",
            mixinStandardHelpOptions = true,
            versionProvider = Commands.Version.class,
            description = "Serves perf and ping, over RDMA and TCP on one port, until Ctrl-C."
                    + " Anybody who reaches the port can make it send and receive.")
    static final class ServerCommand implements Callable<Integer> {

        @ParentCommand
        private PerfCommand perf;

        @Option(
                names = {"-p", "--port"},
                defaultValue = ClientOptions.PORT,
                description = "default ${DEFAULT-VALUE}; 0 for any free port")
        private int port;

        @Option(names = "--bind", paramLabel = "ADDRESS", description = "default: all addresses of this host")
        private InetAddress address;

        @Override
        public Integer call() throws ConfigurationException, InterruptedException {
            Settings settings = Commands.settings();
            TransportContext context = TransportContext.open(settings, TransportHolder.rdmaCore());
            try {
                Server.open(context, address, port, perf.terminal.out());
                new CountDownLatch(1).await(); // Ctrl-C ends it
                return 0;
            } catch (IOException | IllegalArgumentException e) {
                perf.terminal.err().println("cannot listen on port " + port + ": " + e.getMessage());
                return 1;
            }
        }
    }
}
