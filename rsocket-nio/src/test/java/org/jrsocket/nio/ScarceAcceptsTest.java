/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrsocket.net.SocketFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers of a process that has no descriptor for a connection fail as the JDK's, and accept it when they have one. */
@Tag("slow")
@Timeout(120)
class ScarceAcceptsTest {

    @TempDir
    private Path folder;

    @Test
    void shouldAcceptOnceThereIsADescriptor() throws Exception {
        FewDescriptors.run(Program.class, folder);
    }

    /** What the new JVM does. */
    static final class Program {

        private static final String BOTH = "127.0.0.1";
        private static final String TCP = "127.0.0.2"; // alone

        private interface Accept {
            Closeable now() throws IOException;
        }

        private record Server(SocketAddress address, Accept accept) {

            static Server socket(String host, int millis) throws IOException {
                ServerSocket server = new ServerSocket();
                server.bind(new InetSocketAddress(host, 0));
                server.setSoTimeout(millis);
                return new Server(server.getLocalSocketAddress(), server::accept);
            }

            static Server channel(ServerSocketChannel server, String host) throws IOException {
                server.bind(new InetSocketAddress(host, 0));
                return new Server(server.getLocalAddress(), server::accept);
            }

            /** Over TCP: of the JDK's. */
            SocketChannel client() throws IOException {
                return SocketChannel.open(address);
            }

            void accept(SocketChannel client) throws IOException {
                accept.now().close();
                assertEquals(-1, client.read(ByteBuffer.allocate(1)));
                client.close();
            }

            String failure() {
                return assertThrows(IOException.class, accept::now).toString();
            }
        }

        private static void acceptOverRdma(Server server, NioKind kind) throws IOException {
            try (SocketChannel client = kind.provider().openSocketChannel()) {
                client.connect(server.address);
                assertNotNull(((RSocketChannel) client).stream());
                server.accept.now().close();
            }
        }

        public static void main(String[] arguments) throws Exception {
            NioKind.OverLoopback kind =
                    new NioKind.OverLoopback("policy=auto", NioKind.rules("bind " + TCP + " * tcp\n"));
            SocketFactories.install(kind.context);
            Server jdk = Server.channel(ServerSocketChannel.open(), BOTH);
            List<Server> both = List.of(
                    Server.socket(BOTH, 0),
                    Server.socket(BOTH, 60_000),
                    Server.channel(kind.provider().openServerSocketChannel(), BOTH));
            List<Server> all = new ArrayList<>(both);
            all.add(Server.socket(TCP, 0));
            all.add(Server.channel(kind.provider().openServerSocketChannel(), TCP));
            for (Server each : all) { // so that all classes are loaded
                each.accept(each.client());
            }
            SocketChannel ofJdk = jdk.client();
            List<SocketChannel> clients = new ArrayList<>();
            for (Server each : all) {
                clients.add(each.client());
            }
            List<FileInputStream> hogs = new ArrayList<>(FewDescriptors.hogAll());
            String failure = jdk.failure();
            for (Server each : all) {
                hogs.addAll(FewDescriptors.hogAll());
                assertEquals(failure, each.failure());
            }
            for (FileInputStream hog : hogs) {
                hog.close();
            }
            jdk.accept(ofJdk);
            for (int i = 0; i < all.size(); i++) {
                all.get(i).accept(clients.get(i));
            }
            for (Server each : both) {
                acceptOverRdma(each, kind);
            }
            System.exit(0); // its servers are open
        }
    }
}
