/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.example.shaded.netty.channel.epoll;

/** Called as a class of Netty is in a copy of Netty under another name. Only its name matters. */
public final class EpollEventLoop {}
