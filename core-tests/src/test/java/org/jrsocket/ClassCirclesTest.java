/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jrsocket.stream.RdmaStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClassCirclesTest {

    @TempDir
    private Path folder;

    private static Stream<String> packagesOfTheCore() throws IOException {
        return ClassCircles.packages(sources("rsocket-core")).stream();
    }

    @ParameterizedTest
    @MethodSource("packagesOfTheCore")
    void shouldHaveNoneInTheCore(String packageName) throws Exception {
        Path compiled = Path.of(RdmaStream.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        assertNone(ClassCircles.among(sources("rsocket-core"), compiled, packageName));
    }

    /** These modules are compiled after the tests of the core, so that only what their sources name is looked at. */
    @ParameterizedTest
    @ValueSource(strings = {"rsocket-nio", "rsocket-netty"})
    void shouldHaveNoneAbove(String module) throws Exception {
        for (String packageName : ClassCircles.packages(sources(module))) {
            assertNone(ClassCircles.among(sources(module), null, packageName));
        }
    }

    @Test
    void shouldKnowThePackagesOfAModule() throws IOException {
        assertEquals(List.of("netty"), ClassCircles.packages(sources("rsocket-netty")));
        assertTrue(ClassCircles.packages(sources("rsocket-core")).containsAll(List.of("stream", "verbs.rdmacore")));
    }

    private static Path sources(String module) {
        return Path.of("..", module, "src/main/java");
    }

    private static void assertNone(List<String> circles) {
        assertEquals(List.of(), circles, () -> "circles:\n" + String.join("\n", circles));
    }

    @Test
    void shouldTellWhoUsesWhomAndWhere() throws IOException {
        write("A", "class A {\n    B b;\n    D d;\n}");
        write("B", "class B {\n\n    Object c = new C();\n}");
        write("C", "final class C extends A {}");
        write("D", "class D {}");
        assertEquals(List.of("""
                A -> B -> C -> A
                    A.java:2 uses B
                    B.java:3 uses C
                    C.java:1 uses A"""), ClassCircles.among(folder, null, "some"));
    }

    @Test
    void shouldTellTheShortestCircleOfSeveral() throws IOException {
        write("A", "class A extends B {}");
        write("B", "class B extends C {}");
        write("C", "class C { A a; B b; }");
        assertEquals(List.of("""
                B -> C -> B, one of the circles among [A, B, C]
                    B.java:1 uses C
                    C.java:1 uses B"""), ClassCircles.among(folder, null, "some"));
    }

    @Test
    void shouldNotCountCommentsNorStringsNorOthersOfTheSameName() throws IOException {
        write("A", "class A { B b; C c; D d; E e; F f; }");
        write("B", "/** See {@link A}. */ class B { char c = '\"'; /* A */ } // A");
        write("C", "class C { String s = \"\\\"A\" + \"org.jrsocket.some.A\"; }");
        write("D", "import org.jrsocket.other.A;\nclass D extends A {}");
        write("E", "class E { class A {} A a; }");
        write("F", "class F { org.jrsocket.other.A a; Object b = Outer.A; }");
        assertEquals(List.of(), ClassCircles.among(folder, null, "some"));
    }

    @Test
    void shouldCountWhatIsNamedInFull() throws IOException {
        write("A", "class A { B b; }");
        write("B", "import static org.jrsocket.some.A.a;\nclass B {}");
        assertEquals(1, ClassCircles.among(folder, null, "some").size());
    }

    /** The sources of one of the two do not name the other. */
    @Test
    void shouldCountWhatOnlyTheCompilerSees() throws IOException {
        write("A", "class A { B b; }");
        write("B", "class B {}");
        Path compiled = folder.resolve("compiled");
        Path file = compiled.resolve("org/jrsocket/some/B$1.class");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "\1\0\22org/jrsocket/some/A\1");
        assertEquals(List.of("""
                A -> B -> A
                    A.java:1 uses B
                    B$1.class uses A"""), ClassCircles.among(folder, compiled, "some"));
    }

    private void write(String name, String code) throws IOException {
        Path file = folder.resolve("org/jrsocket/some/" + name + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, code);
    }
}
