/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.net.MalformedURLException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
    private boolean answered; // whether the last question was answered

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

    /**
     * @param target a process of this host and user, or the address of a JMX connector
     * @param credentials name and password for an address with access control; null for none
     */
    @SuppressWarnings("BanJNDI") // the user who runs the command chooses whom to trust
    static RemoteTransport connect(String target, String[] credentials) throws IOException {
        if (ModuleLayer.boot().findModule("java.management.rmi").isEmpty()) {
            throw new IOException("this Java runtime cannot query another one (no module java.management.rmi)");
        }
        try {
            boolean address = target.startsWith("service:");
            JMXServiceURL url = new JMXServiceURL(address ? target : Local.address(target));
            Map<String, ?> environment = credentials == null ? Map.of() : Map.of(JMXConnector.CREDENTIALS, credentials);
            return new RemoteTransport(target, JMXConnectorFactory.connect(url, environment));
        } catch (MalformedURLException e) {
            throw new IOException(target + ": not a JMX address: " + e.getMessage(), e);
        } catch (SecurityException e) {
            throw new IOException(
                    target + ": " + e.getMessage()
                            + (credentials == null ? " (name a user with --user and --password-file)" : ""),
                    e);
        } catch (NoClassDefFoundError e) {
            throw new IOException(
                    "this Java runtime cannot attach to a process (no module jdk.attach); name a service:jmx: address",
                    e);
        }
    }

    /** Attaches to a process. A class of its own, because a runtime may be without the module. */
    private static final class Local {

        /** The bit of signal 3 in the masks of {@code /proc/PID/status}. */
        private static final long SIGQUIT = 1 << 2;

        static String address(String pid) throws IOException {
            if (!pid.matches("[0-9]{1,18}")) {
                throw new IOException(pid + ": neither a process ID nor a service:jmx: address");
            }
            try {
                if (wouldEnd(pid)) {
                    throw new AttachNotSupportedException("it does not handle SIGQUIT");
                }
                VirtualMachine jvm = VirtualMachine.attach(pid);
                try {
                    return jvm.startLocalManagementAgent();
                } finally {
                    jvm.detach();
                }
            } catch (AttachNotSupportedException | IOException e) {
                throw new IOException(
                        "process " + pid + ": not a JVM of this user that can be attached to (" + e.getMessage()
                                + "); it has to be running, and its /tmp writable",
                        e);
            }
        }

        /**
         * Returns whether attaching would end the process. A JVM that no one has attached to yet is asked with SIGQUIT,
         * which by default ends a process. JDK 17 sends it to any process that has the number.
         */
        private static boolean wouldEnd(String pid) {
            String number = Long.toString(Long.parseLong(pid)); // attaching accepts leading zeros, the path does not
            String inner = number; // its number in its own namespace, which its socket is named after
            long caught = SIGQUIT;
            try {
                for (String line : Files.readAllLines(Path.of("/proc", number, "status"), ISO_8859_1)) {
                    String[] words = line.split("\\s+", -1);
                    if (words[0].equals("NSpid:")) {
                        inner = words[words.length - 1];
                    } else if (words[0].equals("SigCgt:")) {
                        caught = Long.parseUnsignedLong(words[1], 16);
                    }
                }
            } catch (IOException | RuntimeException e) {
                return false; // attaching reports whether there is such a process, and whose it is
            }
            // a JVM with the socket is not sent the signal: with -Xrs, it has one at once and does not handle SIGQUIT
            return (caught & SIGQUIT) == 0 && !Files.exists(Path.of("/proc", number, "root/tmp/.java_pid" + inner));
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

    /**
     * Returns whether the process has ended, after a question that got no answer. Waits up to the given time, because
     * it may still be about to end. For the address of a JMX connector this is unknown.
     */
    boolean hasEnded(long nanos) throws InterruptedException {
        if (answered || target.startsWith("service:")) {
            return false;
        }
        ProcessHandle process = ProcessHandle.of(Long.parseLong(target)).orElse(null);
        try {
            if (process != null) {
                process.onExit().get(nanos, TimeUnit.NANOSECONDS);
            }
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private interface Question {
        Object ask() throws JMException, IOException;
    }

    private Object ask(Question question) throws IOException {
        answered = false;
        try {
            Object answer = question.ask();
            answered = true;
            return answer;
        } catch (InstanceNotFoundException e) {
            throw new IOException(
                    target + " has no bean " + TransportBean.NAME
                            + ": it runs without the agent, or without the agent on its boot class path",
                    e);
        } catch (RuntimeMBeanException e) { // thrown by the bean itself
            throw new IOException(e.getCause().getMessage(), e);
        } catch (JMException | JMRuntimeException e) {
            throw new IOException(target + ": " + e.getMessage() + " (another version of jrsocket?)", e);
        }
    }

    @Override
    public void close() {
        try {
            connector.close();
        } catch (IOException e) {
            // it is gone already
        }
    }
}
