/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Programs of random calls that are run on two kinds of sockets, of which one is the reference: what a call returns or
 * throws has to be the same on both. Uses only the JDK.
 */
package org.jrsocket.testkit.programs;
