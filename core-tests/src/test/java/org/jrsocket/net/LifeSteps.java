/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jrsocket.net.NetWorld.End;
import org.jrsocket.net.NetWorld.Server;
import org.jrsocket.testkit.programs.RandomPrograms;

/** Calls that make, bind, connect, accept, shut and close sockets, and those that ask for their state. */
final class LifeSteps {

    private LifeSteps() {}

    static void addTo(RandomPrograms<NetWorld> programs) {
        programs.with(2, "new socket", LifeSteps::newSocket)
                .with(1, "new server", LifeSteps::newServer)
                .with(2, "new connection", LifeSteps::newConnection)
                .with(3, "connect", LifeSteps::connect)
                .with(1, "connect oddly", LifeSteps::connectOddly)
                .with(2, "bind", LifeSteps::bind)
                .with(2, "bind server", LifeSteps::bindServer)
                .with(4, "accept", LifeSteps::accept)
                .with(3, "shut input", LifeSteps::shutdownInput)
                .with(3, "shut output", LifeSteps::shutdownOutput)
                .with(4, "close", LifeSteps::close)
                .with(1, "reset", LifeSteps::reset)
                .with(1, "close server", LifeSteps::closeServer)
                .with(2, "interrupt", (world, chance) -> world.interrupt())
                .with(5, "state", LifeSteps::state)
                .with(2, "state of server", LifeSteps::stateOfServer);
    }

    // ---- making ----

    private static String newSocket(NetWorld world, Random chance) throws IOException {
        int i = chance.nextInt(NetWorld.SOCKETS);
        world.put(i, new End(world.kind.socket()));
        return "socket " + i;
    }

    private static String newServer(NetWorld world, Random chance) throws IOException {
        int i = chance.nextInt(NetWorld.SERVERS);
        Server server = new Server(world.kind.serverSocket());
        world.put(i, server);
        if (chance.nextInt(3) > 0) {
            world.listen(server, SocketBehaviour.host(), chance.nextInt(50));
            return "server " + i + " at " + world.port(server.port);
        }
        return "server " + i;
    }

    private static String newConnection(NetWorld world, Random chance) throws Exception {
        int i = chance.nextInt(NetWorld.SOCKETS);
        Server server = new Server(world.kind.serverSocket());
        world.listen(server, SocketBehaviour.host(), 1);
        End client = new End(world.kind.socket());
        world.put(i, client);
        world.connect(client, server);
        world.put((i + 1) % NetWorld.SOCKETS, world.accept(server));
        server.socket.close();
        return "sockets " + i + ", " + (i + 1) % NetWorld.SOCKETS;
    }

    // ---- connecting ----

    private static String connect(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        Server server = world.server(chance);
        int[] timeouts = {-1, 0, 10_000, 60_000, Integer.MAX_VALUE};
        int timeout = timeouts[chance.nextInt(timeouts.length)];
        boolean timed = chance.nextBoolean();
        boolean wildcard = chance.nextInt(10) == 0;
        if (server.port < 0) {
            return "not bound";
        }
        boolean full = server.pending.get() >= server.backlog;
        if (full && !server.socket.isClosed()) {
            return "its backlog may be full";
        }
        InetSocketAddress address = wildcard
                ? new InetSocketAddress(server.port)
                : new InetSocketAddress(server.socket.getInetAddress(), server.port);
        return world.surely(() -> {
            if (timed) {
                end.socket.connect(address, timeout);
            } else {
                end.socket.connect(address);
            }
            end.connected();
            server.pending.incrementAndGet();
            return "connected to " + world.port(server.port);
        });
    }

    private static SocketAddress odd(Random chance) throws IOException {
        return switch (chance.nextInt(8)) {
            case 0 -> null;
            case 1 -> new SocketAddress() {};
            case 2 -> InetSocketAddress.createUnresolved("nowhere.invalid", 80);
            case 3 -> new InetSocketAddress(SocketBehaviour.host(), 0);
            case 4 -> new InetSocketAddress(0);
            case 5 -> new InetSocketAddress(InetAddress.getByName("::1"), 0);
            case 6 -> new InetSocketAddress(SocketBehaviour.host(), 70_000);
            default -> new InetSocketAddress(SocketBehaviour.host(), 1); // nobody is there
        };
    }

    private static String connectOddly(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        int timeout = chance.nextInt(3) == 0 ? -1 : chance.nextInt(2) * 10_000;
        boolean timed = chance.nextBoolean();
        SocketAddress address = odd(chance);
        return world.surely(() -> {
            if (timed) {
                end.socket.connect(address, timeout);
            } else {
                end.socket.connect(address);
            }
            return "connected";
        });
    }

    private static SocketAddress local(Random chance) throws IOException {
        return switch (chance.nextInt(10)) {
            case 0 -> null;
            case 1 -> new SocketAddress() {};
            case 2 -> InetSocketAddress.createUnresolved("nowhere.invalid", 0);
            case 3 -> new InetSocketAddress(0);
            case 4 -> new InetSocketAddress(InetAddress.getByName("::1"), 0);
            case 5 -> new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 0); // of nobody
            case 6 -> new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 0);
            default -> new InetSocketAddress(SocketBehaviour.host(), 0);
        };
    }

    private static String bind(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        SocketAddress address = local(chance);
        Server server = world.server(chance);
        if (chance.nextInt(10) == 0 && server.port > 0 && !server.socket.isClosed()) {
            address = new InetSocketAddress(SocketBehaviour.host(), server.port);
        }
        end.socket.bind(address);
        return "bound to " + world.masked(end.socket.getLocalSocketAddress());
    }

    // ---- servers ----

    private static String bindServer(NetWorld world, Random chance) throws Exception {
        Server server = world.server(chance);
        SocketAddress address = local(chance);
        int backlog = chance.nextInt(60) - 5;
        Server other = world.server(chance);
        if (chance.nextInt(10) == 0 && other.port > 0 && !other.socket.isClosed()) {
            address = new InetSocketAddress(SocketBehaviour.host(), other.port);
        }
        if (chance.nextBoolean()) {
            server.socket.bind(address, backlog);
        } else {
            server.socket.bind(address);
            backlog = 50;
        }
        world.listens(server, backlog);
        return "bound to " + world.masked(server.socket.getLocalSocketAddress());
    }

    private static String accept(NetWorld world, Random chance) throws Exception {
        Server server = world.server(chance);
        int i = chance.nextInt(NetWorld.SOCKETS);
        int timeout = server.socket.isClosed() ? 0 : server.socket.getSoTimeout();
        if (chance.nextInt(4) > 0 && server.port > 0 && server.pending.get() <= 0 && timeout == 0) {
            return "would wait";
        }
        Callable<String> call = () -> {
            End accepted = world.accept(server);
            world.put(i, accepted);
            return "accepted " + world.masked(accepted.socket);
        };
        return timeout > 0 && timeout < 1000 ? world.surely(call) : world.maybeWaits(chance, call);
    }

    // ---- shutting ----

    private static String shutdownInput(NetWorld world, Random chance) throws Exception {
        world.end(chance).socket.shutdownInput();
        world.news();
        return "shut";
    }

    private static String shutdownOutput(NetWorld world, Random chance) throws Exception {
        world.end(chance).socket.shutdownOutput();
        world.news();
        return "shut";
    }

    private static String close(NetWorld world, Random chance) throws Exception {
        End end = world.end(chance);
        String outcome = world.surely(() -> {
            end.socket.close();
            return "closed";
        });
        world.news();
        return outcome;
    }

    private static String reset(NetWorld world, Random chance) throws Exception {
        Socket socket = world.end(chance).socket;
        socket.setSoLinger(true, 0);
        socket.close();
        world.news();
        return "closed";
    }

    private static String closeServer(NetWorld world, Random chance) throws Exception {
        world.server(chance).socket.close();
        world.news();
        return "closed";
    }

    // ---- asking ----

    private static String state(NetWorld world, Random chance) throws SocketException {
        End end = world.end(chance);
        Socket socket = end.socket;
        return String.join(
                " ",
                "has peer " + (world.peer(end) != null),
                "bound " + socket.isBound(),
                "connected " + socket.isConnected(),
                "closed " + socket.isClosed(),
                "shut " + socket.isInputShutdown() + socket.isOutputShutdown(),
                "at " + world.masked(socket.getLocalSocketAddress()),
                socket.getLocalAddress() + " " + world.port(socket.getLocalPort()),
                "to " + world.masked(socket.getRemoteSocketAddress()),
                socket.getInetAddress() + " " + world.port(socket.getPort()),
                world.masked(socket).replace(socket.getClass().getName(), "Socket"),
                String.valueOf(socket.getChannel()));
    }

    private static String stateOfServer(NetWorld world, Random chance) {
        Server server = world.server(chance);
        return String.join(
                " ",
                "bound " + server.socket.isBound(),
                "closed " + server.socket.isClosed(),
                "at " + world.masked(server.socket.getLocalSocketAddress()),
                server.socket.getInetAddress() + " " + world.port(server.socket.getLocalPort()),
                world.masked(server.socket).replace(server.socket.getClass().getName(), "ServerSocket"),
                String.valueOf(server.socket.getChannel()));
    }
}
