/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.FileTrouble;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The command {@code ctl}, which shows and controls what the {@link TransportMXBean} of another JVM offers. */
@Command(
        name = "ctl",
        mixinStandardHelpOptions = true,
        versionProvider = Commands.Version.class,
        description = {
            "Shows and changes what carries the connections of a JVM that runs with the agent, over JMX.",
            "",
            "  status        shows versions, settings and counters",
            "  policy [P]    shows or sets the policy override: auto, rdma, tcp, or none",
            "  drain         new connections use TCP; says how many over RDMA are left",
            "  reload        reads the rules file again",
            "  remembered    shows what is remembered of peers",
            "  forget        forgets it",
            "  connections   lists the RDMA connections",
            ""
        },
        exitCodeListHeading = "Exit status:%n",
        exitCodeList = {"0:done", "1:failed, or connections are left after drain --wait", "2:wrong usage"})
final class ControlCommand implements Callable<Integer> {

    enum Operation {
        STATUS,
        POLICY,
        DRAIN,
        RELOAD,
        REMEMBERED,
        FORGET,
        CONNECTIONS
    }

    private static final int LOOK_MILLIS = 100;

    private static final String[] PEER_COLUMNS = {"address", "port", "from", "kind", "avoidedMillis", "usualMicros"};

    private static final String[] CONNECTION_COLUMNS = {
        "transport",
        "device",
        "localAddress",
        "localPort",
        "remoteAddress",
        "remotePort",
        "ageMillis",
        "bytesRead",
        "bytesWritten",
        "stalls",
        "registeredBytes",
        "open",
        "waitsFor",
        "bytesUnsent",
        "bytesUnread",
        "silentSeconds"
    };

    @ParentCommand
    private Commands.Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "PID",
            description = "the ID of a process on this host, or a service:jmx: address")
    private String target;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "OPERATION",
            defaultValue = "status",
            description = "see above")
    private Operation operation;

    @Parameters(index = "2", arity = "0..1", paramLabel = "P", description = "with policy: the new override")
    private String policy;

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            description = "with drain: how long to wait for the last RDMA connection to end")
    private int seconds;

    @Option(names = "--user", paramLabel = "NAME", description = "user name, for an address with access control")
    private String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "a file with the user's password in its first line; keep it unreadable for others")
    private Path passwordFile;

    @Override
    public Integer call() throws InterruptedException {
        if (policy != null && operation != Operation.POLICY) {
            throw new CommandLine.ParameterException(spec.commandLine(), "Only policy takes an argument");
        }
        if (ModuleLayer.boot().findModule("java.management").isEmpty()) {
            terminal.err().println("jrsocket: this Java runtime cannot query another one (no module java.management)");
            return 1;
        }
        if ((user == null) != (passwordFile == null)) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--user and --password-file belong together");
        }
        if (seconds < 0) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--wait must not be negative");
        }
        try (RemoteTransport remote = RemoteTransport.connect(target, credentials())) {
            return run(remote, terminal.out());
        } catch (IOException e) {
            terminal.err().println("jrsocket: " + String.valueOf(e.getMessage()).replaceAll("\\s*\\R\\s*", " "));
            return 1;
        }
    }

    private String[] credentials() throws IOException {
        if (user == null) {
            return null;
        }
        try (BufferedReader file = Files.newBufferedReader(passwordFile)) {
            String password = file.readLine();
            return new String[] {user, password == null ? "" : password};
        } catch (IOException e) {
            throw new IOException(passwordFile + ": " + FileTrouble.reason(e), e);
        }
    }

    private int run(RemoteTransport remote, PrintStream out) throws IOException, InterruptedException {
        switch (operation) {
            case STATUS -> RemoteTables.status(remote, out);
            case POLICY -> policy(remote, out);
            case DRAIN -> {
                return drain(remote, out);
            }
            case RELOAD -> out.println(remote.invoke("reloadRules"));
            case REMEMBERED -> RemoteTables.print(out, remote.invoke("showRemembered"), PEER_COLUMNS);
            case FORGET -> out.println("peers forgotten: " + remote.invoke("forgetRemembered"));
            case CONNECTIONS -> RemoteTables.print(out, remote.invoke("showConnections"), CONNECTION_COLUMNS);
        }
        return 0;
    }

    private void policy(RemoteTransport remote, PrintStream out) throws IOException {
        if (policy != null) {
            remote.set("PolicyOverride", policy);
        }
        out.println("policy override: " + remote.get("PolicyOverride"));
        String sockets = (String) remote.get("Sockets");
        if (policy != null && !sockets.isEmpty() && !sockets.contains(": ours")) {
            terminal.err().println("jrsocket: the override has no effect in that JVM: " + sockets);
        }
    }

    private int drain(RemoteTransport remote, PrintStream out) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        int left;
        try {
            left = (int) remote.invoke("drain");
            while (left > 0 && System.nanoTime() - deadline < 0) {
                Thread.sleep(LOOK_MILLIS);
                if (!remote.get("PolicyOverride").equals("tcp")) {
                    throw new IOException("drain was interrupted: the policy override was changed");
                }
                left = (int) remote.get("OpenConnections") + (int) remote.get("ClosingConnections");
            }
        } catch (IOException e) {
            if (!remote.hasEnded(deadline - System.nanoTime())) {
                throw e;
            }
            left = 0;
        }
        out.println("RDMA connections left: " + left);
        return left > 0 && seconds > 0 ? 1 : 0;
    }
}
