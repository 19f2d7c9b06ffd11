/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.jrsocket.verbs.rdmacore.RdmaCoreErrors.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jrsocket.os.Sysfs;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.DeviceInfo;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsProvider;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The verbs of rdma-core: librdmacm and libibverbs, through JNI. */
public final class RdmaCoreProvider extends VerbsProvider {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaCoreProvider.class);

    private static RdmaCoreProvider instance; // guarded by the class

    private final RdmaCoreDevices devices = new RdmaCoreDevices();
    private final RdmaCoreCm cm;
    private final RdmaCoreVerbs verbs = new RdmaCoreVerbs();

    /** @param probe the probe that has found that verbs can be used */
    RdmaCoreProvider(RdmaCoreProbe probe) {
        this.cm = new RdmaCoreCm(probe, devices);
    }

    /**
     * Returns the provider of this process, once verbs can be used: Linux, a device, its files, the libraries, memory
     * that may be locked. Each call looks for what is missing until nothing is; without a device that costs one look
     * into sysfs. The caller {@linkplain #install() installs} the provider.
     *
     * @throws VerbsUnavailableException with the first reason found and its remedy
     */
    public static synchronized RdmaCoreProvider open() throws VerbsUnavailableException {
        if (instance == null) {
            RdmaCoreProbe probe = new RdmaCoreProbe();
            probe.check();
            instance = new RdmaCoreProvider(probe);
        }
        return instance;
    }

    /** For tests. */
    RdmaCoreDevices openDevices() {
        return devices;
    }

    @Override
    public Cm openCm() {
        return cm;
    }

    @Override
    public Verbs openVerbs() {
        return verbs;
    }

    /** Returns the version of the interface between the Java and the C half. */
    @Override
    public int getVersion() {
        return Native.ABI;
    }

    /** Returns the devices on which connections are made, without those that cannot be opened, unless none can. */
    @Override
    public List<DeviceInfo> devices() throws IOException {
        List<DeviceInfo> found = new ArrayList<>();
        IOException failure = null;
        for (String name : Sysfs.names(Sysfs.DEVICES)) {
            if (!Sysfs.hasConnections(Sysfs.DEVICES.resolve(name))) {
                continue;
            }
            try {
                long device = check(Native.openDevice(name), "ibv_open_device", name);
                try {
                    found.add(RdmaCoreInfo.read(device));
                } finally {
                    Native.closeDevice(device);
                }
            } catch (IOException e) {
                LOG.debug("cannot read RDMA device {}; it is left out", name, e);
                failure = e;
            }
        }
        if (found.isEmpty() && failure != null) {
            throw failure;
        }
        return found;
    }

    @Override
    public String description() {
        Set<String> libraries = new TreeSet<>(Comparator.reverseOrder()); // librdmacm first
        try {
            for (String mapping : Files.readAllLines(Path.of("/proc/self/maps"))) {
                String file = mapping.substring(mapping.lastIndexOf('/') + 1);
                int version = file.indexOf(".so.");
                if (version > 0 && (file.startsWith("librdmacm.") || file.startsWith("libibverbs."))) {
                    libraries.add(file.substring(0, version) + ' ' + file.substring(version + ".so.".length()));
                }
            }
        } catch (IOException e) {
            LOG.debug("library versions are unknown", e);
        }
        return "rdma-core (" + (libraries.isEmpty() ? "librdmacm, libibverbs" : String.join(", ", libraries)) + ')';
    }
}
