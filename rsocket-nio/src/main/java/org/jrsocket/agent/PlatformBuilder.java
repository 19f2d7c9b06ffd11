/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.lang.management.ManagementFactory;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import javax.management.MBeanServer;
import javax.management.MBeanServerBuilder;
import javax.management.MBeanServerDelegate;
import javax.management.ObjectName;
import org.slf4j.LoggerFactory;

/**
 * Builds MBean servers as the JDK would, and adds our bean to the platform's. Made by the JDK: see {@code Management}.
 */
public final class PlatformBuilder extends MBeanServerBuilder {

    private static final String PROPERTY = "javax.management.builder.initial";

    /** The bean to add; set before the builder is named. */
    private static volatile TransportBean bean;
    /** The builder that was named before ours, which then delegates to it. */
    private static volatile String other;

    private final MBeanServerBuilder builder;

    public PlatformBuilder() throws ReflectiveOperationException {
        if (other == null) {
            builder = new MBeanServerBuilder();
        } else {
            ClassLoader loader = Thread.currentThread().getContextClassLoader(); // as the JDK looks for it
            builder = (MBeanServerBuilder) (loader == null ? Class.forName(other) : loader.loadClass(other))
                    .getConstructor()
                    .newInstance();
        }
    }

    @Override
    public MBeanServerDelegate newMBeanServerDelegate() {
        return builder.newMBeanServerDelegate();
    }

    @Override
    public MBeanServer newMBeanServer(String defaultDomain, MBeanServer outer, MBeanServerDelegate delegate) {
        MBeanServer server = builder.newMBeanServer(defaultDomain, outer, delegate);
        boolean platform = StackWalker.getInstance()
                .walk(frames ->
                        frames.anyMatch(frame -> frame.getClassName().equals(ManagementFactory.class.getName())));
        if (platform) {
            register(server, bean);
            done();
        }
        return server;
    }

    /** Has the JDK use this builder for the platform's MBean server. */
    static void announce(TransportBean toAdd) {
        bean = toAdd;
        other = System.getProperty(PROPERTY);
        System.setProperty(PROPERTY, PlatformBuilder.class.getName());
    }

    /** Restores the property for other MBean servers, once the platform's exists. */
    @SuppressWarnings("removal") // the code that starts JMX need not have the right to read properties (JDK 17)
    private static void done() {
        AccessController.doPrivileged((PrivilegedAction<Void>) () -> {
            if (PlatformBuilder.class.getName().equals(System.getProperty(PROPERTY))) {
                if (other == null) {
                    System.clearProperty(PROPERTY);
                } else {
                    System.setProperty(PROPERTY, other);
                }
            }
            return null;
        });
    }

    static void registerNow(TransportBean bean) {
        register(ManagementFactory.getPlatformMBeanServer(), bean);
    }

    /** Registers the bean. The code that starts JMX need not have the right to do so. */
    @SuppressWarnings("removal") // of the security manager: JDK 17 has one
    static void register(MBeanServer server, TransportBean bean) {
        try {
            AccessController.doPrivileged((PrivilegedExceptionAction<Object>)
                    () -> server.registerMBean(bean, new ObjectName(TransportBean.NAME)));
        } catch (PrivilegedActionException | RuntimeException e) {
            LoggerFactory.getLogger(PlatformBuilder.class).warn("no JMX bean {}", TransportBean.NAME, e);
        }
    }
}
