/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Whoever imports the BOM gets the versions of our artifacts by it, and nobody else's. */
class BomTest {

    private static Element project(String file) throws Exception {
        Path root = Site.classes(BomTest.class).resolve("../../..").normalize();
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(root.resolve(file).toFile())
                .getDocumentElement();
    }

    private static Element child(Element parent, String name) {
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node.getNodeName().equals(name)) {
                return (Element) node;
            }
        }
        return null;
    }

    private static String text(Element parent, String name) {
        Element child = child(parent, name);
        assertNotNull(child, name);
        return child.getTextContent();
    }

    @Test
    void shouldHaveTheVersionOfItsArtifacts() throws Exception {
        assertEquals(text(project("pom.xml"), "version"), text(project("rsocket-bom/pom.xml"), "version"));
    }

    @Test
    void shouldManageOurArtifactsAlone() throws Exception {
        Element bom = project("rsocket-bom/pom.xml");
        assertEquals(null, child(bom, "parent"), "its dependencies would be managed, too");
        List<String> managed = new ArrayList<>();
        Element dependencies = child(child(bom, "dependencyManagement"), "dependencies");
        for (Node node = dependencies.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element dependency) {
                assertEquals("${project.version}", text(dependency, "version"));
                Element classifier = child(dependency, "classifier");
                managed.add(text(dependency, "groupId") + ":" + text(dependency, "artifactId")
                        + (classifier == null ? "" : ":" + classifier.getTextContent()));
            }
        }
        assertEquals(
                List.of(
                        "org.jrsocket:jrsocket-core",
                        "org.jrsocket:jrsocket-nio",
                        "org.jrsocket:jrsocket-nio:agent",
                        "org.jrsocket:jrsocket-netty",
                        "org.jrsocket:jrsocket-testkit"),
                managed);
    }
}
