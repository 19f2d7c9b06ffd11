/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.endpoint;

import org.jrsocket.threads.Reapers;
import org.jrsocket.verbs.Cm;

/**
 * What the endpoints of a transport share.
 *
 * @param cm makes and frees ids and queue pairs
 * @param reapers wait for the device, where the caller must not
 * @param bundles what ended connections have left, for later ones
 * @param inlineLimits what is known of each device's inline data
 * @param devices are watched for events once an endpoint is made on them
 */
public record EndpointServices(
        Cm cm, Reapers reapers, BundlePool bundles, InlineLimits inlineLimits, OpenDevices devices) {}
