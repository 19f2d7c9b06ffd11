/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator sees of the agent in a JVM that opens no socket, or few. */
@Tag("lab")
class AgentStartLabTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Test
    void shouldPrintAtMostOneLineOfItsOwn() throws Exception {
        JvmProcess.Result plain = version(false);
        JvmProcess.Result agent = version(true);
        assertEquals(plain.out(), agent.out());
        List<String> more = new ArrayList<>(agent.err());
        plain.err().forEach(more::remove);
        assertEquals(agent.err().size() - plain.err().size(), more.size(), agent::toString);
        assertTrue(more.isEmpty() || more.size() == 1 && more.get(0).startsWith("jrsocket: "), more::toString);
    }

    @Test
    void shouldSayWhyThereIsOnlyTcpUnlessThereIsRdma() throws Exception {
        long reasons = version(true).err().stream()
                .filter(line -> line.startsWith("jrsocket: TCP only: "))
                .count();
        assertEquals(Site.hasRdma() ? 0 : 1, reasons);
    }

    /** Whoever makes a logger before the agent has set up the log has it ignore the settings. */
    @Test
    void shouldLogAsItsSettingsSay() throws Exception {
        try (JvmProcess java = JvmProcess.running(OneConnection.class)
                .agent("=log=debug,device.late=on")
                .arguments("127.0.0.1", 1) // nobody listens there
                .start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            Pattern line = Pattern.compile("\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z [A-Z]+ org\\.jrsocket.*127\\.0\\.0\\.1.*");
            assertTrue(result.err().stream().anyMatch(each -> line.matcher(each).matches()), result::toString);
        }
    }

    /** The JDK's own properties aside, what an application sets is the application's. */
    @Test
    void shouldNotHeedTheProviderThatAnApplicationNamesForItsSlf4j() throws Exception {
        try (JvmProcess java = JvmProcess.withArguments("-version")
                .agent()
                .property("slf4j.provider", "com.example.Provider")
                .start()) {
            assertEquals(version(true).err(), java.await(LIMIT).expectSuccess().err());
        }
    }

    /** Each of them, with what it brings, took a good part of the time that a JVM with the agent needs to start. */
    @Test
    void shouldLoadNoneOfTheClassesThatTakeLong() throws Exception {
        try (JvmProcess java = JvmProcess.withArguments("-version")
                .agent()
                .option("-Xlog:class+load")
                .start()) {
            expectNone(
                    "java.lang.runtime.ObjectMethods|java.text.SimpleDateFormat|java.time.ZoneId|"
                            + "java.security.SecureRandom|java.util.concurrent.ThreadPoolExecutor|"
                            + "javax.management.MBeanServer|java.lang.management.ManagementFactory|"
                            + "org.jrsocket.shaded.slf4j.LoggerFactory",
                    java.await(LIMIT).expectSuccess());
        }
    }

    /**
     * The {@code equals} that a record is given cost the second or third connection of each JVM 25 ms, and with it all
     * that were made at that moment.
     */
    @Test
    void shouldLoadNoneOfTheClassesThatTakeLongForConnections() throws Exception {
        try (JvmProcess java = JvmProcess.running(SelfConnections.class)
                .agent()
                .option("-Xlog:class+load")
                .arguments(Site.address(), 3)
                .start()) {
            JvmProcess.Result result = java.await(LIMIT).expectSuccess();
            assertTrue(result.out().contains("done"), result::toString);
            assertEquals(
                    Site.hasRdma(),
                    result.out().stream().anyMatch(line -> line.contains("org.jrsocket.endpoint.BundlePool ")),
                    result::toString);
            expectNone("java.lang.runtime.ObjectMethods|java.text.SimpleDateFormat", result);
        }
    }

    private static void expectNone(String slow, JvmProcess.Result classLog) {
        Pattern line = Pattern.compile(".*\\b(" + slow.replace(".", "\\.") + ") .*");
        List<String> loaded = classLog.out();
        assertTrue(loaded.stream().anyMatch(each -> each.contains("org.jrsocket.agent.Agent")), loaded::toString);
        assertEquals(
                List.of(),
                loaded.stream().filter(each -> line.matcher(each).matches()).toList());
    }

    private static JvmProcess.Result version(boolean agent) throws Exception {
        try (JvmProcess java =
                JvmProcess.withArguments("-version").agentIf(agent).start()) {
            return java.await(LIMIT).expectSuccess();
        }
    }
}
