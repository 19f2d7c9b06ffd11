/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import javax.management.MBeanServer;
import javax.management.MBeanServerBuilder;
import javax.management.MBeanServerDelegate;

/** An application's own builder of MBean servers, named by the property that the agent uses too. */
public final class OwnBuilder extends MBeanServerBuilder {

    private static int built;

    @Override
    public MBeanServer newMBeanServer(String defaultDomain, MBeanServer outer, MBeanServerDelegate delegate) {
        built++;
        return super.newMBeanServer(defaultDomain, outer, delegate);
    }

    static int built() {
        return built;
    }
}
