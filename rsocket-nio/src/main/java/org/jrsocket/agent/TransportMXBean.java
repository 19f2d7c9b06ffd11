/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.util.List;
import java.util.Map;

/**
 * {@code org.jrsocket:type=Transport}: what carries this JVM's connections. Numbers count from the start of the JVM.
 */
public interface TransportMXBean {

    /** Of this project. */
    String getVersion();

    /** Which of the JVM's sockets and channels are ours, and why others are the JDK's. */
    String getSockets();

    /** What verbs are opened, or why there are none. */
    String getVerbs();

    /** The settings in force, {@code key=value}. */
    String getSettings();

    /** Connections that clients made over RDMA. */
    long getRdmaConnected();

    /** Connections that servers accepted over RDMA. */
    long getRdmaAccepted();

    /**
     * Client connections left to TCP, by reason; those that have not occurred are 0, so that whoever collects the
     * numbers sees the first one come. Whether TCP then connected is not counted.
     */
    Map<String, Long> getTcpChosen();

    /** Connections accepted over TCP by servers that listen on both. */
    long getTcpAccepted();

    /**
     * RDMA connection requests that no {@code accept} rule admitted, that came over a device which {@code devices} or
     * a {@code bind} rule excludes, or that came while the override was TCP.
     */
    long getRdmaRefused();

    /**
     * How many of those had their answer so many microseconds or less after they were taken, by that number; {@code
     * +Inf} is all of them.
     */
    Map<String, Long> getRdmaRefusalMicros();

    /** RDMA connections that the application has not closed. */
    int getOpenConnections();

    /** RDMA connections that were closed, and still deliver what was written before, or are being freed. */
    int getClosingConnections();

    /** Bytes read by the application over RDMA. */
    long getBytesRead();

    /** Bytes written by the application over RDMA. */
    long getBytesWritten();

    /**
     * How many connections over RDMA took so many microseconds or less to make, by that number; {@code +Inf} is all of
     * them.
     */
    Map<String, Long> getRdmaConnectMicros();

    /** Memory that devices hold pinned for connections, bytes. */
    long getRegisteredBytes();

    /** The RDMA connections of this moment, one line each: addresses, device, bytes, age. */
    List<String> listConnections();

    /** The same as numbers. */
    List<ConnectionNumbers> showConnections();

    /** What all new connections use whatever policy and rules say; {@code none} if those decide. */
    String getPolicyOverride();

    /** One of {@code none}, {@code auto}, {@code rdma}, {@code tcp}. */
    void setPolicyOverride(String policy);

    /**
     * Has new connections use TCP, as the override does; those over RDMA end when the application closes them. Returns
     * how many are left. Harmless when repeated.
     */
    int drain();

    /** Reads the rules file again; if it cannot be used, the rules before stay. Returns what it has. */
    String reloadRules();

    /** What is remembered of peers. */
    List<RememberedPeer> showRemembered();

    /** Forgets what is remembered of peers; returns of how many. */
    int forgetRemembered();
}
