/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A service and its client, as a user of gRPC writes them; messages are bytes, so that no code generator is needed. */
package org.jrsocket.interop.frameworks.grpc;
