/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

class StreamFailureTest {

    private final StreamFailure why = new StreamFailure("reset by the peer (lo0, a to b)");

    private SocketException reset() {
        SocketException e = new SocketException("Connection reset");
        e.addSuppressed(why);
        return e;
    }

    @Test
    void shouldGoAlongWithTheExceptionThatTheApplicationGets() {
        IOException told = StreamFailure.passOn(reset(), new IOException("Connection reset by peer"));
        assertSame(why, StreamFailure.of(told));
        assertNull(told.getCause());
        IOException another =
                StreamFailure.passOn(new SocketException("Socket closed"), new IOException("Socket closed"));
        assertNull(StreamFailure.of(another));
    }

    /** Programs send exceptions to hosts that have only the JDK. */
    @Test
    void shouldBeAnExceptionOfTheJdksWhereItIsSent() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(reset());
        }
        SocketException received =
                (SocketException) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertSame(IOException.class, received.getSuppressed()[0].getClass());
        assertEquals(why.getMessage(), received.getSuppressed()[0].getMessage());
    }
}
