/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** A producer and a consumer; the broker is Kafka's own program. */
package org.jrsocket.interop.frameworks.kafka;
