/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Map;

/**
 * The bean {@code org.jrsocket:type=Transport}: what carries this JVM's connections. Numbers count from the start of
 * the JVM.
 */
public interface TransportMXBean {

    /** Returns the version of this project. */
    String getVersion();

    /** Returns which of the JVM's sockets and channels are ours, and why others are the JDK's. */
    String getSockets();

    /** Returns which verbs are open, or why there are none. */
    String getVerbs();

    /** Returns the settings in force, {@code key=value}. */
    String getSettings();

    /** Returns how many connections clients made over RDMA. */
    long getRdmaConnected();

    /** Returns how many connections servers accepted over RDMA. */
    long getRdmaAccepted();

    /**
     * Returns how many client connections were left to TCP, by reason. Reasons that have not occurred are 0, so that a
     * collector of the numbers sees the first one come. Whether TCP then connected is not counted.
     */
    Map<String, Long> getTcpChosen();

    /** Returns how many connections were accepted over TCP by servers that listen on both. */
    long getTcpAccepted();

    /**
     * Returns the number of RDMA connection requests that no {@code accept} rule admitted, that came over a device
     * which {@code devices} or a {@code bind} rule excludes, or that came while the override was TCP.
     */
    long getRdmaRefused();

    /**
     * Returns how many of those were answered at most so many microseconds after they were taken, by that number;
     * {@code +Inf} is all of them.
     */
    Map<String, Long> getRdmaRefusalMicros();

    /** Returns how many RDMA connections the application has not closed. */
    int getOpenConnections();

    /** Returns how many closed RDMA connections still deliver what was written before, or are being freed. */
    int getClosingConnections();

    /** Returns the bytes that the application has read over RDMA. */
    long getBytesRead();

    /** Returns the bytes that the application has written over RDMA. */
    long getBytesWritten();

    /**
     * Returns how many connections over RDMA took at most so many microseconds to make, by that number; {@code +Inf} is
     * all of them.
     */
    Map<String, Long> getRdmaConnectMicros();

    /** Returns the bytes of memory that devices hold pinned for connections. */
    long getRegisteredBytes();

    /**
     * Returns how often a connection wanted more memory, or to lend some, and was refused: by the setting
     * {@code memory.registered}, the system or the device. It then goes on with what it has.
     */
    long getMemoryRefusals();

    /**
     * Returns for how long one of the transport's own threads has been in one call, in milliseconds, because a device,
     * its driver or a logger hangs; 0 if none has for more than a second.
     */
    long getHungMillis();

    /** Returns the RDMA connections of this moment, one line each: addresses, device, bytes, age. */
    List<String> listConnections();

    /** Returns the same as numbers. */
    List<ConnectionNumbers> showConnections();

    /** Returns what all new connections use, whatever policy and rules say; {@code none} if those decide. */
    String getPolicyOverride();

    /** Sets the override: one of {@code none}, {@code auto}, {@code rdma}, {@code tcp}. */
    void setPolicyOverride(String policy);

    /**
     * Has new connections use TCP, as the override does; those over RDMA end when the application closes them. Returns
     * how many are left. Harmless when repeated.
     */
    int drain();

    /** Reads the rules file again; if it cannot be used, the previous rules stay. Returns what it contains. */
    String reloadRules();

    /** Returns what is remembered of peers. */
    List<RememberedPeer> showRemembered();

    /** Forgets what is remembered of peers, and returns of how many. */
    int forgetRemembered();
}
