/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

/**
 * What a device granted to the queue pair of a connection.
 *
 * @param device the name of the device
 * @param sendQueue work requests that may be on their way at a time
 * @param receiveQueue receives that may be posted at a time
 * @param inline bytes of payload inside a work request
 */
public record QueueLimits(String device, int sendQueue, int receiveQueue, int inline) {}
