/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImplFactory;
import java.util.Random;
import org.jrsocket.net.NetWorld.End;
import org.jrsocket.net.NetWorld.Server;
import org.jrsocket.testkit.programs.RandomPrograms;

/** The constructors that bind or connect. */
final class ConstructorSteps {

    private ConstructorSteps() {}

    static void addTo(RandomPrograms<NetWorld> programs) {
        programs.with(2, "construct socket", ConstructorSteps::socket)
                .with(1, "construct server", ConstructorSteps::server);
    }

    private interface Construction<T> {
        T run() throws Exception;
    }

    /** With the factories of the world's kind. They can be set once only, and others' tests are not to see it. */
    private static <T> T construct(NetWorld world, Construction<T> construction) throws Exception {
        SocketKind.Factories factories = world.kind.factories();
        if (factories.client() == null) {
            return construction.run();
        }
        set(Socket.class, factories.client());
        set(ServerSocket.class, factories.server());
        try {
            return construction.run();
        } finally {
            set(Socket.class, null);
            set(ServerSocket.class, null);
        }
    }

    private static void set(Class<?> type, SocketImplFactory value) throws ReflectiveOperationException {
        Field factory = type.getDeclaredField("factory");
        factory.setAccessible(true);
        factory.set(null, value);
    }

    private static String socket(NetWorld world, Random chance) throws Exception {
        int i = chance.nextInt(NetWorld.SOCKETS);
        Server server = world.server(chance);
        int way = chance.nextInt(7);
        InetAddress host = chance.nextInt(6) == 0 ? null : SocketBehaviour.host();
        InetAddress local = chance.nextInt(3) == 0 ? null : SocketBehaviour.host();
        if (server.pending.get() >= server.backlog && server.port > 0 && !server.socket.isClosed()) {
            return "its backlog may be full";
        }
        boolean odd = chance.nextInt(5) == 0;
        int[] ports = {-1, 0, 1, 65536};
        int port = odd || server.port < 0 ? ports[chance.nextInt(ports.length)] : server.port;
        String name = host == null ? null : chance.nextInt(5) == 0 ? "nowhere.invalid" : host.getHostAddress();
        int localPort = chance.nextInt(6) == 0 ? -1 : 0;
        Socket socket = construct(world, () -> made(way, name, host, port, local, localPort));
        End end = new End(socket);
        world.put(i, end);
        end.connected();
        if (socket.isConnected() && port == server.port) {
            server.pending.incrementAndGet();
        }
        return "socket " + i + " " + world.masked(socket);
    }

    @SuppressWarnings("deprecation") // those for datagrams
    private static Socket made(int way, String name, InetAddress host, int port, InetAddress local, int localPort)
            throws IOException {
        return switch (way) {
            case 0, 1 -> new Socket(name, port);
            case 2 -> new Socket(host, port);
            case 3 -> new Socket(name, port, local, localPort);
            case 4 -> new Socket(host, port, local, localPort);
            case 5 -> new Socket(name, port, true);
            default -> new Socket(host, port, true);
        };
    }

    private static String server(NetWorld world, Random chance) throws Exception {
        int i = chance.nextInt(NetWorld.SERVERS);
        int[] ports = {-1, 0, 0, 0, 65536, 0};
        int asked = ports[chance.nextInt(ports.length)];
        Server other = world.server(chance);
        boolean taken = chance.nextInt(6) == 0 && other.port > 0 && !other.socket.isClosed();
        int port = taken ? other.port : asked;
        int backlog = chance.nextInt(60) - 5;
        InetAddress host = chance.nextInt(3) == 0 ? null : SocketBehaviour.host();
        Server server = new Server(
                construct(world, () -> world.kind.factories().listening().open(port, backlog, host)));
        world.put(i, server);
        world.listens(server, backlog);
        return "server " + i + " "
                + world.masked(server.socket).replace(server.socket.getClass().getName(), "ServerSocket");
    }
}
