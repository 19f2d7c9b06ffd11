/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Traffic over java.net, a selector and the Netty transport at once, of which every byte is checked: {@link
 * org.jrsocket.interop.frameworks.traffic.EchoServer} gives back what it gets, {@link
 * org.jrsocket.interop.frameworks.traffic.TrafficClient} knows what has to come back.
 */
package org.jrsocket.interop.frameworks.traffic;
