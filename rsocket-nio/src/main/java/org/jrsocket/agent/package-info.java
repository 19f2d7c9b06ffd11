/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The drop-in jar's two entry points: {@link org.jrsocket.agent.Agent} for {@code -javaagent},
 * {@link org.jrsocket.agent.Main} for {@code java -jar}.
 *
 * <p>This package is on top: it may use {@code net}, {@code nio}, {@code aio}, {@code perf}, {@code connect}, {@code
 * stream}, {@code threads}, {@code verbs} and {@code os}, and nothing uses it. What it prints goes to stderr, except
 * what the user asked {@code Main} for.
 *
 * <p>From top to bottom: {@code Agent}, {@code Installation}, {@code BootPath}, {@code Management},
 * {@code PlatformBuilder}, {@code TransportBean}, {@code NettyBypass}, {@code Notices}; and {@code Main}, its commands,
 * {@code ClientOptions}, {@code Commands}. No class uses one above it: the agent tells {@code BootPath} which class it
 * is, and a command knows where it writes by {@code Commands.Terminal}.
 */
package org.jrsocket.agent;
