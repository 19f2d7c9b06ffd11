/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sources as those tests read them that look for names. What is left of a text keeps its place and its line. */
final class SourceText {

    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\\n])++'",
            Pattern.DOTALL);

    private static final Pattern VISIBLE = Pattern.compile("[^\\n]");

    private SourceText() {}

    /** Returns the text with blanks in place of comments. */
    static String withoutComments(Path file) throws IOException {
        return COMMENT_OR_LITERAL
                .matcher(Files.readString(file))
                .replaceAll(each -> each.group().startsWith("/") ? blanks(each) : quoted(each));
    }

    /** Returns the text with blanks in place of comments, strings and characters. */
    static String withoutCommentsAndLiterals(Path file) throws IOException {
        return COMMENT_OR_LITERAL.matcher(Files.readString(file)).replaceAll(SourceText::blanks);
    }

    private static String blanks(MatchResult match) {
        return VISIBLE.matcher(match.group()).replaceAll(" ");
    }

    private static String quoted(MatchResult match) {
        return Matcher.quoteReplacement(match.group());
    }
}
