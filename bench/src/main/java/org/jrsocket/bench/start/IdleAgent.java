/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.bench.start;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** An agent that does nothing: what a JVM with any agent pays, in a jar that is on the boot class path as ours is. */
public final class IdleAgent {

    private static final String JAR = "idle-agent.jar";

    private IdleAgent() {}

    /** Called by the JVM before {@code main}. */
    public static void premain(String arguments) {}

    static Path jarIn(Path folder) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", IdleAgent.class.getName());
        manifest.getMainAttributes().putValue("Boot-Class-Path", JAR);
        String name = IdleAgent.class.getName().replace('.', '/') + ".class";
        Path jar = folder.resolve(JAR);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest);
                InputStream code = IdleAgent.class.getResourceAsStream("/" + name)) {
            out.putNextEntry(new JarEntry(name));
            code.transferTo(out);
        }
        return jar;
    }
}
