/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * What becomes of connections when things go wrong, between two hosts: {@code scripts/faults}. The faults are on both
 * hosts, what looks at them on host b; {@link org.jrsocket.interop.faults.TwoHosts} has the traffic, {@link
 * org.jrsocket.interop.faults.Scenarios} what is done to it and what is promised.
 */
package org.jrsocket.interop.faults;
