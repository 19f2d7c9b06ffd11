/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The stream engine's behaviour, written once: it runs over loopback verbs in every build and over a real device in the
 * lab.
 */
package org.jrsocket.stream;
