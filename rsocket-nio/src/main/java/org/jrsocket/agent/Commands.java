/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.agent;

import java.io.PrintStream;
import org.jrsocket.connect.ConfigurationException;
import org.jrsocket.connect.LogLevel;
import org.jrsocket.connect.Settings;
import picocli.CommandLine.IVersionProvider;

/** What the commands have in common. */
final class Commands {

    private Commands() {}

    /** Where a command writes. */
    interface Terminal {

        PrintStream out();

        PrintStream err();
    }

    /** Reads the settings from the system properties and the environment, and sets up the log. */
    static Settings settings() throws ConfigurationException {
        Settings settings = Settings.read(null, System.getProperties(), System.getenv());
        // The command's answer already says what a warning would.
        StderrLogger.level(settings.log() == LogLevel.WARN ? LogLevel.ERROR : settings.log());
        return settings;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"jrsocket " + Build.VERSION};
        }
    }
}
