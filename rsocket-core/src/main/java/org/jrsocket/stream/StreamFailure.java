/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

import java.io.IOException;

/**
 * Says why a connection failed, between which addresses and on which device. It is a suppressed exception of those that
 * the application gets: they have TCP's words and no cause, because programs tell a client that went away from an error
 * of their own by the words of the root cause. Immutable.
 */
public final class StreamFailure extends IOException {

    private static final long serialVersionUID = 1L;
    private static final Throwable[] NONE = {};

    StreamFailure(String message) {
        super(message);
    }

    /** A peer to which an application sends its exceptions may not have this class. */
    private Object writeReplace() {
        IOException plain = new IOException(getMessage());
        plain.setStackTrace(getStackTrace());
        return plain;
    }

    /** Returns why the connection failed that {@code e} tells of; null if it tells of something else. */
    public static StreamFailure of(Throwable e) {
        for (Throwable each : e == null ? NONE : e.getSuppressed()) {
            if (each instanceof StreamFailure failure) {
                return failure;
            }
        }
        return null;
    }

    /** Returns {@code e}, which is to be thrown in place of {@code first}, with what that says of the failure. */
    public static <T extends IOException> T passOn(Throwable first, T e) {
        StreamFailure failure = of(first);
        if (failure != null) {
            e.addSuppressed(failure);
        }
        return e;
    }
}
