/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.net.MalformedURLException;
import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The bean of another JVM. Each failure is an IOException that says what to do. */
final class RemoteTransport implements AutoCloseable {

    private final String target;
    private final JMXConnector connector;
    private final MBeanServerConnection server;
    private final ObjectName name;

    private RemoteTransport(String target, JMXConnector connector) throws IOException {
        this.target = target;
        this.connector = connector;
        server = connector.getMBeanServerConnection();
        try {
            name = new ObjectName(TransportBean.NAME);
        } catch (MalformedObjectNameException e) {
            throw new AssertionError(e);
        }
    }

    /** @param target a process of this host and user, or the address of a JMX connector */
    @SuppressWarnings("BanJNDI") // whoever runs the command names whom it believes
    static RemoteTransport connect(String target) throws IOException {
        try {
            boolean address = target.startsWith("service:");
            JMXServiceURL url = new JMXServiceURL(address ? target : Local.address(target));
            return new RemoteTransport(target, JMXConnectorFactory.connect(url));
        } catch (MalformedURLException e) {
            throw new IOException(target + ": not an address of JMX: " + e.getMessage(), e);
        } catch (SecurityException e) {
            throw new IOException(target + ": " + e.getMessage(), e);
        } catch (NoClassDefFoundError e) {
            throw new IOException(
                    "this Java runtime cannot attach to a process (no module jdk.attach); name a service:jmx: address",
                    e);
        }
    }

    /** Apart, because a runtime may be without the module. */
    private static final class Local {

        static String address(String pid) throws IOException {
            if (!pid.matches("[0-9]{1,18}")) {
                throw new IOException(pid + ": neither the number of a process nor a service:jmx: address");
            }
            try {
                VirtualMachine jvm = VirtualMachine.attach(pid);
                try {
                    return jvm.startLocalManagementAgent();
                } finally {
                    jvm.detach();
                }
            } catch (AttachNotSupportedException | IOException e) {
                throw new IOException(
                        "process " + pid + ": not a JVM of this user that can be attached to (" + e.getMessage() + ")",
                        e);
            }
        }
    }

    Object get(String attribute) throws IOException {
        return ask(() -> server.getAttribute(name, attribute));
    }

    void set(String attribute, Object value) throws IOException {
        ask(() -> {
            server.setAttribute(name, new Attribute(attribute, value));
            return null;
        });
    }

    Object invoke(String operation) throws IOException {
        return ask(() -> server.invoke(name, operation, new Object[0], new String[0]));
    }

    private interface Question {
        Object ask() throws JMException, IOException;
    }

    private Object ask(Question question) throws IOException {
        try {
            return question.ask();
        } catch (InstanceNotFoundException e) {
            throw new IOException(target + " has no bean " + TransportBean.NAME + ": it runs without the agent", e);
        } catch (RuntimeMBeanException e) { // what the bean says itself
            throw new IOException(e.getCause().getMessage(), e);
        } catch (JMException | JMRuntimeException e) {
            throw new IOException(target + ": " + e.getMessage() + " (another version of jrsocket?)", e);
        }
    }

    @Override
    public void close() throws IOException {
        connector.close();
    }
}
