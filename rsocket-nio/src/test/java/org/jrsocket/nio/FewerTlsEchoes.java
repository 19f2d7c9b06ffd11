/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.nio;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Of the 192 combinations of {@code SocketSslEchoTest}, which take longer than all the rest of the suite, leaves a
 * quarter: with each pair of TLS engines and each kind of renegotiation, 8 of the 32 settings of its five flags, so
 * that any two of the flags still have all four settings together. {@code -Djrsocket.tls.echoes=all} runs them all.
 */
public final class FewerTlsEchoes implements ExecutionCondition {

    /** The first parameters in the display name of one combination; the last five are the bits of its number. */
    private static final Pattern COMBINATION = Pattern.compile("(?s)(\\d+): serverEngine = .*");

    private static final boolean ALL = "all".equals(System.getProperty("jrsocket.tls.echoes"));

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Matcher combination = COMBINATION.matcher(context.getDisplayName());
        if (ALL || !combination.matches()) {
            return ConditionEvaluationResult.enabled(null);
        }
        int number = Integer.parseInt(combination.group(1)) - 1;
        return isKept(number) && (isOfHalf(number) || !context.getTags().contains("tcp"))
                ? ConditionEvaluationResult.enabled(null)
                : ConditionEvaluationResult.disabled("other combinations stand for it");
    }

    /** Three flags have all settings; the other two follow from them, each from two. */
    static boolean isKept(int number) {
        boolean delegated = (number & 16) != 0; // the server's tasks
        boolean clientDelegated = (number & 8) != 0;
        boolean autoRead = (number & 4) != 0;
        boolean chunked = (number & 2) != 0;
        boolean composite = (number & 1) != 0;
        return chunked == (delegated ^ clientDelegated) && composite == (delegated ^ autoRead);
    }

    static boolean isOfHalf(int number) {
        boolean autoRead = (number & 4) != 0;
        boolean chunked = (number & 2) != 0;
        return autoRead == chunked;
    }
}
