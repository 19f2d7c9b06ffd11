/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jrsocket.connect.ConfigurationException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The entry point of {@code java -jar rsocket.jar COMMAND}. The exit status is 0 for success, 1 for failure, 2 for a
 * wrong call or configuration; {@code doctor} has one more.
 */
@Command(
        name = "java -jar rsocket.jar",
        mixinStandardHelpOptions = true,
        versionProvider = Commands.Version.class,
        description = "RDMA for the JVM. In an application's JVM: java -javaagent:rsocket.jar -jar app.jar",
        subcommands = {
            Main.DoctorCommand.class,
            PingCommand.class,
            PerfCommand.class,
            ControlCommand.class,
            Main.VersionCommand.class,
            CommandLine.HelpCommand.class
        })
public final class Main implements Callable<Integer>, Commands.Terminal {

    static final int WRONG = CommandLine.ExitCode.USAGE;

    private final PrintStream out;
    private final PrintStream err;

    @Spec
    private CommandSpec spec;

    private Main(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    @SuppressWarnings("DefaultCharset") // that of the terminal
    static int run(String[] args, PrintStream out, PrintStream err) {
        InstalledSockets.useTcp(); // JAVA_TOOL_OPTIONS may name the agent for every JVM
        return new CommandLine(new Main(out, err))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    if (failure instanceof ConfigurationException) {
                        err.println("jrsocket: " + failure.getMessage());
                        return WRONG;
                    }
                    throw failure;
                })
                .execute(args);
    }

    @Override
    public Integer call() {
        throw new CommandLine.ParameterException(spec.commandLine(), "No command given");
    }

    @Override
    public PrintStream out() {
        return out;
    }

    @Override
    public PrintStream err() {
        return err;
    }

    @Command(
            name = "version",
            mixinStandardHelpOptions = true,
            versionProvider = Commands.Version.class,
            description = "Prints the version.")
    static final class VersionCommand implements Callable<Integer> {
        @ParentCommand
        private Main main;

        @Override
        public Integer call() {
            main.out.println("jrsocket " + Build.VERSION);
            return 0;
        }
    }

    @Command(
            name = "doctor",
            mixinStandardHelpOptions = true,
            versionProvider = Commands.Version.class,
            description = "Shows what this host has for RDMA and what is missing,"
                    + " and which transport a connection to HOST:PORT would get, and why.",
            exitCodeListHeading = "Exit status:%n",
            exitCodeList = {
                "0:RDMA can be used here, and HOST:PORT would get it",
                "1:it cannot, or HOST:PORT would get TCP",
                "2:wrong usage or configuration",
                "3:HOST:PORT cannot be reached at all"
            })
    static final class DoctorCommand implements Callable<Integer> {
        @ParentCommand
        private Main main;

        @Spec
        private CommandSpec spec;

        @Parameters(arity = "0..1", paramLabel = "HOST:PORT", description = "a server to try")
        private String peer;

        @Override
        public Integer call() throws ConfigurationException {
            Peer parsed = null;
            try {
                parsed = peer == null ? null : Peer.parse(peer, 0);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage());
            }
            return new Doctor(Commands.settings(), main.out).run(parsed);
        }
    }
}
