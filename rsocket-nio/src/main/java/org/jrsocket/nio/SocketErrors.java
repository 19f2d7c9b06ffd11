/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.io.IOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** The exceptions of a socket adaptor in place of its channel's: those of {@code sun.nio.ch.Net}, to the word. */
final class SocketErrors {

    /** Whether {@code AlreadyConnectedException} is translated, as in later JDKs. */
    private static final boolean TRANSLATES_CONNECTED = JdkVersion.AT_LEAST_24;

    private SocketErrors() {}

    /** Translates for methods that throw any IOException; channel exceptions pass as they are. */
    static IOException io(Exception e) {
        if (e instanceof IOException io) {
            return io;
        }
        if (e instanceof UnresolvedAddressException) {
            return new UnknownHostException();
        }
        return socket(e);
    }

    /** Translates for methods that throw only SocketException. */
    static SocketException socket(Exception e) {
        if (e instanceof SocketException socket) {
            return socket;
        }
        String text;
        if (e instanceof ClosedChannelException) {
            text = "Socket is closed";
        } else if (e instanceof NotYetConnectedException) {
            text = "Socket is not connected";
        } else if (e instanceof AlreadyBoundException) {
            text = "Already bound";
        } else if (e instanceof NotYetBoundException) {
            text = "Socket is not bound yet";
        } else if (e instanceof AlreadyConnectedException && TRANSLATES_CONNECTED) {
            text = "Already connected";
        } else if (e instanceof UnsupportedAddressTypeException) {
            text = "Unsupported address type";
        } else if (e instanceof UnresolvedAddressException) {
            text = "Unresolved address";
        } else if (e instanceof IOException) {
            text = e.getMessage();
        } else if (e instanceof RuntimeException runtime) {
            throw runtime;
        } else {
            throw new AssertionError(e);
        }
        SocketException translated = new SocketException(text);
        translated.initCause(e);
        return translated;
    }
}
