/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrsocket.connect.LogLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said of native transports in use. That it is asked at all is {@link AttachTest}'s. */
class NettyBypassTest {

    private static final String PROPERTY = "com.example.io.netty.transport.noNative";

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final NettyBypass bypass = new NettyBypass(LogLevel.WARN) {
        @Override
        void tell(String line) {
            lines.add(line);
        }
    };

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @ParameterizedTest
    @CsvSource({
        "com/example/io/netty/channel/epoll/EpollEventLoop, epoll",
        "com/example/io/netty/channel/epoll/EpollIoHandler, epoll",
        "com/example/io/netty/channel/uring/IOUringEventLoop, io_uring",
        "com/example/io/netty/channel/uring/IoUringIoHandler, io_uring"
    })
    void shouldTellWhoBypassesTheJdkAndWhatToDo(String name, String transport) throws Exception {
        load(name);
        assertEquals(
                "com.example.io.netty uses " + transport + ", which bypasses the JDK, so its connections are TCP; -D"
                        + PROPERTY + "=true has it use NIO, unless the program insists on " + transport,
                lines.poll(60, TimeUnit.SECONDS));
        assertTrue(InstalledSockets.describe().contains("com.example.io.netty: TCP by " + transport));
    }

    @Test
    void shouldTellOfEachCopyOnce() throws Exception {
        load("com/example/io/netty/channel/epoll/EpollEventLoop");
        load("com/example/io/netty/channel/epoll/EpollEventLoop"); // by another class loader
        load("com/example/io/netty/channel/uring/IOUringEventLoop");
        load("com/example/other/netty/channel/epoll/EpollEventLoop");
        String first = lines.poll(60, TimeUnit.SECONDS);
        String second = lines.poll(60, TimeUnit.SECONDS);
        assertTrue((first + second).contains("com.example.io.netty uses epoll"), first + second);
        assertTrue((first + second).contains("com.example.other.netty uses epoll"), first + second);
        assertNull(lines.poll(100, TimeUnit.MILLISECONDS));
    }

    @Test
    void shouldNameThePropertyThatTheIncubatorReads() throws Exception {
        load("com/example/io/netty/incubator/channel/uring/IOUringEventLoop");
        String line = lines.poll(60, TimeUnit.SECONDS);
        assertTrue(line.contains("com.example.io.netty.incubator uses io_uring"), line);
        assertTrue(line.contains(" -D" + PROPERTY + "=true "), line);
    }

    /** Its servers do not start with the property. */
    @Test
    void shouldNameHBasesOwnSetting() throws Exception {
        load("org/apache/hbase/thirdparty/io/netty/channel/epoll/EpollEventLoop");
        assertEquals(
                "org.apache.hbase.thirdparty.io.netty uses epoll, which bypasses the JDK, so its connections are TCP; "
                        + "HBase's own setting hbase.netty.nativetransport=false has it use NIO",
                lines.poll(60, TimeUnit.SECONDS));
    }

    @Test
    void shouldNameTheCopyInWhoeversPackages() throws Exception {
        load("com/example/channel/libs/io/netty/channel/epoll/EpollEventLoop");
        String line = lines.poll(60, TimeUnit.SECONDS);
        assertTrue(line.startsWith("com.example.channel.libs.io.netty uses epoll"), line);
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void shouldLeaveTheChoiceToTheUser(String value) throws Exception {
        System.setProperty(PROPERTY, value);
        load("com/example/io/netty/incubator/channel/uring/IOUringEventLoop");
        load("com/example/io/netty/channel/epoll/EpollIoHandler"); // as one does that then hears that it may not
        assertNull(lines.poll(100, TimeUnit.MILLISECONDS));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-",
                "io/netty/channel/epoll/Epoll",
                "com/example/io/netty/channel/nio/NioEventLoop",
                "com/example/io/netty/channel/epoll/EpollEventLoopGroup",
                "EpollEventLoop"
            })
    void shouldSayNothingOfOtherClasses(String name) throws Exception {
        load(name);
        assertNull(lines.poll(100, TimeUnit.MILLISECONDS));
    }

    /** As the JVM does, which goes on with the class as it is. */
    private void load(String name) throws Exception {
        assertNull(bypass.transform(getClass().getModule(), null, name, null, null, new byte[0]));
    }
}
