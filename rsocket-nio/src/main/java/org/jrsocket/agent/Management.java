/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
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

    private static final Logger LOG = LoggerFactory.getLogger(Management.class);
    private static final String STARTED = "java.lang.management.ManagementFactory";

    private static volatile TransportBean bean;

    private Management() {}

    /** Makes sure that there is a bean when it is looked for. Never fails. */
    static void register(TransportContext context, TransportHolder holder, Instrumentation instrumentation) {
        Module management = ModuleLayer.boot().findModule("java.management").orElse(null);
        if (management == null) {
            return;
        }
        try {
            bean = new TransportBean(context, holder);
            if (LoadedClasses.contain(management, STARTED, instrumentation)) {
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
            PlatformBuilder.announce(bean);
        } catch (IOException e) {
            LOG.warn("no JMX bean {}: {}", TransportBean.NAME, e.getMessage());
        } catch (Exception | LinkageError e) {
            LOG.warn("no JMX bean {}", TransportBean.NAME, e);
        }
    }

    /** For tests. */
    static TransportBean bean() {
        return bean;
    }
}
