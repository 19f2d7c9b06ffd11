/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import org.jrsocket.threads.Reapers;
import org.jrsocket.verbs.Cm;

/** What the endpoints of a transport share. */
public record EndpointServices(
        Cm cm, Reapers reapers, BundlePool bundles, InlineLimits inlineLimits, OpenDevices devices) {}
