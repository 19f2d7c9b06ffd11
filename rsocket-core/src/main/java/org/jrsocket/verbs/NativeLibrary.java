/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Set;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;

/**
 * Loads the JNI library of this machine's architecture, once: from the resource {@code META-INF/native/linux-<arch>/libjrsocket.so}, by way of
 * a private temporary file that is deleted as soon as it is mapped. A failure is kept, and reported alike to everyone who asks.
 * Safe for use by many threads.
 */
public final class NativeLibrary {

    /** System property: the folder of the temporary copy, for machines whose {@code java.io.tmpdir} is mounted noexec. */
    public static final String DIR_PROPERTY = "org.jrsocket.native.dir";

    /** System property: a library to load as it is, instead of the one in the jar. */
    public static final String LIBRARY_PROPERTY = "org.jrsocket.native.library";

    private static final String PACKAGES = "install librdmacm1 and ibverbs-providers (Debian, Ubuntu) or librdmacm and libibverbs (RHEL, Fedora)";

    /** Guards the two fields below where they are written. */
    private static final Object LOCK = new Object();
    private static volatile boolean loaded;
    private static volatile VerbsUnavailableException failure;

    /** {@code Runtime.load0(Class, String)}, when an agent opened it to us: it loads without the check that warns. */
    private static volatile Method quietLoad;

    private NativeLibrary() {
    }

    /**
     * Loads the library if that has not happened.
     *
     * @throws UnsatisfiedLinkError with the reason, the same at every call, when it cannot be loaded
     */
    public static void load() {
        if (!loaded) {
            try {
                require();
            } catch (VerbsUnavailableException e) {
                UnsatisfiedLinkError error = new UnsatisfiedLinkError(e.getMessage());
                error.initCause(e);
                throw error;
            }
        }
    }

    /** {@link #load()} for callers who report why verbs are unavailable. */
    static void require() throws VerbsUnavailableException {
        if (loaded) {
            return;
        }
        synchronized (LOCK) {
            if (!loaded && failure == null) {
                try {
                    load(System.getProperty("os.name"), System.getProperty("os.arch"));
                    loaded = true;
                } catch (VerbsUnavailableException e) {
                    failure = e;
                }
            }
        }
        VerbsUnavailableException kept = failure;
        if (kept != null) {
            // A new object for each caller, so that the stack trace is the caller's; the first one is the cause.
            throw new VerbsUnavailableException(kept.reason(), kept.getMessage(), kept);
        }
    }

    /**
     * Lets this class load its library without the warning of JDK 24 and later, or the refusal of {@code --illegal-native-access=deny}, and
     * without granting native access to anybody else: {@code java.lang} is opened to the module of this class, and the library is then
     * loaded through the method that {@code System.load} calls after its check. To be called by an agent before the library is needed.
     * Does nothing before JDK 24, or when this JDK has no such method: then the warning appears.
     */
    public static void enableNativeAccess(Instrumentation instrumentation) {
        if (Runtime.version().feature() < 24) {
            return;
        }
        try {
            instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(),
                    Map.of("java.lang", Set.of(NativeLibrary.class.getModule())), Set.of(), Map.of());
            Method load0 = Runtime.class.getDeclaredMethod("load0", Class.class, String.class);
            load0.setAccessible(true);
            quietLoad = load0;
        } catch (ReflectiveOperationException | RuntimeException e) {
            quietLoad = null;
        }
    }

    private static void load(String os, String arch) throws VerbsUnavailableException {
        if (!"Linux".equals(os)) {
            throw unavailable(Reason.PLATFORM, "RDMA verbs need Linux, this is " + os, null);
        }
        String file = System.getProperty(LIBRARY_PROPERTY, "");
        if (!file.isEmpty()) {
            loadFile(Path.of(file).toAbsolutePath());
            return;
        }
        String resource = resource(arch);
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw unavailable(Reason.PLATFORM, "no native library for " + arch + " in the jar (" + resource + "): build it there, or name one with -D"
                        + LIBRARY_PROPERTY, null);
            }
            loadCopy(library);
        } catch (IOException e) {
            throw e instanceof VerbsUnavailableException known ? known
                    : unavailable(Reason.LIBRARY, "cannot read " + resource + ": " + e, e);
        }
    }

    static String resource(String arch) {
        String machine = switch (arch) {
            case "amd64" -> "x86_64";
            default -> arch;
        };
        return "/META-INF/native/linux-" + machine + "/libjrsocket.so";
    }

    private static void loadCopy(InputStream library) throws VerbsUnavailableException {
        Path folder = Path.of(System.getProperty(DIR_PROPERTY, System.getProperty("java.io.tmpdir")));
        Path copy = null;
        try {
            // Created for its owner only, under a name nobody can guess: nobody else can change what is loaded.
            copy = Files.createTempFile(folder, "libjrsocket", ".so");
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            loadFile(copy.toAbsolutePath());
        } catch (IOException e) {
            throw e instanceof VerbsUnavailableException known ? known
                    : unavailable(Reason.LIBRARY, "cannot copy the native library to " + folder + " (" + e + "): choose another folder with -D"
                            + DIR_PROPERTY, e);
        } finally {
            if (copy != null) {
                copy.toFile().delete(); // the mapping keeps the contents
            }
        }
    }

    private static void loadFile(Path file) throws VerbsUnavailableException {
        try {
            Method quiet = quietLoad;
            if (quiet == null) {
                System.load(file.toString());
            } else {
                quiet.invoke(Runtime.getRuntime(), NativeLibrary.class, file.toString());
            }
        } catch (IllegalCallerException e) { // --illegal-native-access=deny, JDK 24 and later
            throw unavailable(Reason.LIBRARY, "the native library may not be loaded: start java with --enable-native-access=ALL-UNNAMED", e);
        } catch (InvocationTargetException e) {
            throw unavailable(Reason.LIBRARY, explain(file, String.valueOf(e.getCause().getMessage())), e.getCause());
        } catch (ReflectiveOperationException | LinkageError e) {
            throw unavailable(Reason.LIBRARY, explain(file, String.valueOf(e.getMessage())), e);
        }
    }

    /** The loader's message, without what differs from run to run, and what to do about it. */
    static String explain(Path file, String message) {
        String plain = message;
        while (plain.startsWith(file + ": ")) { // the JDK names the file, and sometimes dlopen before it
            plain = plain.substring(file.toString().length() + 2);
        }
        if (plain.contains("librdmacm") || plain.contains("libibverbs")) {
            return plain + ": " + PACKAGES;
        }
        if (plain.contains("failed to map segment")) {
            return plain + ": " + file.getParent() + " is mounted noexec; choose another folder with -D" + DIR_PROPERTY;
        }
        return "the native library does not load: " + plain;
    }

    private static VerbsUnavailableException unavailable(Reason reason, String message, Throwable cause) {
        return new VerbsUnavailableException(reason, message, cause);
    }
}
