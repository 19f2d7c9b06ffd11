/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.security.AccessController;
import java.security.PrivilegedAction;
import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;
import org.jrsocket.nio.BroughtProviders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes {@link TransportBean} appear in the platform MBean server, without starting that: it takes a JVM a good part of
 * its start-up time, and most never use it. The JDK asks a builder, named by a property, for each new MBean server;
 * ours adds the bean to the platform's. Names no class of {@code java.management} before it knows that the module is
 * there.
 */
final class Management {

    static final String BUILDER = "javax.management.builder.initial";

    private static final Logger LOG = LoggerFactory.getLogger(Management.class);
    private static final String STARTED = "java.lang.management.ManagementFactory";

    /** What the bean will show; set before the builder is named. */
    private static volatile TransportBean bean;
    /** The builder that somebody else has named before; ours then asks that one. */
    private static volatile String other;

    private Management() {}

    /** Sees to it that there is a bean when somebody looks. Never fails. */
    static void register(TransportContext context, TransportHolder holder, Instrumentation instrumentation) {
        Module management = ModuleLayer.boot().findModule("java.management").orElse(null);
        if (management == null) {
            return;
        }
        try {
            bean = new TransportBean(context, holder);
            if (Installation.isLoaded(management, STARTED, instrumentation)) {
                PlatformBuilder.registerNow(bean); // another agent was before us, or we are attached to a JVM that runs
                return;
            }
            if (Management.class.getClassLoader() != null) {
                // The JDK looks for the builder with whatever class loader the thread has that starts JMX. Where that
                // does not find it, there is no MBean server at all. Nor is JMX started here: it would load the log
                // manager before the program has named its own.
                LOG.debug(
                        "no JMX bean {}: the agent is not on the boot class path, where rsocket.jar puts itself",
                        TransportBean.NAME);
                return;
            }
            BroughtProviders.ensureFound(PlatformBuilder.class); // else JMX would not start at all
            other = System.getProperty(BUILDER);
            System.setProperty(BUILDER, PlatformBuilder.class.getName());
        } catch (IOException e) {
            LOG.warn("no JMX bean {}: {}", TransportBean.NAME, e.getMessage());
        } catch (Exception | LinkageError e) {
            LOG.warn("no JMX bean {}", TransportBean.NAME, e);
        }
    }

    static TransportBean bean() {
        return bean;
    }

    static String other() {
        return other;
    }

    /** The platform's MBean server is there; for others the builder is as it was. */
    @SuppressWarnings("removal") // whoever starts JMX need not have the right to see properties (JDK 17)
    static void done() {
        AccessController.doPrivileged((PrivilegedAction<Void>) () -> {
            if (PlatformBuilder.class.getName().equals(System.getProperty(BUILDER))) {
                if (other == null) {
                    System.clearProperty(BUILDER);
                } else {
                    System.setProperty(BUILDER, other);
                }
            }
            return null;
        });
    }
}
