/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.loopback;

/**
 * A listener that sees every message at the moment it has arrived, in order for each direction of a connection. It runs
 * with the connection's lock held, so it must be quick and must not call the provider.
 */
@FunctionalInterface
public interface MessageListener {

    /**
     * @param opcode one of {@link org.jrsocket.verbs.SendBatch}'s
     * @param imm host order; meaningless without immediate data
     * @param length bytes of payload
     */
    void arrived(LoopbackQp from, LoopbackQp to, int opcode, int imm, int length, long remoteAddress, int rkey);
}
