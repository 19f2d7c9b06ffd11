/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop.programs;

import jakarta.mail.BodyPart;
import jakarta.mail.Message;
import jakarta.mail.MessagingException;
import jakarta.mail.Multipart;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeBodyPart;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import jakarta.mail.util.ByteArrayDataSource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import org.subethamail.smtp.RejectException;
import org.subethamail.smtp.server.SMTPServer;

/**
 * SubEthaSMTP as server, Jakarta Mail as client. Each message names the hash of its attachment in its subject; the
 * server refuses one that differs. Every second one is sent with STARTTLS: TLS over a socket that is connected already.
 * Both JVMs have the same default key and trust store.
 */
final class Mail {

    private static final int MESSAGES = 2;
    private static final int ATTACHMENT = 128 * 1024;

    private Mail() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            SMTPServer server = SMTPServer.port(0)
                    .bindAddress(InetAddress.getByName(args[1]))
                    .hostName("server.test")
                    .enableTLS()
                    .startTlsSocketFactory(SSLContext.getDefault())
                    .messageHandler((context, from, to, data) -> check(data))
                    .build();
            server.start();
            System.out.println("port=" + server.getPortAllocated());
        } else {
            for (int i = 0; i < MESSAGES; i++) {
                send(args[1], args[2], i, i % 2 == 1);
            }
            System.out.println("bytes=" + MESSAGES * ATTACHMENT);
        }
    }

    private static void check(byte[] data) throws RejectException {
        String expected;
        String actual;
        try {
            MimeMessage message =
                    new MimeMessage(Session.getInstance(new Properties()), new ByteArrayInputStream(data));
            expected = message.getSubject();
            BodyPart attachment = ((Multipart) message.getContent()).getBodyPart(0);
            actual = Payload.hash(attachment.getInputStream(), Long.MAX_VALUE);
        } catch (MessagingException | IOException e) {
            throw new RejectException(554, e.toString());
        }
        if (!actual.equals(expected)) {
            throw new RejectException(554, actual);
        }
    }

    private static void send(String host, String port, int number, boolean tls) throws MessagingException {
        Properties properties = new Properties();
        properties.put("mail.smtp.host", host);
        properties.put("mail.smtp.port", port);
        properties.put("mail.smtp.localhost", "client.test");
        properties.put("mail.smtp.starttls.enable", Boolean.toString(tls));
        properties.put("mail.smtp.starttls.required", Boolean.toString(tls));
        byte[] bytes = Payload.bytes(number, ATTACHMENT);
        MimeBodyPart attachment = new MimeBodyPart();
        attachment.setDataHandler(
                new jakarta.activation.DataHandler(new ByteArrayDataSource(bytes, "application/octet-stream")));
        attachment.setFileName("attachment");
        MimeMessage message = new MimeMessage(Session.getInstance(properties));
        message.setFrom(new InternetAddress("sender@client.test"));
        message.setRecipient(Message.RecipientType.TO, new InternetAddress("receiver@server.test"));
        message.setSubject(Payload.hash(bytes));
        message.setContent(new MimeMultipart(attachment));
        Transport.send(message);
    }
}
