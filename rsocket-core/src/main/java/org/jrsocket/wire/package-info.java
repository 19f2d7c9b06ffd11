/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The rsocket v1 wire format as pure functions over bytes: what two peers say to each other when they connect
 * ({@link org.jrsocket.wire.ConnData}) or when one refuses the other ({@link org.jrsocket.wire.Refusal}), in the
 * immediate data of each message ({@link org.jrsocket.wire.Imm}) or in what iWARP has instead
 * ({@link org.jrsocket.wire.MessageWord}), in the grants they write into each other's memory
 * ({@link org.jrsocket.wire.Grant}), and the 16-bit arithmetic of credits ({@link org.jrsocket.wire.Credits}).
 *
 * <p>The package has no I/O, no state and no locks, and nothing that is called once per message allocates. What a peer
 * sent is checked here as far as it can be checked without knowing the connection. The package may use the JDK and
 * nothing else of this project; it knows no verbs and no sockets.
 *
 * <p>Three byte orders meet in this protocol. Connection data and refusals are in network order. Immediate data is too,
 * but verbs carry it raw, so the seam swaps it and this package sees host order. A grant is in the byte order of the
 * side that will read it, and iWARP's message word in that of the side that has written it.
 */
package org.jrsocket.wire;
