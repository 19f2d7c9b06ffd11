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
import org.jrsocket.nio.ProgramProviders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes {@link TransportBean} appear in the platform MBean server without starting that server, which takes a good part
 * of a JVM's start-up time, and which most JVMs never use. The JDK asks a builder, named by a property, for each new
 * MBean server; our builder adds the bean to the platform's. Uses no class of {@code java.management} before it knows
 * that the module is present.
 */
final class Management {

    static final String BUILDER = "javax.management.builder.initial";

    private static final Logger LOG = LoggerFactory.getLogger(Management.class);
    private static final String STARTED = "java.lang.management.ManagementFactory";

    /** The bean to register; set before the builder is named. */
    private static volatile TransportBean bean;
    /** The builder that was named before ours, which then delegates to it. */
    private static volatile String other;

    private Management() {}

    /** Makes sure that there is a bean when it is looked for. Never fails. */
    static void register(TransportContext context, TransportHolder holder, Instrumentation instrumentation) {
        Module management = ModuleLayer.boot().findModule("java.management").orElse(null);
        if (management == null) {
            return;
        }
        try {
            bean = new TransportBean(context, holder);
            if (Installation.isLoaded(management, STARTED, instrumentation)) {
                PlatformBuilder.registerNow(bean); // another agent came first, or we are attached to a running JVM
                return;
            }
            if (Management.class.getClassLoader() != null) {
                // The JDK looks for the builder with the class loader of the thread that starts JMX. If that does not
                // find it, there is no MBean server at all. JMX is not started here either: it would load the log
                // manager before the program has named its own.
                LOG.debug(
                        "no JMX bean {}: the agent is not on the boot class path, where rsocket.jar puts itself",
                        TransportBean.NAME);
                return;
            }
            ProgramProviders.ensureFound(PlatformBuilder.class); // otherwise JMX would not start at all
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

    /** Restores the property for other MBean servers, once the platform's exists. */
    @SuppressWarnings("removal") // the code that starts JMX need not have the right to read properties (JDK 17)
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
