/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;

/** One RDMA connection, at one moment, as open data. */
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

    /** So far always RDMA: what TCP carries is the JDK's own. */
    public String getTransport() {
        return "RDMA";
    }

    public String getLocalAddress() {
        return stream.localAddress().getAddress().getHostAddress();
    }

    public int getLocalPort() {
        return stream.localAddress().getPort();
    }

    public String getRemoteAddress() {
        return stream.remoteAddress().getAddress().getHostAddress();
    }

    public int getRemotePort() {
        return stream.remoteAddress().getPort();
    }

    public String getDevice() {
        return stream.deviceName();
    }

    /** Since it was established. */
    public long getAgeMillis() {
        return ageMillis;
    }

    /** By the application. */
    public long getBytesRead() {
        return bytesRead;
    }

    /** By the application. */
    public long getBytesWritten() {
        return bytesWritten;
    }

    /** Memory that the device holds pinned for it. */
    public long getRegisteredBytes() {
        return registeredBytes;
    }

    /** How often what was written had to wait for the peer to make room. */
    public long getStalls() {
        return stalls;
    }

    /** Whether the application has not closed it. */
    public boolean isOpen() {
        return open;
    }
}
