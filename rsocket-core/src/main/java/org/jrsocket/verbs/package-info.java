/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * RDMA verbs: DiSNI's abstract API ({@code com.ibm.disni.verbs}), extended by what a socket needs. It is public for the
 * other modules. Programs cannot rely on it: it may change with any version.
 *
 * <p>The seam is a family of abstract classes, {@link org.jrsocket.verbs.VerbsProvider}, {@link org.jrsocket.verbs.Cm},
 * {@link org.jrsocket.verbs.Verbs}, {@link org.jrsocket.verbs.Qp}, {@link org.jrsocket.verbs.Cq} and so on, each a
 * subclass of the DiSNI class with that role. Verbs through rdma-core, by JNI, are in {@code verbs.rdmacore}; verbs
 * within one JVM are in {@code jrsocket-testkit}. What callers do per operation (post, poll, arm, wait) works on
 * off-heap memory, allocates nothing and crosses JNI once.
 *
 * <p>May use DiSNI and the JDK, and of this project {@code os}.
 */
package org.jrsocket.verbs;
