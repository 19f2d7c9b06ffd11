/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The drop-in jar's two entry points: {@link org.jrsocket.agent.Agent} for {@code -javaagent},
 * {@link org.jrsocket.agent.Main} for {@code java -jar}.
 *
 * <p>May use every other package of this module; the NIO provider, which another module holds, it finds by name. What
 * it prints goes to stderr, except what somebody asked {@code Main} for.
 */
package org.jrsocket.agent;
