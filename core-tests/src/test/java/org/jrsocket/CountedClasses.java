/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads this project's classes once more, so that their allocations go through {@link Allocations}: objects, arrays,
 * lambdas that capture something, collections that may grow, and log lines. Not those of static initializers, nor of
 * the loopback verbs.
 */
public final class CountedClasses extends URLClassLoader {

    private static final String OURS = "org.jrsocket.";
    private static final String HOOK = Allocations.class.getName().replace('.', '/');
    private static final Set<String> MAY_GROW = Set.of(
            "add", "addFirst", "addLast", "put", "offer", "copyOf", "computeIfAbsent", "putIfAbsent", "merge", "push");

    private final String scenario;

    /** @param scenario uses the others; its own allocations do not count */
    public CountedClasses(Class<?> scenario, Class<?>... others) {
        super(
                Stream.concat(Stream.of(scenario), Stream.of(others))
                        .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
                        .toArray(URL[]::new),
                CountedClasses.class.getClassLoader());
        this.scenario = scenario.getName();
    }

    /** Lets each allocation that the scenario meets fail: the first time, the second, and one at the end. */
    public Outcome failEach() throws ReflectiveOperationException {
        Allocations.fail(-1, 0);
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            wrong.addAll(run());
        }
        int failures = 0;
        for (Map.Entry<Integer, Integer> place : Allocations.met().entrySet()) {
            for (int time : new TreeSet<>(List.of(1, 2, place.getValue() / 3))) { // of the three runs
                Allocations.fail(place.getKey(), time);
                List<String> here = run();
                failures += Allocations.hasFailed() ? 1 : 0;
                here.forEach(each -> wrong.add(Allocations.name(place.getKey()) + " #" + time + ": " + each));
            }
        }
        return new Outcome(wrong, failures);
    }

    @SuppressWarnings("unchecked") // the other class loader's
    private List<String> run() throws ReflectiveOperationException {
        return ((Supplier<List<String>>)
                        loadClass(scenario).getDeclaredConstructor().newInstance())
                .get();
    }

    /** @param wrong what the scenario found, with the allocation that had failed */
    public record Outcome(List<String> wrong, int failures) {}

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.equals(Allocations.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        String path = name.replace('.', '/');
        URL place = findResource(path + ".class");
        if (place == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = place.openStream()) {
            byte[] code = in.readAllBytes();
            byte[] counted = name.startsWith(OURS + "verbs.loopback.") || name.equals(scenario) ? code : count(code);
            return defineClass(name, counted, 0, counted.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] count(byte[] code) {
        ClassReader from = new ClassReader(code);
        ClassWriter to = new ClassWriter(from, ClassWriter.COMPUTE_MAXS);
        from.accept(new Counting(to), 0);
        return to.toByteArray();
    }

    private static final class Counting extends ClassVisitor {
        private String type;

        Counting(ClassVisitor to) {
            super(Opcodes.ASM9, to);
        }

        @Override
        public void visit(
                int version, int access, String name, String signature, String superName, String[] interfaces) {
            type = name.substring(name.lastIndexOf('/') + 1);
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
            boolean hasCode = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
            return hasCode && !name.equals("<clinit>") ? new CountingMethod(to, type + '.' + name) : to;
        }
    }

    private static final class CountingMethod extends MethodVisitor {
        private final String method;
        private int line;

        CountingMethod(MethodVisitor to, String method) {
            super(Opcodes.ASM9, to);
            this.method = method;
        }

        private void count(String what) {
            super.visitLdcInsn(Allocations.number(method + ':' + line + ' ' + what));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOK, "at", "(I)V", false);
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
            super.visitLineNumber(number, start);
        }

        @Override
        public void visitTypeInsn(int opcode, String created) {
            String what = "new " + created.substring(created.lastIndexOf('/') + 1);
            if (opcode == Opcodes.ANEWARRAY) {
                count(what);
            }
            super.visitTypeInsn(opcode, created);
            if (opcode == Opcodes.NEW) { // behind it, because frames name the place of the instruction itself
                count(what);
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            if (opcode == Opcodes.NEWARRAY) {
                count("new array");
            }
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            if (!descriptor.startsWith("()")) {
                count("lambda " + name);
            }
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean ofInterface) {
            if (owner.startsWith("java/util/") && MAY_GROW.contains(name) || owner.startsWith("org/slf4j/")) {
                count(owner.substring(owner.lastIndexOf('/') + 1) + '.' + name);
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, ofInterface);
        }
    }
}
