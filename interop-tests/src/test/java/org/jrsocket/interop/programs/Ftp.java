/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.net.ftp.FTP;
import org.apache.commons.net.ftp.FTPClient;
import org.apache.ftpserver.FtpServerFactory;
import org.apache.ftpserver.listener.ListenerFactory;
import org.apache.ftpserver.usermanager.impl.BaseUser;
import org.apache.ftpserver.usermanager.impl.WritePermission;

/**
 * Apache FtpServer, and Apache Commons Net as client. The files go over {@code java.net} connections of their own,
 * which the client opens (passive) or the server (active), and which end with the file; the server's commands come over
 * NIO. The system property {@code folder} is where the files lie.
 */
final class Ftp {

    private static final int FILES = 4;
    private static final int FILE = 256 * 1024;

    private Ftp() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            serve(args[1], Path.of(System.getProperty("folder")));
        } else {
            System.out.println("bytes="
                    + (use(args[1], Integer.parseInt(args[2]), true) + use(args[1], Integer.parseInt(args[2]), false)));
        }
    }

    private static void serve(String address, Path folder) throws Exception {
        ListenerFactory listener = new ListenerFactory();
        listener.setServerAddress(address);
        listener.setPort(freePort());
        BaseUser user = new BaseUser();
        user.setName("user");
        user.setPassword("password");
        user.setHomeDirectory(Files.createDirectories(folder).toString());
        user.setAuthorities(List.of(new WritePermission()));
        FtpServerFactory server = new FtpServerFactory();
        server.addListener("default", listener.createListener());
        server.getUserManager().save(user);
        server.createServer().start();
        System.out.println("port=" + listener.getPort());
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    private static long use(String address, int port, boolean passive) throws IOException {
        FTPClient client = new FTPClient();
        client.connect(address, port);
        Payload.same(true, client.login("user", "password"), "logged in");
        client.setFileType(FTP.BINARY_FILE_TYPE);
        if (passive) {
            client.enterLocalPassiveMode();
        } else {
            client.enterLocalActiveMode();
        }
        for (int i = 0; i < FILES; i++) {
            Payload.same(
                    true, client.storeFile("file" + i, new ByteArrayInputStream(Payload.bytes(i, FILE))), "stored");
        }
        Payload.same(FILES, client.listFiles().length, "files listed");
        for (int i = 0; i < FILES; i++) {
            ByteArrayOutputStream file = new ByteArrayOutputStream();
            Payload.same(true, client.retrieveFile("file" + i, file), "retrieved");
            Payload.same(Payload.hash(Payload.bytes(i, FILE)), Payload.hash(file.toByteArray()), "file " + i);
            Payload.same(true, client.deleteFile("file" + i), "deleted");
        }
        client.logout();
        client.disconnect();
        return 2L * FILES * FILE;
    }
}
