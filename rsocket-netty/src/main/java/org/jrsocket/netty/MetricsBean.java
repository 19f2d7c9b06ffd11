/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the numbers where they are kept; keeps nothing itself. */
final class MetricsBean implements RdmaMetricsMXBean {

    static final String NAME = "org.jrsocket:type=Netty";

    private static final Logger LOG = LoggerFactory.getLogger(MetricsBean.class);

    private static ObjectName registered; // guarded by the class's monitor

    private final RdmaMetrics metrics;

    private MetricsBean(RdmaMetrics metrics) {
        this.metrics = metrics;
    }

    /** Registers a bean. Never fails: the transport works without it. */
    static synchronized void register(RdmaMetrics metrics) {
        if (ModuleLayer.boot().findModule("java.management").isEmpty()) {
            return;
        }
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            MetricsBean bean = new MetricsBean(metrics);
            try {
                registered = server.registerMBean(bean, new ObjectName(NAME)).getObjectName();
            } catch (InstanceAlreadyExistsException e) { // by another class loader
                String loader = Integer.toHexString(System.identityHashCode(MetricsBean.class.getClassLoader()));
                registered = server.registerMBean(bean, new ObjectName(NAME + ",loader=" + loader))
                        .getObjectName();
            }
        } catch (JMException | RuntimeException | LinkageError e) {
            LOG.warn("no JMX bean {}", NAME, e);
        }
    }

    /** Unregisters the bean: the JVM would keep it, and with it the class loader of this class. Never fails. */
    static synchronized void unregister() {
        if (registered == null) {
            return;
        }
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(registered);
        } catch (JMException | RuntimeException e) {
            LOG.debug(
                    "cannot unregister the JMX bean {}",
                    registered,
                    e); // for example, it has been unregistered already
        }
        registered = null;
    }

    @Override
    public long getCopiedBytes() {
        return metrics.copiedBytes();
    }

    @Override
    public long getSentCopiedBytes() {
        return metrics.sentCopiedBytes();
    }

    @Override
    public long getSentLentBytes() {
        return metrics.sentLentBytes();
    }

    @Override
    public long getReceivedCopiedBytes() {
        return metrics.receivedCopiedBytes();
    }

    @Override
    public long getReceivedLentBytes() {
        return metrics.receivedLentBytes();
    }
}
