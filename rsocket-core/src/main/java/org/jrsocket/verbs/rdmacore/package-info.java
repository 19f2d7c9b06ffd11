/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Verbs and CM through rdma-core: the JNI library, and the classes that own its objects. The only package that knows
 * native verbs code. May use {@code verbs.disni}, {@code verbs}, {@code os} and slf4j.
 *
 * <p>From top to bottom: the provider ({@code RdmaCoreProvider}); what it opens ({@code RdmaCoreVerbs},
 * {@code RdmaCoreCm} with {@code RdmaCoreDevices}); an id ({@code RdmaCoreCmId}) and its queue pair
 * ({@code RdmaCoreQp}); memory, queues and their channels ({@code RdmaCoreMr}, {@code RdmaCorePd}, {@code RdmaCoreCq},
 * {@code RdmaCoreCompChannel}); the device ({@code RdmaCoreDevice}), and the channel of CM events
 * ({@code RdmaCoreCmChannel}), which both know ids as {@code verbs.CmId}; the native methods ({@code Native}). No class
 * uses one above it.
 */
package org.jrsocket.verbs.rdmacore;
