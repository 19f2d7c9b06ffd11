/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What tests of programs with jrsocket can use besides the devices of {@link org.jrsocket.verbs.loopback}.
 */
package org.jrsocket.testkit;
