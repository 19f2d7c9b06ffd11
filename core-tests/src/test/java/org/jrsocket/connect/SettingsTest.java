/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.jrsocket.stream.StreamConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

    private static Settings read(String arguments, Map<String, String> properties, Map<String, String> environment)
            throws ConfigurationException {
        Properties system = new Properties();
        properties.forEach((key, value) -> system.setProperty("org.jrsocket." + key, value));
        return Settings.read(arguments, system, environment);
    }

    private static String error(String arguments, Map<String, String> properties, Map<String, String> environment) {
        return assertThrows(ConfigurationException.class, () -> read(arguments, properties, environment))
                .getMessage();
    }

    @Test
    void shouldHaveDefaultsForEverything() {
        Settings settings = Settings.defaults();
        assertEquals(Policy.AUTO, settings.policy());
        assertNull(settings.rules());
        assertEquals(LogLevel.WARN, settings.log());
        assertEquals(100_000_000L, settings.connectNanos());
        assertEquals(50_000_000_000L, settings.unansweredNanos());
        assertEquals(10_000_000_000L, settings.rejectedNanos());
        assertEquals(16 << 20, settings.maxBuffer());
        assertEquals(StreamConfig.DEFAULT, settings.streamConfig());
    }

    @Test
    void shouldPreferArgumentsToPropertiesAndThoseToTheEnvironment() throws ConfigurationException {
        Map<String, String> environment =
                Map.of("JRSOCKET_POLICY", "rdma", "JRSOCKET_CONNECT_TIMEOUT", "3s", "JRSOCKET_SPIN", "0");
        Map<String, String> properties = Map.of("policy", "tcp", "connect.timeout", "4s");
        Settings settings = read("policy=auto, queue.send=64", properties, environment);
        assertEquals(Policy.AUTO, settings.policy());
        assertEquals(4_000_000_000L, settings.connectNanos());
        assertEquals(0, settings.streamConfig().spinNanos());
        assertEquals(64, settings.streamConfig().sendQueue());
    }

    @Test
    void shouldNotMindBlanksAroundAValue() throws ConfigurationException {
        Settings settings = read(null, Map.of("connect.timeout", "4s "), Map.of("JRSOCKET_QUEUE_SEND", " 64"));
        assertEquals(4_000_000_000L, settings.connectNanos());
        assertEquals(64, settings.streamConfig().sendQueue());
    }

    @ParameterizedTest
    @CsvSource({"0,0", "100us,100000", "1ms,1000000", "7s,7000000000", "2m,120000000000", "1H,3600000000000"})
    void shouldReadTimesWithTheirUnits(String text, long nanos) throws ConfigurationException {
        assertEquals(nanos, read("memory.rejected=" + text, Map.of(), Map.of()).rejectedNanos());
    }

    @ParameterizedTest
    @CsvSource({"4096,4096", "64k,65536", "1M,1048576"})
    void shouldReadSizesInBytesOrWithAUnit(String text, int bytes) throws ConfigurationException {
        assertEquals(
                bytes,
                read("buffer.send=" + text, Map.of(), Map.of()).streamConfig().sendBuffer());
    }

    @Test
    void shouldGiveStreamsTheAckTimeout() throws ConfigurationException {
        assertEquals(
                34_000_000,
                read("ack.timeout=34ms", Map.of(), Map.of()).streamConfig().ackTimeoutNanos());
        assertEquals(
                StreamConfig.DEFAULT.ackTimeoutNanos(),
                Settings.defaults().streamConfig().ackTimeoutNanos());
    }

    @Test
    void shouldTakeASizeOfManyGigabytesInBytes() throws Exception {
        Settings settings = Settings.read("memory.registered=4294967296", new Properties(), Map.of());
        assertEquals(4294967296L, settings.registeredMemory());
    }

    @ParameterizedTest
    @CsvSource({
        "policy,fast,'not one of auto, rdma, tcp'",
        "connect.timeout,5,'not a number with a unit: us, ms, s, m or h'",
        "connect.timeout,0,not within 1ms to 1h",
        "connect.timeout,5124096h,not within 1ms to 1h",
        "connect.timeout,-1s,'not a whole number with a unit: us, ms, s, m or h'",
        "buffer.send,1k,not within 4k to 256m",
        "buffer.send,9999999999,not within 4k to 256m",
        "buffer.send,9999999999k,'not a whole number, optionally with k, m or g'",
        "memory.registered,2048g,not within 1m to 1024g",
        "memory.registered,999999999999999999,not within 1m to 1024g",
        "ack.timeout,0,not within 1ms to 2s",
        "queue.send,many,not a whole number",
        "traffic.class,256,not within 0 to 255",
        "queue.receive,65535,not within 16 to 65534",
        "rules,'',is empty",
        "log,loud,'not one of error, warn, info, debug, trace'"
    })
    void shouldSayWhereAndWhatIsWrong(String key, String value, String reason) {
        assertEquals("-Dorg.jrsocket." + key + "=" + value + ": " + reason, error(null, Map.of(key, value), Map.of()));
        assertEquals(
                "agent argument " + key + "=" + value + ": " + reason, error(key + "=" + value, Map.of(), Map.of()));
        String variable = "JRSOCKET_" + key.toUpperCase(Locale.ROOT).replace('.', '_');
        assertEquals(
                "environment " + variable + "=" + value + ": " + reason,
                error(null, Map.of(), Map.of(variable, value)));
    }

    /** Nobody could say which of the two was meant. */
    @Test
    void shouldRejectAnArgumentThatIsGivenTwice() {
        assertEquals(
                "agent argument policy=rdma: policy is given twice",
                error("policy=tcp,policy=rdma", Map.of(), Map.of()));
        assertEquals(
                "agent argument policy=tcp: policy is given twice",
                error("policy=tcp, policy=tcp", Map.of(), Map.of()));
    }

    @Test
    void shouldRejectASwitchOfAnotherPartThatIsNeitherOnNorOff() throws ConfigurationException {
        read(null, Map.of("native.iwarp", "true"), Map.of());
        read(null, Map.of("native.iwarp", "False"), Map.of());
        assertEquals(
                "-Dorg.jrsocket.native.iwarp=maybe: not one of true, false",
                error(null, Map.of("native.iwarp", "maybe"), Map.of()));
        assertEquals(
                "-Dorg.jrsocket.native.iwarp=: not one of true, false",
                error(null, Map.of("native.iwarp", ""), Map.of()));
    }

    @Test
    void shouldRejectUnknownKeysButNotThoseOfOtherParts() throws ConfigurationException {
        assertTrue(error("polcy=tcp", Map.of(), Map.of())
                .startsWith("agent argument polcy=tcp: unknown; known are policy, rules"));
        assertTrue(error(null, Map.of("polcy", "tcp"), Map.of()).startsWith("-Dorg.jrsocket.polcy: unknown"));
        assertEquals("agent argument tcp: not of the form key=value", error("tcp", Map.of(), Map.of()));
        assertTrue(error(null, Map.of("native.libary", "/opt/natives"), Map.of())
                .matches("-Dorg\\.jrsocket\\.native\\.libary: unknown; known are .*, native\\.library.*"));
        assertTrue(error("native.library=/opt/natives", Map.of(), Map.of())
                .startsWith("agent argument native.library=/opt/natives: unknown; known are policy"));
        read(
                null,
                Map.of("shaded.slf4j.simpleLogger.x", "1", "native.library", "/opt/natives", "native.dir", "/tmp"),
                Map.of("JRSOCKET_SERVICE_HOST", "10.0.0.1"));
    }

    @Test
    void shouldBeDocumentedKeyByKey() throws Exception {
        Path page = Path.of("docs/configuration.md");
        String text = Files.readString(Files.exists(page) ? page : Path.of("..").resolve(page));
        for (SettingKey<?> key : Settings.KEYS) {
            String written = key.defaultValue() == null ? "none" : "`" + key.defaultValue() + "`";
            assertTrue(
                    text.contains("- `" + key.name() + "` (" + key.range() + "; default " + written + "): "),
                    key + " has no entry in docs/configuration.md as it should be");
        }
    }
}
