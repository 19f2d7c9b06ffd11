/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.os;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * A JNI library of ours. It is loaded once, for this machine's architecture: from the resource
 * {@code META-INF/native/linux-<arch>/<name>.so}, by way of a private temporary file that is deleted as soon as it is
 * mapped. If there is none for this system, that is remembered and reported to every caller; after any other failure
 * the next call tries again. Safe for use by many threads.
 */
public final class NativeLibrary {

    /**
     * The system property for the folder of the temporary copies, for machines whose {@code java.io.tmpdir} is mounted
     * noexec.
     */
    public static final String DIR_PROPERTY = "org.jrsocket.native.dir";

    /** The system property for a folder of libraries to load as they are, instead of those in the jar. */
    public static final String LIBRARY_PROPERTY = "org.jrsocket.native.library";

    /** Memory, descriptors and epoll, which need nothing but the C library. */
    public static final NativeLibrary OS = new NativeLibrary("libjrsocket-os", "");

    /** {@code Runtime.load0(Class, String)}, if an agent has opened it to us: it loads without the check that warns. */
    private static volatile Method quietLoad;

    private final String name;
    private final String packages;
    private volatile boolean loaded;
    /** The failure that cannot change while this process runs. */
    private volatile NativeLibraryException failure; // of platform; written under this

    /**
     * @param name the name of the file, without {@code .so}
     * @param packages how to install what it is linked with, for the message if that is missing
     */
    public NativeLibrary(String name, String packages) {
        this.name = name;
        this.packages = packages;
    }

    /**
     * Loads the library if that has not happened. If there is none for this system or architecture, that is final;
     * after any other failure the next call tries again: a full disk, for example, passes.
     *
     * @throws UnsatisfiedLinkError with the reason, if it cannot be loaded
     */
    public void load() {
        if (!loaded) {
            try {
                require();
            } catch (NativeLibraryException e) {
                UnsatisfiedLinkError error = new UnsatisfiedLinkError(e.getMessage());
                error.initCause(e);
                throw error;
            }
        }
    }

    /** Does the same as {@link #load()}, for callers that report why it cannot be loaded. */
    public void require() throws NativeLibraryException {
        if (loaded) {
            return;
        }
        synchronized (this) {
            if (!loaded && failure == null) {
                try {
                    load(System.getProperty("os.name"), System.getProperty("os.arch"));
                    loaded = true;
                } catch (NativeLibraryException e) {
                    if (!e.isOfPlatform()) {
                        throw e;
                    }
                    failure = e;
                }
            }
        }
        NativeLibraryException kept = failure;
        if (kept != null) {
            // A new object for each caller, so that the stack trace is the caller's; the first one is the cause.
            throw new NativeLibraryException(true, kept.getMessage(), kept);
        }
    }

    /**
     * Lets this class load its library without the warning of JDK 24 and later, or the refusal of
     * {@code --illegal-native-access=deny}, and without granting native access to anything else: {@code java.lang} is
     * opened to the module of this class, and the library is then loaded through the method that {@code System.load}
     * calls after its check. To be called by an agent before the library is needed. Does nothing before JDK 24, or if
     * this JDK has no such method, and then the warning appears.
     */
    public static void enableNativeAccess(Instrumentation instrumentation) {
        if (Runtime.version().feature() < 24) {
            return;
        }
        try {
            instrumentation.redefineModule(
                    Object.class.getModule(),
                    Set.of(),
                    Map.of(),
                    Map.of("java.lang", Set.of(NativeLibrary.class.getModule())),
                    Set.of(),
                    Map.of());
            Method load0 = Runtime.class.getDeclaredMethod("load0", Class.class, String.class);
            load0.setAccessible(true);
            quietLoad = load0;
        } catch (ReflectiveOperationException | RuntimeException e) {
            quietLoad = null;
        }
    }

    /** Returns whether there are libraries for this operating system, on some architecture. Costs next to nothing. */
    public static boolean isSystemKnown() {
        return isKnown(System.getProperty("os.name"));
    }

    private static boolean isKnown(String os) {
        return "Linux".equals(os);
    }

    /** Returns the name by which an option of the JVM refers to the module of a class. */
    public static String moduleName(Class<?> type) {
        Module module = type.getModule();
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }

    /**
     * Looks into the jar, so that the JVM keeps this jar open until the library is needed: a newer one may have taken
     * its place by then. To be called where {@link #load} is not.
     */
    public void keep() {
        if (!loaded) {
            try {
                InputStream library = NativeLibrary.class.getResourceAsStream(resource(System.getProperty("os.arch")));
                if (library != null) {
                    library.close();
                }
            } catch (IOException e) {
                // loading it will report this
            }
        }
    }

    private void load(String os, String arch) throws NativeLibraryException {
        if (!isKnown(os)) {
            throw unavailable(true, "RDMA verbs need Linux, this is " + os, null);
        }
        String file = System.getProperty(LIBRARY_PROPERTY, "");
        if (!file.isEmpty()) {
            loadFile(Path.of(file).toAbsolutePath().resolve(name + ".so"));
            return;
        }
        String resource = resource(arch);
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw unavailable(
                        true,
                        "no native library for " + arch + " in the jar (" + resource
                                + "): build it there, or name its folder with -D" + LIBRARY_PROPERTY,
                        null);
            }
            loadCopy(library);
        } catch (IOException e) {
            throw e instanceof NativeLibraryException known
                    ? known
                    : unavailable(false, "cannot read " + resource + ": " + e, e);
        }
    }

    String resource(String arch) {
        String machine =
                switch (arch) {
                    case "amd64" -> "x86_64";
                    default -> arch;
                };
        return "/META-INF/native/linux-" + machine + '/' + name + ".so";
    }

    private void loadCopy(InputStream library) throws NativeLibraryException {
        Path folder = Path.of(System.getProperty(DIR_PROPERTY, System.getProperty("java.io.tmpdir")));
        Path copy = null;
        try {
            copy = newFile(folder);
            try (OutputStream out = Files.newOutputStream(copy)) {
                library.transferTo(out);
            }
            loadFile(copy.toAbsolutePath());
        } catch (IOException e) {
            throw e instanceof NativeLibraryException known
                    ? known
                    : unavailable(
                            false,
                            "cannot copy the native library to " + folder + " (" + withoutFile(e)
                                    + "): choose another folder with -D" + DIR_PROPERTY,
                            e);
        } finally {
            if (copy != null) {
                copy.toFile().delete(); // the mapping keeps the contents
            }
        }
    }

    /** Returns the message without the name of the temporary file: the same failure must read the same each time. */
    private static String withoutFile(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "no such folder";
        }
        return e instanceof FileSystemException ? FileTrouble.reason(e) : e.toString();
    }

    /**
     * Makes a new file for its owner only, so that no one else can change what is loaded. Does not use
     * {@code createTempFile}, which starts the JDK's security providers to choose a name.
     */
    private Path newFile(Path folder) throws IOException {
        FileAttribute<?> ownerOnly = PosixFilePermissions.asFileAttribute(
                EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE));
        for (long number = System.nanoTime(); ; number++) {
            try {
                return Files.createFile(folder.resolve(name + Long.toHexString(number) + ".so"), ownerOnly);
            } catch (FileAlreadyExistsException e) {
                // not ours, so another name
            }
        }
    }

    private void loadFile(Path file) throws NativeLibraryException {
        try {
            Method quiet = quietLoad;
            if (quiet == null) {
                System.load(file.toString());
            } else {
                quiet.invoke(Runtime.getRuntime(), NativeLibrary.class, file.toString());
            }
        } catch (IllegalCallerException e) { // --illegal-native-access=deny, JDK 24 and later
            throw unavailable(
                    false,
                    "the native library may not be loaded: start java with --enable-native-access="
                            + moduleName(NativeLibrary.class),
                    e);
        } catch (InvocationTargetException e) {
            throw unavailable(false, explain(file, String.valueOf(e.getCause().getMessage())), e.getCause());
        } catch (ReflectiveOperationException | LinkageError e) {
            throw unavailable(false, explain(file, String.valueOf(e.getMessage())), e);
        }
    }

    /** Returns the loader's message, without what differs from run to run, and what to do about it. */
    String explain(Path file, String message) {
        String plain = message;
        while (plain.startsWith(file + ": ")) { // the JDK names the file, sometimes after dlopen has
            plain = plain.substring(file.toString().length() + 2);
        }
        if (!packages.isEmpty() && plain.endsWith("cannot open shared object file: No such file or directory")) {
            return plain + ": " + packages;
        }
        if (plain.startsWith("Error relocating ")) { // musl says so; the rest names the temporary file
            return "the native library needs glibc, which this system (musl, such as Alpine) does not have: use an"
                    + " image with glibc";
        }
        if (plain.contains("failed to map segment")) { // the loader does not say why
            String property = System.getProperty(LIBRARY_PROPERTY, "").isEmpty() ? DIR_PROPERTY : LIBRARY_PROPERTY;
            return plain + ": " + file.getParent() + " may be mounted noexec: choose another folder with -D" + property
                    + "; if it is not, a limit on memory or a security module (SELinux) forbids it";
        }
        return "cannot load the native library: " + plain;
    }

    private static NativeLibraryException unavailable(boolean ofPlatform, String message, Throwable cause) {
        return new NativeLibraryException(ofPlatform, message, cause);
    }
}
