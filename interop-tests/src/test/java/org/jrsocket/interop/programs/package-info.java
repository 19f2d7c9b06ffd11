/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Other people's programs over {@code java.net}, unmodified, in JVMs with the agent: an RMI service, HTTP and HTTPS,
 * SMTP, FTP, PostgreSQL's JDBC driver.
 *
 * <p>Each has a server JVM and a client JVM with a real work load. The client compares check sums; the test asks the
 * device what it carried: {@link org.jrsocket.interop.programs.Conversation}. They run on a machine without RDMA too,
 * over TCP. H2 is in {@code scripts/demo}.
 */
package org.jrsocket.interop.programs;
