/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.c;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One end of any number of connections, which does what it reads from its standard input, each command on a thread of
 * its own.
 *
 * <p>A command is a line {@code TAG VERB ARGUMENT...}; its answer is a line {@code TAG ok VALUE} or
 * {@code TAG failed EXCEPTION}, when it is done. Doors and connections have numbers. At the end of its input the
 * program ends.
 */
public final class CommandedEnd {

    private static final int CHUNK = 64 * 1024;

    private final Network network;
    private final PrintStream answers;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<Integer, Network.Door> doors = new ConcurrentHashMap<>();
    private final Map<Integer, Link> links = new ConcurrentHashMap<>();
    private final Map<Integer, RstreamPeer> peers = new ConcurrentHashMap<>();

    private CommandedEnd(Network network, PrintStream answers) {
        this.network = network;
        this.answers = answers;
    }

    /** {@code CommandedEnd API}, with an API that {@link Network#named} knows. */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        CommandedEnd end = new CommandedEnd(Network.named(args[0]), answers);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            Thread thread = new Thread(() -> end.answer(words), line);
            thread.setDaemon(true);
            thread.start();
        }
        System.exit(0);
    }

    private void answer(List<String> words) {
        String answer;
        try {
            answer = "ok " + execute(words.get(1), words.subList(2, words.size()));
        } catch (Throwable e) { // the test shall know, whatever it is
            if (!(e instanceof IOException)) {
                e.printStackTrace();
            }
            answer = "failed " + describe(e);
        }
        synchronized (answers) {
            answers.println(words.get(0) + ' ' + answer);
            answers.flush();
        }
    }

    /** The exception with what it says of the reason, in one line. */
    private static String describe(Throwable thrown) {
        StringBuilder text = new StringBuilder(thrown.toString());
        for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
            text.append("; caused by ").append(cause);
        }
        for (Throwable why : thrown.getSuppressed()) {
            text.append("; because ").append(why);
        }
        return text.toString().replace('\n', ' ');
    }

    private Object execute(String verb, List<String> args) throws IOException {
        switch (verb) {
            case "buffers" -> network.bufferSize(Integer.parseInt(args.get(0)));
            case "listen" -> {
                Network.Door door = network.listen(new InetSocketAddress(InetAddress.getByName(args.get(0)), 0));
                doors.put(door.port(), door);
                return door.port();
            }
            case "unlisten" -> doors.remove(Integer.valueOf(args.get(0))).close();
            case "accept" -> {
                return number(doors.get(Integer.valueOf(args.get(0))).accept());
            }
            case "connect" -> {
                return number(network.connect(
                        new InetSocketAddress(InetAddress.getByName(args.get(0)), Integer.parseInt(args.get(1)))));
            }
            case "send" -> {
                return send(link(args), Long.parseLong(args.get(1)), Long.parseLong(args.get(2)));
            }
            case "receive" -> {
                return receive(link(args), Long.parseLong(args.get(1)));
            }
            case "read" -> {
                byte[] one = new byte[1];
                return link(args).read(one, 0, 1);
            }
            case "finish" -> link(args).finish();
            case "close" -> link(args).close();
            case "abort" -> link(args).abort();
            case "live" -> {
                return network.live();
            }
            case "serve" -> {
                return Touches.serve(doors.get(Integer.valueOf(args.get(0))));
            }
            case "touch" -> {
                return Touches.make(
                        network,
                        new InetSocketAddress(InetAddress.getByName(args.get(0)), Integer.parseInt(args.get(1))),
                        Integer.parseInt(args.get(2)));
            }
            case "gc" -> System.gc();
            case "rstream-listen" -> {
                RstreamPeer peer = new RstreamPeer(network, args);
                peer.listen();
                int number = numbers.incrementAndGet();
                peers.put(number, peer);
                return number;
            }
            case "rstream-run" -> {
                return peers.remove(Integer.valueOf(args.get(0))).run();
            }
            case "rstream" -> {
                return new RstreamPeer(network, args).run();
            }
            default -> throw new IllegalArgumentException(verb);
        }
        return "";
    }

    private int number(Link link) {
        int number = numbers.incrementAndGet();
        links.put(number, link);
        return number;
    }

    private Link link(List<String> args) {
        return links.get(Integer.valueOf(args.get(0)));
    }

    /** Sends {@code count} bytes of the stream that {@code seed} determines; their hash. */
    private static SeededData send(Link link, long count, long seed) throws IOException {
        SeededData data = new SeededData(seed);
        byte[] chunk = new byte[CHUNK];
        for (long left = count; left > 0; ) {
            int n = (int) Math.min(left, chunk.length);
            data.next(chunk, n);
            link.write(chunk, 0, n);
            left -= n;
        }
        return data;
    }

    /** Receives {@code count} bytes, or until the end if that comes first; the hash of what came. */
    private static SeededData receive(Link link, long count) throws IOException {
        SeededData data = new SeededData(0);
        byte[] chunk = new byte[CHUNK];
        for (long left = count; left > 0; ) {
            int n = link.read(chunk, 0, (int) Math.min(left, chunk.length));
            if (n < 0) {
                break;
            }
            data.update(chunk, n);
            left -= n;
        }
        return data;
    }
}
