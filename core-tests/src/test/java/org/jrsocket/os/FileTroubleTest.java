/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FileTroubleTest {

    @Test
    void shouldSayWhyAndNotOnlyWhich() {
        assertEquals("no such file", FileTrouble.reason(new NoSuchFileException("/f")));
        assertEquals("Permission denied", FileTrouble.reason(new AccessDeniedException("/f")));
        assertEquals("not UTF-8 text", FileTrouble.reason(new MalformedInputException(1)));
        assertEquals(
                "Too many open files", FileTrouble.reason(new FileSystemException("/f", null, "Too many open files")));
        assertEquals("Is a directory", FileTrouble.reason(new IOException("Is a directory")));
    }
}
