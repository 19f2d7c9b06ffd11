/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import org.jrsocket.connect.TransportContext;
import org.jrsocket.connect.TransportHolder;

/** For tests of other packages: gives providers a transport as if they had made it themselves. */
public final class OwnTransport {

    private OwnTransport() {}

    public static void share(TransportContext context, TransportHolder holder) {
        RSelectorProvider.shareAsOwn(context, holder);
    }
}
