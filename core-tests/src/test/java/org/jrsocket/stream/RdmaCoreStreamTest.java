/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.List;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stream over a real device; runs in the lab. */
@Tag("device")
@Tag("lab")
class RdmaCoreStreamTest extends StreamBehaviour {

    private static VerbsProvider provider;

    @BeforeAll
    static void findDevice() throws IOException {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        provider = RdmaCoreProvider.open();
    }

    @Override
    VerbsProvider provider() {
        return provider;
    }

    @Override
    InetAddress address() {
        try {
            return InetAddress.getByName(System.getenv("ROCE_LAB_ADDR"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    int bulk() {
        return 32 << 20;
    }

    @Override
    int manyTimes() {
        return 1500; // each takes some milliseconds in an emulated machine
    }

    /** With TCP both name it, and without it nobody can connect back to such an address. */
    @Test
    void shouldNameTheInterfaceOfLinkLocalAddressesAtBothEnds() throws Exception {
        NetworkInterface netdev = NetworkInterface.getByName(System.getenv("ROCE_LAB_NETDEV"));
        InetAddress here = netdev.inetAddresses()
                .filter(InetAddress::isLinkLocalAddress)
                .findFirst()
                .orElseThrow();
        try (RdmaTransport transport = RdmaTransport.over(provider);
                RdmaListener listener = transport.listen(new InetSocketAddress(here, 0), 5, StreamConfig.DEFAULT)) {
            RdmaStream client = transport
                    .connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(StreamPair.PATIENCE);
            RdmaStream accepted = StreamPair.accept(listener);
            for (InetSocketAddress end : new InetSocketAddress[] {
                listener.localAddress(),
                client.localAddress(),
                client.remoteAddress(),
                accepted.localAddress(),
                accepted.remoteAddress()
            }) {
                assertEquals(
                        "/" + here.getHostAddress().replaceFirst("%.*", "%" + netdev.getIndex()),
                        end.getAddress().toString().replaceFirst("%" + netdev.getName(), "%" + netdev.getIndex()));
            }
            client.close();
            accepted.close();
        }
    }

    /** Two transports, as two processes have: the kernel gives the port to one at a time. */
    @Test
    void shouldListenOnceTheListenerThatHasItsPortIsClosed() throws Exception {
        try (RdmaTransport first = RdmaTransport.over(provider);
                RdmaTransport second = RdmaTransport.over(provider)) {
            RdmaListener taken = first.listen(new InetSocketAddress(address(), 0), 5, StreamConfig.DEFAULT);
            InetSocketAddress port = taken.localAddress();
            try (RdmaListener waiting = second.listenWhenFree(
                    port, 5, StreamConfig.DEFAULT, Access.ALL, () -> RdmaListener.Patience.Next.TRY)) {
                assertEquals(port, waiting.localAddress());
                taken.close();
                RdmaStream client = null;
                while (client == null) { // the class's timeout ends it
                    try {
                        client = first.connect(null, port, StreamConfig.DEFAULT).await(StreamPair.PATIENCE);
                    } catch (ConnectException nobodyYet) {
                        Thread.sleep(50);
                    }
                }
                RdmaStream accepted = StreamPair.accept(waiting);
                assertEquals(port, accepted.localAddress());
                client.close();
                accepted.close();
            }
        }
    }

    /** As TCP lets them: two processes, one of them without IPv6. */
    @Test
    void shouldShareAPortWithTheWildcardOfTheOtherFamily() throws Exception {
        InetAddress six = InetAddress.getByName(System.getenv("ROCE_LAB_ADDR6"));
        InetAddress four = InetAddress.getByName("0.0.0.0");
        try (RdmaTransport transport = RdmaTransport.over(provider);
                RdmaListener wildcard = transport.listen(new InetSocketAddress(four, 0), 5, StreamConfig.DEFAULT);
                RdmaListener specific = transport.listen(
                        new InetSocketAddress(six, wildcard.localAddress().getPort()), 5, StreamConfig.DEFAULT)) {
            for (RdmaListener one : List.of(wildcard, specific)) {
                InetAddress to = one == specific ? six : address();
                RdmaStream client = transport
                        .connect(
                                null,
                                new InetSocketAddress(to, one.localAddress().getPort()),
                                StreamConfig.DEFAULT)
                        .await(StreamPair.PATIENCE);
                RdmaStream accepted = StreamPair.accept(one);
                assertEquals(to, accepted.localAddress().getAddress());
                client.close();
                accepted.close();
            }
        }
    }

    @Test
    void shouldDeliverWhatWasWrittenToClosedStreamsBeforeItsTransportEnds() throws Exception {
        int size = 300_000;
        RdmaTransport ending = RdmaTransport.over(provider);
        try (RdmaTransport server = RdmaTransport.over(provider);
                RdmaListener listener = server.listen(new InetSocketAddress(address(), 0), 5, StreamConfig.DEFAULT)) {
            RdmaStream client = ending.connect(null, listener.localAddress(), StreamConfig.DEFAULT)
                    .await(StreamPair.PATIENCE);
            RdmaStream accepted = StreamPair.accept(listener);
            client.write(new byte[size], 0, size, StreamPair.PATIENCE);
            client.close();
            Thread finishing = new Thread(ending::finish);
            finishing.start();
            byte[] bytes = new byte[size];
            int read = 0;
            for (int n = 0; n >= 0; n = accepted.read(bytes, 0, size, StreamPair.PATIENCE)) {
                read += n;
            }
            assertEquals(size, read);
            finishing.join();
            assertEquals(0, ending.liveStreams());
            accepted.close();
        }
    }
}
