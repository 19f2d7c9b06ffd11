/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs;

import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;

/**
 * An implementation of verbs: rdma-core's, or the loopback of the test fixtures.
 *
 * <p>DiSNI's objects ask the static {@code RdmaProvider.provider()} for their implementation when they are constructed,
 * so a provider must be {@linkplain #install() installed} before its first object is made. Safe for use by many
 * threads.
 */
public abstract class VerbsProvider extends RdmaProvider {

    @Override
    public abstract Cm openCm() throws IOException;

    @Override
    public abstract Verbs openVerbs() throws IOException;

    /**
     * Returns the devices present now, with their ports; empty if there are none. Opens and closes each device, so this
     * is not for hot paths.
     */
    public abstract List<DeviceInfo> devices() throws IOException;

    /**
     * Returns a readable description of what carries the calls, for example
     * {@code "rdma-core (librdmacm 1.3.44, libibverbs 1.14.44)"}.
     */
    public abstract String description();

    /**
     * Makes this the provider that DiSNI's own static entry points use, process-wide. DiSNI offers no setter: its field
     * is private and would otherwise be filled by an implementation whose native library is not published anywhere.
     *
     * @throws IllegalStateException if DiSNI's field cannot be set (another DiSNI version on the class path)
     */
    @SuppressWarnings("LockOnNonEnclosingClassLiteral") // DiSNI guards the field with this lock
    public final void install() {
        try {
            Field field = RdmaProvider.class.getDeclaredField("provider");
            field.setAccessible(true);
            synchronized (RdmaProvider.class) {
                field.set(null, this);
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new IllegalStateException(
                    "cannot set com.ibm.disni.verbs.RdmaProvider.provider; DiSNI 2.1 is expected", e);
        }
    }
}
