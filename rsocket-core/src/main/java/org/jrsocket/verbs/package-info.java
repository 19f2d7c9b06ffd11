/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * RDMA verbs: DiSNI's abstract API ({@code com.ibm.disni.verbs}), widened by what a socket needs and bound to rdma-core
 * by JNI.
 *
 * <p>The seam is a family of abstract classes, {@link org.jrsocket.verbs.VerbsProvider}, {@link org.jrsocket.verbs.Cm},
 * {@link org.jrsocket.verbs.Verbs}, {@link org.jrsocket.verbs.Qp}, {@link org.jrsocket.verbs.Cq} and so on, each a
 * subclass of the DiSNI class of that role. The rdma-core implementation ({@code RdmaCore...}) lives here too; the
 * loopback implementation lives in the test fixtures. What callers do per operation (post, poll, arm, wait) works on
 * off-heap memory, allocates nothing and crosses JNI once.
 *
 * <p>This is the only package that knows native code. It may use DiSNI, slf4j and the JDK, and nothing else of this
 * project.
 */
package org.jrsocket.verbs;
