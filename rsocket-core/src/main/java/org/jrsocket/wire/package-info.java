/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The rsocket v1 wire format as pure functions over bytes: what two peers say to each other when they connect
 * ({@link org.jrsocket.wire.ConnData}), in the immediate data of each message ({@link org.jrsocket.wire.Imm}), in the
 * grants they write into each other's memory ({@link org.jrsocket.wire.Grant}), and the 16-bit arithmetic of credits
 * ({@link org.jrsocket.wire.Credits}).
 *
 * <p>No I/O, no state, no locks; nothing called once per message allocates. What a peer sent is checked here as far as
 * it can be checked without knowing the connection. This package may use the JDK and nothing else of this project; it
 * knows no verbs and no sockets.
 *
 * <p>Three byte orders meet in this protocol: connection data is in network order, immediate data is in network order
 * too (but verbs carry it raw, so the seam swaps it and this package sees host order), and a grant is in the byte order
 * of the side that will read it.
 */
package org.jrsocket.wire;
