/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The threads that a transport has, and what threads need that meet at a stream.
 *
 * <p>{@link org.jrsocket.threads.ServiceThread} is the one thread of an epoll loop, with timers, watched descriptors
 * and {@link org.jrsocket.threads.Leftovers}; others see it as a {@link org.jrsocket.threads.ServiceLoop}. {@link
 * org.jrsocket.threads.Makers} and {@link org.jrsocket.threads.Reapers} are the threads of each device that wait for
 * the device and the kernel. {@link org.jrsocket.threads.Threads} makes them all. A {@link
 * org.jrsocket.threads.PatientLock} ignores interrupts, and a {@link org.jrsocket.threads.Sleeper} sleeps until its
 * descriptor is readable or another thread wakes it.
 *
 * <p>May use {@code verbs} for the devices that threads belong to, {@code os} and slf4j. Knows nothing of streams. It
 * is public for the other modules. Programs cannot rely on it: it may change with any version.
 */
package org.jrsocket.threads;
