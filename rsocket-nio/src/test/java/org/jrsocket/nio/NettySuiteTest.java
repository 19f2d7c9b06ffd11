/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.testsuite.transport.socket.AbstractClientSocketTest;
import io.netty.testsuite.transport.socket.AbstractServerSocketTest;
import io.netty.testsuite.transport.socket.AbstractSocketShutdownOutputByPeerTest;
import io.netty.testsuite.transport.socket.AbstractSocketTest;
import io.netty.testsuite.transport.socket.ServerSocketSuspendTest;
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.TrafficShapingHandlerTest;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Netty's suite is run whole: a class that a new version of it brings is not forgotten. */
class NettySuiteTest {

    private static final String PACKAGE = "io/netty/testsuite/transport/socket/";

    /** For the reasons that docs/compatibility.md gives, and the base of a class that is run. */
    private static final Set<Class<?>> LEFT_OUT = Set.of(
            SocketSslClientRenegotiateTest.class,
            ServerSocketSuspendTest.class,
            TrafficShapingHandlerTest.class,
            AbstractSocketShutdownOutputByPeerTest.class);

    @Test
    void shouldRunEveryClassOfNettysSuiteThatTakesATransport() throws Exception {
        Set<String> run = Stream.of(NettyBehaviours.class.getDeclaredClasses())
                .filter(each -> !each.isInterface())
                .map(Class::getSuperclass)
                .map(Class::getName)
                .filter(name -> name.startsWith("io.netty"))
                .collect(Collectors.toCollection(TreeSet::new));
        LEFT_OUT.forEach(left -> run.add(left.getName()));
        assertEquals(run, ofTheSuite());
    }

    private static Set<String> ofTheSuite() throws Exception {
        Set<String> names = new TreeSet<>();
        try (JarFile jar = new JarFile(Path.of(AbstractSocketTest.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toFile())) {
            for (String entry : jar.stream().map(Object::toString).toList()) {
                if (entry.startsWith(PACKAGE)
                        && entry.endsWith("Test.class")
                        && !entry.contains("$")
                        && !entry.contains("Datagram")) {
                    Class<?> type = Class.forName(entry.replace(".class", "").replace('/', '.'));
                    if (takesATransport(type) && Stream.of(type.getMethods()).anyMatch(NettySuiteTest::isTest)) {
                        names.add(type.getName());
                    }
                }
            }
        }
        return names;
    }

    private static boolean takesATransport(Class<?> type) {
        return AbstractSocketTest.class.isAssignableFrom(type)
                || AbstractClientSocketTest.class.isAssignableFrom(type)
                || AbstractServerSocketTest.class.isAssignableFrom(type);
    }

    private static boolean isTest(Method method) {
        return method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(ParameterizedTest.class);
    }
}
