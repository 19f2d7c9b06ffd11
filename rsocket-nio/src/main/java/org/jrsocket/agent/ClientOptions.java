/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.Policy;
import org.jrsocket.connect.Settings;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.perf.Report;
import org.jrsocket.verbs.VerbsUnavailableException;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that {@code ping} and {@code perf} have in common. */
final class ClientOptions {

    /** The port that {@code HOST} alone means; a string, for annotations. */
    static final String PORT = "7470";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--transport",
            paramLabel = "auto|rdma|tcp",
            defaultValue = "auto",
            description = "auto (default): as the settings and rules say; rdma: RDMA or fail; tcp: without trying RDMA")
    Policy transport;

    @Option(
            names = {"-f", "--format"},
            paramLabel = "text|json|csv",
            defaultValue = "text",
            description = "format of the result on standard output; default: text, a table")
    private Report.Format format;

    @Option(
            names = {"-q", "--quiet"},
            description = "no progress on standard error")
    private boolean quiet;

    /** Opens a context, and RDMA if there is any, so that the first connection does not have to. */
    static TransportContext context(Settings settings) throws ConfigurationException {
        TransportHolder holder = TransportHolder.rdmaCore();
        try {
            holder.transport();
        } catch (VerbsUnavailableException e) {
            // each connect reports it
        }
        return TransportContext.open(settings, holder);
    }

    Report report(Commands.Terminal terminal) {
        return new Report(format, terminal.out(), terminal.err(), quiet);
    }

    Peer peer(String text, int defaultPort) {
        try {
            return Peer.parse(text, defaultPort);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    /** Looks the host up. Returns null, after a line on stderr, if that fails. */
    static InetSocketAddress resolve(Peer peer, PrintStream err) {
        try {
            return peer.resolve();
        } catch (UnknownHostException e) {
            err.println(peer.text() + ": unknown host");
            return null;
        }
    }

    /** A number of bytes: {@code 64}, {@code 64k}, {@code 1m}. */
    static final class Size implements ITypeConverter<Integer> {
        private static final int MAX = 16 << 20;

        @Override
        public Integer convert(String value) {
            String text = value.toLowerCase(Locale.ROOT);
            int shift = text.endsWith("k") ? 10 : text.endsWith("m") ? 20 : 0;
            try {
                long number = Long.parseLong(shift == 0 ? text : text.substring(0, text.length() - 1));
                if (number >= 1 && number <= MAX >> shift) {
                    return (int) number << shift;
                }
            } catch (NumberFormatException e) {
                // reported below
            }
            throw new TypeConversionException("'" + value + "' is not a size from 1 to 16m");
        }
    }

    /** A number of seconds above 0, converted to nanoseconds: {@code 5}, {@code 0.2}. */
    static final class Seconds implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            try {
                double seconds = Double.parseDouble(value);
                if (seconds > 0 && seconds <= 86_400) {
                    return Math.max(1, (long) (seconds * 1e9));
                }
            } catch (NumberFormatException e) {
                // reported below
            }
            throw new TypeConversionException("'" + value + "' is not a number of seconds above 0 and up to 86400");
        }
    }
}
