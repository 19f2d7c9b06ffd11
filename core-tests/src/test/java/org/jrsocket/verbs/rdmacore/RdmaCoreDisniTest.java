/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import org.jrsocket.verbs.disni.DisniProgram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/** On a real device. */
@Tag("device")
@Tag("lab")
public class RdmaCoreDisniTest extends DisniProgram {

    @BeforeEach
    void open() throws IOException {
        RdmaCoreLink.provider();
        use(RdmaCoreLink.address4(), 2);
    }
}
