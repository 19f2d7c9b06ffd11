/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.netty;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;

/** Of a server at one address, and for clients that trust it. */
record Certificate(X509Bundle bundle) {

    static Certificate of(String address) throws Exception {
        return new Certificate(new CertificateBuilder()
                .ecp256()
                .subject("CN=" + address)
                .addSanIpAddress(address)
                .setIsCertificateAuthority(true)
                .buildSelfSigned());
    }

    SslContextBuilder server() {
        return SslContextBuilder.forServer(bundle.getKeyPair().getPrivate(), bundle.getCertificatePath());
    }

    SslContextBuilder client() {
        return SslContextBuilder.forClient().trustManager(bundle.getRootCertificate());
    }
}
