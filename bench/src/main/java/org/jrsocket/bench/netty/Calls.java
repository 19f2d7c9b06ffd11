/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.netty;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The service of {@link GrpcExchange}: messages are bytes, so that no codec is measured. */
final class Calls {

    static final String SERVICE = "Bench";

    /** Sends a message back. */
    static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);
    /** Takes messages; answers with one byte after the last. */
    static final MethodDescriptor<byte[], byte[]> SINK = method("Sink", MethodType.CLIENT_STREAMING);

    private Calls() {}

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .build();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
