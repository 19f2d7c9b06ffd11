/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.faults;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A JDBC client that writes random rows, reads them back, and deletes them, over and over. Fails unless every byte is
 * right.
 *
 * <p>{@code RowsLoad JDBC-URL SECONDS SEED}: for so long, and once at least. Prints {@code verified=}, the bytes of the
 * rows so far, both ways, each time they were read.
 */
final class RowsLoad {

    private static final int ROWS = 150;
    private static final int MOST = 4000;

    private final byte[][] bodies = new byte[ROWS][];
    private final SplittableRandom random;
    private long verified;

    private RowsLoad(long seed) {
        random = new SplittableRandom(seed);
    }

    public static void main(String[] args) throws SQLException {
        RowsLoad load = new RowsLoad(Long.parseLong(args[2]));
        try (Connection connection = DriverManager.getConnection(args[0])) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE load(id INTEGER PRIMARY KEY, body VARBINARY(" + MOST + ") NOT NULL)");
            }
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
            do {
                load.write(connection);
                load.read(connection);
                System.out.println("verified=" + load.verified);
            } while (System.nanoTime() - end < 0);
        }
    }

    private void write(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DELETE FROM load");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO load VALUES (?, ?)")) {
            for (int id = 0; id < ROWS; id++) {
                bodies[id] = new byte[random.nextInt(MOST + 1)];
                random.nextBytes(bodies[id]);
                insert.setInt(1, id);
                insert.setBytes(2, bodies[id]);
                insert.addBatch();
                verified += bodies[id].length;
            }
            insert.executeBatch();
        }
        connection.commit();
    }

    private void read(Connection connection) throws SQLException {
        int rows = 0;
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(20); // asked for one after the other
            try (ResultSet result = statement.executeQuery("SELECT id, body FROM load ORDER BY id")) {
                for (; result.next(); rows++) {
                    if (rows >= ROWS || result.getInt(1) != rows || !Arrays.equals(bodies[rows], result.getBytes(2))) {
                        throw new IllegalStateException("ALTERED: row " + rows + " is another");
                    }
                    verified += bodies[rows].length;
                }
            }
        }
        if (rows != ROWS) {
            throw new IllegalStateException("ALTERED: " + rows + " rows, not " + ROWS);
        }
    }
}
