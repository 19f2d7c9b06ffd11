/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;

/** The numbers of one RDMA connection at one moment, as open data. */
public final class ConnectionNumbers {

    private final RdmaStream stream;
    private final long ageMillis;
    private final long bytesRead;
    private final long bytesWritten;
    private final long registeredBytes;
    private final long stalls;
    private final boolean open;

    ConnectionNumbers(RdmaStream stream) {
        this.stream = stream;
        ageMillis = TimeUnit.NANOSECONDS.toMillis(stream.nanosOpen());
        bytesRead = stream.bytesRead();
        bytesWritten = stream.bytesWritten();
        registeredBytes = stream.registeredBytes();
        stalls = stream.stalls();
        open = stream.isOpen();
    }

    /** Returns the transport, so far always RDMA: connections over TCP are the JDK's own. */
    public String getTransport() {
        return "RDMA";
    }

    /** Returns the numeric address of this end. */
    public String getLocalAddress() {
        return stream.localAddress().getAddress().getHostAddress();
    }

    /** Returns the port of this end. */
    public int getLocalPort() {
        return stream.localAddress().getPort();
    }

    /** Returns the numeric address of the peer. */
    public String getRemoteAddress() {
        return stream.remoteAddress().getAddress().getHostAddress();
    }

    /** Returns the port of the peer. */
    public int getRemotePort() {
        return stream.remoteAddress().getPort();
    }

    /** Returns the name of the RDMA device, such as {@code rxe0}. */
    public String getDevice() {
        return stream.deviceName();
    }

    /** Returns the time since the connection was established. */
    public long getAgeMillis() {
        return ageMillis;
    }

    /** Returns the bytes that the application has read. */
    public long getBytesRead() {
        return bytesRead;
    }

    /** Returns the bytes that the application has written. */
    public long getBytesWritten() {
        return bytesWritten;
    }

    /** Returns the bytes of memory that the device holds pinned for the connection. */
    public long getRegisteredBytes() {
        return registeredBytes;
    }

    /** Returns how often what was written had to wait for the peer to make room. */
    public long getStalls() {
        return stalls;
    }

    /** Returns whether the application has not closed the connection. */
    public boolean isOpen() {
        return open;
    }
}
