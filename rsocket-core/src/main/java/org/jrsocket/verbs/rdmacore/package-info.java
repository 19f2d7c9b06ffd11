/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Verbs and CM through rdma-core: the JNI library, and the classes that own its objects. The only package that knows
 * native verbs code. May use {@code verbs.disni}, {@code verbs}, {@code os} and slf4j.
 */
package org.jrsocket.verbs.rdmacore;
