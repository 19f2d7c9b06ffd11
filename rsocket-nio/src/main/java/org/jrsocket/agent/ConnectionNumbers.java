/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.concurrent.TimeUnit;
import org.jrsocket.stream.RdmaStream;
import org.jrsocket.stream.StreamProgress;

/** The numbers of one RDMA connection at one moment, as open data. */
public final class ConnectionNumbers {

    private final RdmaStream stream;
    private final long ageMillis;
    private final long bytesRead;
    private final long bytesWritten;
    private final long registeredBytes;
    private final long stalls;
    private final StreamProgress progress;
    private final boolean open;

    ConnectionNumbers(RdmaStream stream) {
        this.stream = stream;
        ageMillis = TimeUnit.NANOSECONDS.toMillis(stream.nanosOpen());
        bytesRead = stream.bytesRead();
        bytesWritten = stream.bytesWritten();
        registeredBytes = stream.registeredBytes();
        stalls = stream.stalls();
        progress = StreamProgress.of(stream);
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

    /** Returns the bytes that have arrived, as far as anybody has looked, and that the application has not read. */
    public long getBytesUnread() {
        return progress.unread();
    }

    /** Returns the bytes that the application has written and that the device was not given yet. */
    public long getBytesUnsent() {
        return progress.unsent();
    }

    /** Returns the name of what keeps more from being sent, a {@link StreamProgress.Wait}. */
    public String getWaitsFor() {
        return progress.waitsFor().name();
    }

    /** Returns for how long the device has not said what became of a request; 0 if it owes no answer. */
    public long getSilentSeconds() {
        return progress.silentSeconds();
    }

    /** Returns whether the application has not closed the connection. */
    public boolean isOpen() {
        return open;
    }
}
