/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * One suite against {@code java.nio.channels} alone, {@link org.jrsocket.aio.AioBehaviours}, whose reference is the
 * JDK's own provider; run for each {@link org.jrsocket.aio.AioKind}. What only our provider has is tested apart from
 * it.
 */
package org.jrsocket.aio;
