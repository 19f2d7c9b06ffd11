/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

/**
 * The sizes that an endpoint asks its device for.
 *
 * @param sendQueue work requests of the send queue; limited to what the device takes
 * @param receiveQueue receives for data messages; limited likewise, and a few more are added for other messages
 * @param sendSlab bytes of the first send slab
 * @param receiveSlab bytes of each of the two receive slabs that it begins with
 * @param inline bytes of payload that may travel inside a work request; the device may grant more or less
 */
public record EndpointSizes(int sendQueue, int receiveQueue, int sendSlab, int receiveSlab, int inline) {}
