/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * DiSNI's prepared calls on top of our verbs, for programs written against DiSNI's API. May use {@code verbs} and
 * {@code os}.
 */
package org.jrsocket.verbs.disni;
