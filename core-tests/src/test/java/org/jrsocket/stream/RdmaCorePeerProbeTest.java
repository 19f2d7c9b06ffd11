/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.PendingConnect.Answer;
import org.jrsocket.verbs.rdmacore.RdmaCoreProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Probes with the connection manager of a real kernel; runs in the lab. */
@Tag("device")
@Tag("lab")
class RdmaCorePeerProbeTest {

    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    private Answer probe(RdmaTransport transport, InetSocketAddress address) throws InterruptedException {
        transport.probe(address, StreamConfig.DEFAULT, new PendingConnect.Observer() {
            @Override
            public void asked() {
                // as expected
            }

            @Override
            public void answered(Answer answer) {
                answers.add(answer);
            }
        });
        Answer answer = answers.poll(60, TimeUnit.SECONDS);
        assertNotNull(answer, "no answer");
        return answer;
    }

    @Test
    void shouldLearnWhetherAPeerTakesConnectionsWithoutMakingOne() throws Exception {
        assumeTrue(System.getenv("ROCE_LAB_ADDR") != null, "no RoCEv2 lab around this process (scripts/roce-lab)");
        InetSocketAddress any = new InetSocketAddress(System.getenv("ROCE_LAB_ADDR"), 0);
        try (RdmaTransport transport = RdmaTransport.over(RdmaCoreProvider.open())) {
            RdmaListener listener = transport.listen(any, 50, StreamConfig.DEFAULT);
            InetSocketAddress address = listener.localAddress();
            for (int i = 0; i < 50; i++) {
                assertEquals(Answer.OURS, probe(transport, address));
            }
            assertNull(listener.poll());
            RdmaStream client =
                    transport.connect(null, address, StreamConfig.DEFAULT).await(0);
            RdmaStream accepted = StreamPair.accept(listener);
            byte[] hello = {1, 2, 3};
            client.write(hello, 0, 3, 0);
            byte[] read = new byte[3];
            assertEquals(3, accepted.read(read, 0, 3, 0));
            assertArrayEquals(hello, read);
            assertEquals(Answer.OURS, probe(transport, address));
            assertNull(listener.poll());
            client.close();
            accepted.close();
            listener.close();
            assertEquals(Answer.REFUSED, probe(transport, address));
        }
    }
}
