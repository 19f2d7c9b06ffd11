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

    /** What verbs are opened, or why there are none. */
    String getVerbs();

    /** The settings in force, {@code key=value}. */
    String getSettings();

    /** Connections that clients made over RDMA. */
    long getRdmaConnected();

    /** Connections that servers accepted over RDMA. */
    long getRdmaAccepted();

    /**
     * Client connections left to TCP, by reason; the reasons that have occurred. Whether TCP then connected is not
     * counted.
     */
    Map<String, Long> getTcpChosen();

    /** Connections accepted over TCP by servers that listen on both. */
    long getTcpAccepted();

    /** RDMA connections that the application has not closed. */
    int getOpenConnections();

    /** RDMA connections that were closed, and still deliver what was written before, or are being freed. */
    int getClosingConnections();

    /** Bytes read by the application over RDMA. */
    long getBytesRead();

    /** Bytes written by the application over RDMA. */
    long getBytesWritten();

    /** Memory that devices hold pinned for connections, bytes. */
    long getRegisteredBytes();

    /** The RDMA connections of this moment, one line each: addresses, device, bytes, age. */
    List<String> listConnections();
}
