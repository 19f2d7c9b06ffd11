/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/**
 * PostgreSQL's JDBC driver at work: batches, a cursor, COPY both ways, and a cancelled statement, for which the driver
 * opens another connection.
 */
final class PostgresLoad {

    private static final int ROWS = 500;
    private static final int BODY = 512;
    private static final int COPIED = 1 << 18;

    private PostgresLoad() {}

    /** @param args a JDBC URL */
    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(args[0])) {
            System.out.println("bytes=" + (rows(connection) + copy(connection)));
            cancel(connection);
        }
    }

    private static long rows(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        StringBuilder sent = new StringBuilder();
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE load(id INTEGER PRIMARY KEY, body BYTEA NOT NULL)");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO load VALUES (?, ?)")) {
            for (int id = 0; id < ROWS; id++) {
                byte[] body = Payload.bytes(id, BODY);
                sent.append(serverHash(body));
                insert.setInt(1, id);
                insert.setBytes(2, body);
                insert.addBatch();
                if (id % 100 == 99) {
                    insert.executeBatch();
                }
            }
        }
        connection.commit();
        StringBuilder read = new StringBuilder();
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(100); // by a cursor
            try (ResultSet result = statement.executeQuery("SELECT body FROM load ORDER BY id")) {
                while (result.next()) {
                    read.append(serverHash(result.getBytes(1)));
                }
            }
            try (ResultSet stored = statement.executeQuery(
                    "SELECT STRING_AGG(ENCODE(SHA256(body), 'hex'), '' ORDER BY id) FROM load")) {
                stored.next();
                Payload.same(sent.toString(), stored.getString(1), "rows as they are stored");
            }
        }
        Payload.same(sent.toString(), read.toString(), "rows as they are read");
        connection.setAutoCommit(true);
        return 2L * ROWS * BODY;
    }

    /** As the server's SQL has it too. */
    private static String serverHash(byte[] body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long copy(Connection connection) throws SQLException, IOException {
        byte[] csv = new byte[COPIED];
        for (int i = 0; i < COPIED; i++) {
            csv[i] = (byte) (i % 64 == 63 ? '\n' : 'a' + i % 26);
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE lines(line TEXT)");
        }
        CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
        Payload.same(
                (long) COPIED / 64,
                copy.copyIn("COPY lines FROM STDIN", new ByteArrayInputStream(csv)),
                "lines copied in");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        copy.copyOut("COPY lines TO STDOUT", out);
        Payload.same(Payload.hash(csv), Payload.hash(out.toByteArray()), "lines copied out");
        return 2L * COPIED;
    }

    private static void cancel(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            try {
                statement.execute("SELECT PG_SLEEP(600)");
                throw new IllegalStateException("not cancelled");
            } catch (SQLException e) {
                Payload.same("57014", e.getSQLState(), "state"); // query_canceled
            }
        }
    }
}
