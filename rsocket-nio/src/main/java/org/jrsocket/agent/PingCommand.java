/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.perf.Ping;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

@Command(
        name = "ping",
        mixinStandardHelpOptions = true,
        versionProvider = Commands.Version.class,
        description = "Connects to HOST:PORT and shows over which transport and how long it took;"
                + " then measures round trips if a perf server is there, and otherwise how long connecting takes."
                + " Any server that listens will do; it sees connections that end at once."
                + " Ctrl-C prints the result so far.",
        exitCodeListHeading = "Exit status:%n",
        exitCodeList = {"0:all pings were answered", "1:some were not", "2:wrong usage or configuration", "130:Ctrl-C"})
final class PingCommand implements Callable<Integer> {

    @ParentCommand
    private Commands.Terminal terminal;

    @Mixin
    private ClientOptions options;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            defaultValue = "10",
            description = "how many pings; default ${DEFAULT-VALUE}")
    private int count;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            converter = ClientOptions.Seconds.class,
            description = "time between pings; default ${DEFAULT-VALUE}")
    private long interval;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            defaultValue = "64",
            converter = ClientOptions.Size.class,
            description = "message size, up to 16m; default ${DEFAULT-VALUE}")
    private int size;

    @Parameters(paramLabel = "HOST[:PORT]", description = "default port: " + ClientOptions.PORT)
    private String peer;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws ConfigurationException {
        if (count < 1) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--count must be at least 1");
        }
        Peer parsed = options.peer(peer, Integer.parseInt(ClientOptions.PORT));
        Settings settings = Commands.settings();
        InetSocketAddress address = ClientOptions.resolve(parsed, terminal.err());
        if (address == null) {
            return 1;
        }
        TransportContext context = ClientOptions.context(settings);
        return new Ping(context, options.transport, options.report(terminal))
                        .run(parsed.text(), address, count, interval, size)
                ? 0
                : 1;
    }
}
