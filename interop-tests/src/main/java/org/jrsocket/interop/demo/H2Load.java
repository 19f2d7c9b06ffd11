/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.demo;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;

/**
 * A JDBC client like any other: fills a table, lets the database add up a checksum of what it stored, reads every row
 * back.
 *
 * <p>{@code H2Load JDBC-URL ROWS}. Prints one {@code name=value} a line; ends with 1 if the three checksums (sent,
 * stored, read) differ.
 */
public final class H2Load {

    private static final int BODY = 300;
    private static final int BATCH = 1000;

    /** The checksum of the rows, as the database computes it; {@link #checksum} is the same in Java. */
    private static final String STORED = "SELECT COUNT(*), SUM(OCTET_LENGTH(body)), "
            + "SUM((MOD(id, 1009) + 1) * CAST(CAST(SUBSTRING(HASH('MD5', body) FROM 1 FOR 4) AS INTEGER) AS BIGINT)) "
            + "FROM load";

    private final MessageDigest md5;

    private H2Load() throws NoSuchAlgorithmException {
        md5 = MessageDigest.getInstance("MD5");
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: H2Load JDBC-URL ROWS");
            System.exit(2);
        }
        int rows = Integer.parseInt(args[1]);
        try (Connection connection = DriverManager.getConnection(args[0])) {
            System.exit(new H2Load().run(connection, rows) ? 0 : 1);
        } catch (SQLException e) {
            System.err.println("H2Load: " + e.getMessage());
            System.exit(1);
        }
    }

    private boolean run(Connection connection, int rows) throws SQLException {
        long start = System.nanoTime();
        long sent = load(connection, rows);
        long loaded = System.nanoTime();
        Sum stored = stored(connection);
        long added = System.nanoTime();
        Sum read = read(connection);
        long done = System.nanoTime();

        print("rows", read.rows);
        print("bytes_loaded", (long) rows * BODY);
        print("bytes_read", read.bytes);
        print("load_ms", (loaded - start) / 1_000_000);
        print("sum_ms", (added - loaded) / 1_000_000);
        print("read_ms", (done - added) / 1_000_000);
        print("checksum_sent", Long.toHexString(sent));
        print("checksum_stored", Long.toHexString(stored.checksum));
        print("checksum_read", Long.toHexString(read.checksum));
        Sum expected = new Sum(rows, (long) rows * BODY, sent);
        if (expected.equals(stored) && expected.equals(read)) {
            return true;
        }
        System.err.println("H2Load: sent " + expected + ", stored " + stored + ", read " + read);
        return false;
    }

    private long load(Connection connection, int rows) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE load(id INTEGER PRIMARY KEY, body VARBINARY(" + BODY + ") NOT NULL)");
        }
        connection.setAutoCommit(false);
        SplittableRandom random = new SplittableRandom(rows);
        long checksum = 0;
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO load VALUES (?, ?)")) {
            for (int id = 0; id < rows; id++) {
                byte[] body = new byte[BODY];
                random.nextBytes(body);
                checksum += checksum(id, body);
                insert.setInt(1, id);
                insert.setBytes(2, body);
                insert.addBatch();
                if (id % BATCH == BATCH - 1 || id == rows - 1) {
                    insert.executeBatch();
                }
            }
        }
        connection.commit();
        return checksum;
    }

    private Sum stored(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(STORED)) {
            result.next();
            return new Sum(result.getLong(1), result.getLong(2), result.getLong(3));
        }
    }

    private Sum read(Connection connection) throws SQLException {
        long rows = 0;
        long bytes = 0;
        long checksum = 0;
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(BATCH);
            try (ResultSet result = statement.executeQuery("SELECT id, body FROM load")) {
                while (result.next()) {
                    byte[] body = result.getBytes(2);
                    rows++;
                    bytes += body.length;
                    checksum += checksum(result.getInt(1), body);
                }
            }
        }
        return new Sum(rows, bytes, checksum);
    }

    private long checksum(int id, byte[] body) {
        return (id % 1009 + 1L) * ByteBuffer.wrap(md5.digest(body)).getInt();
    }

    private static void print(String name, Object value) {
        System.out.println(name + '=' + value);
    }

    private record Sum(long rows, long bytes, long checksum) {}
}
