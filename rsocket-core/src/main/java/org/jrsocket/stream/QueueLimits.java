/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.stream;

/**
 * What a device granted the queue pair of a connection.
 *
 * @param device its name
 * @param sendQueue work requests on their way at a time
 * @param receiveQueue receives posted at a time
 * @param inline bytes of payload inside a work request
 */
public record QueueLimits(String device, int sendQueue, int receiveQueue, int inline) {}
