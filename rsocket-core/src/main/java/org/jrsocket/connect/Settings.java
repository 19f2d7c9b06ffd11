/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jrsocket.os.NativeLibrary;
import org.jrsocket.stream.RdmaTransport;
import org.jrsocket.stream.StreamConfig;
import org.jrsocket.verbs.rdmacore.RdmaCoreProbe;

/**
 * All settings, read once at startup and immutable from then on. An agent argument ({@code key=value,key=value}) takes
 * precedence over a system property ({@code -Dorg.jrsocket.key}), and that over an environment variable
 * ({@code JRSOCKET_KEY}). Documented in {@code docs/configuration.md}, with which a test compares them.
 */
public final class Settings {

    private enum Switch {
        ON,
        OFF
    }

    static final SettingKey<Policy> POLICY = SettingKey.choice("policy", Policy.AUTO);
    static final SettingKey<Path> RULES = SettingKey.file("rules");
    static final SettingKey<Scope> SCOPE = SettingKey.choice("scope", Scope.PRIVATE);
    static final SettingKey<Switch> LISTEN = SettingKey.choice("listen", Switch.ON);
    static final SettingKey<Devices> DEVICES = SettingKey.devices("devices");
    static final SettingKey<Switch> DEVICE_LATE = SettingKey.choice("device.late", Switch.OFF);
    static final SettingKey<LogLevel> LOG = SettingKey.choice("log", LogLevel.WARN);
    static final SettingKey<Long> CONNECT_TIMEOUT = SettingKey.duration("connect.timeout", "100ms", "1ms", "1h");
    static final SettingKey<Long> MEMORY_UNANSWERED = SettingKey.duration("memory.unanswered", "50s", "0", "24h");
    static final SettingKey<Long> MEMORY_REJECTED = SettingKey.duration("memory.rejected", "10s", "0", "24h");
    static final SettingKey<Integer> BUFFER_SEND = SettingKey.size("buffer.send", "1m", "4k", "256m");
    static final SettingKey<Integer> BUFFER_RECEIVE = SettingKey.size("buffer.receive", "4m", "4k", "256m");
    static final SettingKey<Integer> BUFFER_MAX = SettingKey.size("buffer.max", "16m", "4k", "256m");
    static final SettingKey<Integer> QUEUE_SEND =
            SettingKey.integer("queue.send", StreamConfig.DEFAULT.sendQueue(), 16, 65534);
    static final SettingKey<Integer> QUEUE_RECEIVE =
            SettingKey.integer("queue.receive", StreamConfig.DEFAULT.receiveQueue(), 16, 65534);
    static final SettingKey<Integer> INLINE = SettingKey.size("inline", "" + StreamConfig.DEFAULT.inline(), "0", "4k");
    static final SettingKey<Long> SPIN =
            SettingKey.duration("spin", StreamConfig.DEFAULT.spinNanos() / 1000 + "us", "0", "100ms");
    static final SettingKey<Long> ACK_TIMEOUT =
            SettingKey.duration("ack.timeout", StreamConfig.DEFAULT.ackTimeoutNanos() / 1_000_000 + "ms", "1ms", "2s");
    static final SettingKey<Integer> TRAFFIC_CLASS =
            SettingKey.integer("traffic.class", StreamConfig.DEFAULT.typeOfService(), 0, 255);
    static final SettingKey<Long> MEMORY_REGISTERED = SettingKey.largeSize("memory.registered", "4g", "1m", "1024g");
    static final SettingKey<Integer> CLOSE_MAX = SettingKey.integer("close.max", RdmaTransport.MAX_CLOSING, 0, 65536);

    /** All keys, in the order of the documentation. */
    static final List<SettingKey<?>> KEYS = List.of(
            POLICY,
            RULES,
            SCOPE,
            LISTEN,
            DEVICES,
            DEVICE_LATE,
            LOG,
            CONNECT_TIMEOUT,
            MEMORY_UNANSWERED,
            MEMORY_REJECTED,
            BUFFER_SEND,
            BUFFER_RECEIVE,
            BUFFER_MAX,
            QUEUE_SEND,
            QUEUE_RECEIVE,
            INLINE,
            SPIN,
            ACK_TIMEOUT,
            TRAFFIC_CLASS,
            CLOSE_MAX,
            MEMORY_REGISTERED);

    /** The prefix of a key's name in a system property. */
    public static final String PREFIX = "org.jrsocket.";

    /** Properties that are read elsewhere, and are neither agent arguments nor environment variables. */
    private static final List<String> OTHERS = List.of(
            NativeLibrary.DIR_PROPERTY.substring(PREFIX.length()),
            NativeLibrary.LIBRARY_PROPERTY.substring(PREFIX.length()),
            RdmaCoreProbe.IWARP_PROPERTY.substring(PREFIX.length()));

    /** Prefixes of properties of the classes that the drop-in jar carries, and of the project's own tests. */
    private static final List<String> BEGINNINGS = List.of("shaded.", "test.", "bench.");

    private final Map<SettingKey<?>, Object> values;
    /** The values as they were written. */
    private final Map<SettingKey<?>, String> given;
    // Values that every connection needs.
    private final StreamConfig streamConfig;
    private final long connectNanos;
    private final int maxBuffer;

    private Settings(Map<SettingKey<?>, Object> values, Map<SettingKey<?>, String> given) {
        this.values = Map.copyOf(values);
        this.given = Map.copyOf(given);
        streamConfig = StreamConfig.DEFAULT
                .withBuffers(get(BUFFER_SEND), get(BUFFER_RECEIVE))
                .withQueues(get(QUEUE_SEND), get(QUEUE_RECEIVE))
                .withInline(get(INLINE))
                .withSpinNanos(get(SPIN))
                .withTypeOfService(get(TRAFFIC_CLASS))
                .withAckTimeoutNanos(get(ACK_TIMEOUT));
        connectNanos = get(CONNECT_TIMEOUT);
        maxBuffer = get(BUFFER_MAX);
    }

    /** Returns settings that are all defaults. */
    public static Settings defaults() {
        try {
            return read(null, new Properties(), Map.of());
        } catch (ConfigurationException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Reads and checks the settings.
     *
     * @param arguments the agent's arguments, may be null
     * @throws ConfigurationException for an unknown key or a value that is out of range. Unknown environment variables
     *     are ignored: orchestrators set some for any service that happens to be called jrsocket.
     */
    public static Settings read(String arguments, Properties properties, Map<String, String> environment)
            throws ConfigurationException {
        Map<String, String> fromArguments = split(arguments);
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                String key = name.substring(PREFIX.length());
                if (!isOfOthers(key)) {
                    known(key, "-D" + name, OTHERS);
                }
                if (name.equals(RdmaCoreProbe.IWARP_PROPERTY)) {
                    checkSwitch(name, properties.getProperty(name));
                }
            }
        }
        Map<SettingKey<?>, Object> values = new HashMap<>();
        Map<SettingKey<?>, String> given = new HashMap<>();
        for (SettingKey<?> key : KEYS) {
            String argument = fromArguments.get(key.name());
            String property = properties.getProperty(PREFIX + key.name());
            String variable = environment.get(key.variable());
            String text = argument != null ? argument : property != null ? property : variable;
            if (text != null) {
                given.put(key, text);
                values.put(
                        key,
                        parse(
                                key,
                                text,
                                (argument != null
                                                ? "agent argument " + key.name()
                                                : property != null
                                                        ? "-D" + PREFIX + key.name()
                                                        : "environment " + key.variable())
                                        + "=" + text));
            } else if (key.defaultValue() != null) {
                values.put(key, key.parse(key.defaultValue()));
            }
        }
        return new Settings(values, given);
    }

    private static Map<String, String> split(String arguments) throws ConfigurationException {
        Map<String, String> result = new HashMap<>();
        if (arguments != null && !arguments.isBlank()) {
            for (String one : arguments.split(",")) {
                String where = "agent argument " + one.strip();
                int equals = one.indexOf('=');
                if (equals < 0) {
                    throw new ConfigurationException(where, "not of the form key=value");
                }
                String key = one.substring(0, equals).strip();
                known(key, where, List.of());
                if (result.put(key, one.substring(equals + 1).strip()) != null) {
                    throw new ConfigurationException(where, key + " is given twice");
                }
            }
        }
        return result;
    }

    private static boolean isOfOthers(String key) {
        for (String beginning : BEGINNINGS) {
            if (key.startsWith(beginning)) {
                return true;
            }
        }
        return false;
    }

    /** Checks a switch strictly: where it is read, anything other than {@code true} counts as {@code false}. */
    private static void checkSwitch(String name, String value) throws ConfigurationException {
        if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
            throw new ConfigurationException("-D" + name + "=" + value, "not one of true, false");
        }
    }

    private static void known(String name, String where, List<String> others) throws ConfigurationException {
        List<String> known = new ArrayList<>();
        for (SettingKey<?> key : KEYS) {
            known.add(key.name());
        }
        known.addAll(others);
        if (!known.contains(name)) {
            throw new ConfigurationException(where, "unknown; known are " + String.join(", ", known));
        }
    }

    private static Object parse(SettingKey<?> key, String value, String where) throws ConfigurationException {
        try {
            return key.parse(value.strip());
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(where, e.getMessage());
        }
    }

    @SuppressWarnings("unchecked") // the value is what the key's parser returned
    private <T> T get(SettingKey<T> key) {
        return (T) values.get(key);
    }

    /** Returns whether the setting was given, rather than left at its default. */
    boolean isGiven(SettingKey<?> key) {
        return given.containsKey(key);
    }

    public Policy policy() {
        return get(POLICY);
    }

    /** Returns the rules file, or null. */
    public Path rules() {
        return get(RULES);
    }

    /** Returns for which peers RDMA is tried if no rule names them. */
    Scope scope() {
        return get(SCOPE);
    }

    /** Returns whether server sockets may listen over RDMA at all. */
    boolean listens() {
        return get(LISTEN) == Switch.ON;
    }

    /** Returns which devices may be used if no rule names any. */
    Devices devices() {
        return isGiven(DEVICES) ? get(DEVICES) : Devices.ROUTED;
    }

    /** Returns whether sockets are to be served although there is no RDMA yet. */
    public boolean expectsDevice() {
        return get(DEVICE_LATE) == Switch.ON;
    }

    public LogLevel log() {
        return get(LOG);
    }

    /**
     * Returns how long a host of which nothing is known may leave a request over RDMA unanswered before TCP is tried,
     * nanoseconds.
     */
    long connectNanos() {
        return connectNanos;
    }

    /**
     * Returns the longest time for which a host that does not answer over RDMA is left alone, nanoseconds; 0 means not
     * at all.
     */
    long unansweredNanos() {
        return get(MEMORY_UNANSWERED);
    }

    /** Returns how long an address and port that refused RDMA are left alone, nanoseconds; 0 means not at all. */
    long rejectedNanos() {
        return get(MEMORY_REJECTED);
    }

    /**
     * Returns the most memory that a stream may have in one direction if an application asks for a buffer size, bytes.
     * TCP has such a limit too, which the kernel sets.
     */
    int maxBuffer() {
        return maxBuffer;
    }

    /** Returns how many closed connections may still have something to deliver. */
    int maxClosing() {
        return get(CLOSE_MAX);
    }

    /** Returns how many bytes of memory the process may have registered for its RDMA connections. */
    public long registeredMemory() {
        return get(MEMORY_REGISTERED);
    }

    /** Returns the configuration of a stream if the application does not say otherwise. */
    public StreamConfig streamConfig() {
        return streamConfig;
    }

    /** Returns each key with its value, for the log. */
    @Override
    public String toString() {
        return KEYS.stream()
                .filter(values::containsKey)
                .map(k -> k.name() + "=" + given.getOrDefault(k, k.defaultValue()))
                .collect(Collectors.joining(", "));
    }
}
