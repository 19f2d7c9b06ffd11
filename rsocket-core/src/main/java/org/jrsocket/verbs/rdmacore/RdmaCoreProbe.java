/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import java.io.IOException;
import java.net.NetworkInterface;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.FileTrouble;
import org.jrsocket.os.MemlockLimit;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.os.Sysfs;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.jrsocket.verbs.VerbsUnavailableException.Reason;

/**
 * Finds out whether verbs can be used and, if not, the reason, on which an administrator can act. Cheap and harmless
 * checks come first; no library is loaded if there is no device.
 */
public final class RdmaCoreProbe {

    /** The system property that makes iWARP devices usable, for programs that do not use TCP at all. */
    public static final String IWARP_PROPERTY = "org.jrsocket.native.iwarp";

    private static final Path DEV = Path.of("/dev/infiniband");

    private static final String NO_GUID = "0000:0000:0000:0000";

    private static final String ADD_DEVICE =
            "add an RDMA adapter, or a software device: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev IF";
    private static final String SHARE_FILES =
            "give this user access with a udev rule, or a container the option --device=/dev/infiniband";

    /** A connection with default buffers needs less; a process that may not lock even this will not get far. */
    private static final int TRIAL_BYTES = 1 << 20;

    private final Path sys;
    private final Path dev;
    /** Devices whose GUID is zero; see {@link #checkWithoutGuid}. */
    private volatile List<String> withoutGuid = List.of();

    RdmaCoreProbe() {
        this(Sysfs.DEVICES, DEV);
    }

    /** Makes a probe for tests. */
    RdmaCoreProbe(Path sys, Path dev) {
        this.sys = sys;
        this.dev = dev;
    }

    void check() throws VerbsUnavailableException {
        String os = System.getProperty("os.name");
        if (!"Linux".equals(os)) {
            throw new VerbsUnavailableException(Reason.PLATFORM, "RDMA verbs need Linux, this is " + os, null);
        }
        checkDevices();
        checkFiles();
        RdmaCoreLibrary.require();
        checkRegistration();
        checkConnectionManager();
    }

    void checkDevices() throws VerbsUnavailableException {
        List<String> names = names();
        if (names.isEmpty()) {
            List<String> others = Sysfs.names(sys);
            List<String> files = others.isEmpty() ? uverbsFiles() : List.of();
            if (!files.isEmpty()) {
                throw new VerbsUnavailableException(
                        Reason.NO_DEVICE,
                        "no RDMA device in " + sys + ", although there is " + dev.resolve(files.get(0))
                                + ": it is in another network namespace (where rdma system says netns exclusive), or"
                                + " that folder is hidden from this container",
                        null);
            }
            String none = others.isEmpty()
                    ? "no RDMA device on this host: "
                    : "none of this host's RDMA devices (" + String.join(", ", others) + ") makes connections: ";
            throw new VerbsUnavailableException(Reason.NO_DEVICE, none + ADD_DEVICE, null);
        }
        List<String> odd = new ArrayList<>();
        for (String name : names) {
            refuseIwarp(name);
            if (NO_GUID.equals(Sysfs.text(sys.resolve(name).resolve("node_guid")))) {
                odd.add(name);
            }
        }
        if (odd.size() == names.size()) {
            throw withoutGuid(odd.get(0));
        }
        withoutGuid = odd;
        checkWithoutGuid();
    }

    /** Returns the names of the devices on which connections may be made. */
    private List<String> names() {
        return Sysfs.names(sys).stream()
                .filter(name -> Sysfs.hasConnections(sys.resolve(name)))
                .toList();
    }

    /**
     * Refuses iWARP devices, whose ports are ports of TCP: the kernel's siw makes a TCP socket for a listener, and a
     * connection request is one over TCP with bytes that no TCP server expects. So a server could not have the same
     * port over both, nor could a client try RDMA first. The kernel also connects within the call, which may take
     * minutes (siw again).
     */
    private void refuseIwarp(String name) throws VerbsUnavailableException {
        if (Sysfs.isIwarp(sys.resolve(name)) && !Boolean.getBoolean(IWARP_PROPERTY)) {
            throw new VerbsUnavailableException(
                    Reason.NO_DEVICE,
                    "RDMA device " + name
                            + " is iWARP, which shares its ports with TCP, so no server can listen over both:"
                            + " remove it, or, for programs with policy=rdma, add -D" + IWARP_PROPERTY + "=true",
                    null);
        }
    }

    /**
     * Refuses a device with a GUID of zero to which an address may lead. librdmacm before v56 takes such a GUID for "no
     * device": when the address of a connection is resolved to the device, it dereferences one that it does not have.
     * Other devices like that, such as virtual functions that have not been set up, do no harm.
     */
    private void checkWithoutGuid() throws VerbsUnavailableException {
        for (String name : withoutGuid) {
            if (mayHaveAddress(sys.resolve(name))) {
                throw withoutGuid(name);
            }
        }
    }

    /**
     * Checks again before an address is resolved, because a device may have got an address since {@link #check}. Costs
     * nothing if all devices have a GUID.
     */
    @SuppressWarnings("removal") // of JDK 17
    void checkAgain() throws VerbsUnavailableException {
        if (withoutGuid.isEmpty()) {
            return;
        }
        try {
            // with the rights of this project, which an application under a security manager need not have
            AccessController.doPrivileged((PrivilegedExceptionAction<Void>) () -> {
                checkWithoutGuid();
                return null;
            });
        } catch (PrivilegedActionException e) {
            throw (VerbsUnavailableException) e.getException();
        }
    }

    private static VerbsUnavailableException withoutGuid(String name) {
        return new VerbsUnavailableException(
                Reason.NO_DEVICE,
                "RDMA device " + name
                        + " has the node GUID 0, with which librdmacm crashes: remove it, or give its network"
                        + " interface a hardware address",
                null);
    }

    /** Returns true unless no port of it is active and no network interface of it has an address. */
    private static boolean mayHaveAddress(Path device) {
        List<Path> ports = Sysfs.ports(device);
        Set<String> interfaces = new TreeSet<>(Sysfs.interfaces(device));
        for (Path port : ports) {
            String state = Sysfs.state(port);
            if (state.isEmpty() || Sysfs.isActive(state)) {
                return true;
            }
            Path ndevs = Sysfs.gidAttributes(port, "ndevs");
            for (String index : Sysfs.names(ndevs)) { // all of them: a missed address may end in a crash
                interfaces.add(Sysfs.text(ndevs.resolve(index)));
            }
        }
        return ports.isEmpty() || interfaces.stream().anyMatch(RdmaCoreProbe::hasAddress);
    }

    private static boolean hasAddress(String networkInterface) {
        try {
            NetworkInterface found = networkInterface.isEmpty() ? null : NetworkInterface.getByName(networkInterface);
            return found != null && !found.getInterfaceAddresses().isEmpty();
        } catch (IOException e) {
            return true; // as far as is known
        }
    }

    private List<String> uverbsFiles() {
        return Sysfs.names(dev).stream()
                .filter(name -> name.startsWith("uverbs"))
                .toList();
    }

    void checkFiles() throws VerbsUnavailableException {
        open(dev.resolve("rdma_cm"), "rdma_ucm");
        List<String> files = uverbsFiles();
        if (files.isEmpty()) {
            throw missing(dev.resolve("uverbs0"), "ib_uverbs", null);
        }
        VerbsUnavailableException failure = null;
        for (String file : files) {
            try {
                open(dev.resolve(file), "ib_uverbs");
                return;
            } catch (VerbsUnavailableException e) {
                failure = failure == null ? e : failure;
            }
        }
        throw failure;
    }

    private static void open(Path file, String module) throws VerbsUnavailableException {
        try {
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)
                    .close();
        } catch (NoSuchFileException e) {
            throw missing(file, module, e);
        } catch (IOException e) {
            throw unopened(file, module, e);
        }
    }

    static VerbsUnavailableException unopened(Path file, String module, IOException cause) {
        String reason = FileTrouble.reason(cause);
        String remedy =
                switch (reason) {
                    case "Permission denied", "Operation not permitted" ->
                        ": " + SHARE_FILES; // the latter: a container
                    case "No such device", "No such device or address" -> ": modprobe " + module + " on the host";
                    default -> "";
                };
        return new VerbsUnavailableException(
                Reason.PERMISSION, file + " cannot be opened (" + reason + ")" + remedy, cause);
    }

    private static VerbsUnavailableException missing(Path file, String module, IOException cause) {
        return new VerbsUnavailableException(
                Reason.PERMISSION,
                file + " does not exist: modprobe " + module + " on the host, and give a container"
                        + " the option --device=/dev/infiniband",
                cause);
    }

    /** Returns what to do about the first of these errors that one can do something about. */
    private static String remedy(Integer... errnos) {
        for (int errno : errnos) {
            switch (errno) { // the kernel logs nothing about the limits of a process or a cgroup
                case Errno.EAGAIN -> {
                    return "raise hca_handle and hca_object if rdma.max of this process's cgroup limits them; otherwise"
                            + " see the kernel's log";
                }
                case Errno.EMFILE -> {
                    return "raise ulimit -n";
                }
                case Errno.ENOSYS -> {
                    return "modprobe ib_uverbs on the host, and let a container see /sys/class/infiniband_verbs";
                }
                case Errno.EPERM, Errno.EACCES, Errno.ENOENT -> {
                    return SHARE_FILES;
                }
                default -> {
                    // perhaps the next one
                }
            }
        }
        return "see the kernel's log";
    }

    private static void checkConnectionManager() throws VerbsUnavailableException {
        long channel = Native.createChannel();
        if (channel <= 0) {
            int errno = (int) -channel;
            throw new VerbsUnavailableException(
                    Reason.LIBRARY,
                    "cannot start librdmacm (rdma_create_event_channel: " + Errno.describe(errno) + "): "
                            + remedy(errno),
                    null);
        }
        Native.destroyChannel(channel);
    }

    private void checkRegistration() throws VerbsUnavailableException {
        List<String> failures = new ArrayList<>();
        boolean opened = false;
        boolean driverless = false;
        List<Integer> errnos = new ArrayList<>();
        for (String name : names()) {
            long device = Native.openDevice(name);
            if (device > 0) {
                opened = true;
                try {
                    ErrnoException failure = register(device);
                    if (failure == null) {
                        return; // one is enough
                    }
                    failures.add(name + ": " + failure.getMessage());
                    errnos.add(failure.errno());
                } finally {
                    Native.closeDevice(device);
                }
            } else {
                boolean unknown = device == -Errno.ENODEV; // to the library
                failures.add(name + (unknown ? " has no driver library" : ": " + Errno.describe((int) -device)));
                driverless |= unknown;
                errnos.add((int) -device);
            }
        }
        if (opened) {
            throw new VerbsUnavailableException(
                    Reason.LIBRARY,
                    "no RDMA device works (" + String.join(", ", failures) + "): "
                            + remedy(errnos.toArray(Integer[]::new)),
                    null);
        }
        throw new VerbsUnavailableException(
                Reason.LIBRARY,
                "libibverbs cannot open a device (" + String.join(", ", failures) + "): "
                        + (driverless
                                ? "install ibverbs-providers (Debian, Ubuntu) or libibverbs (RHEL, Fedora)"
                                : remedy(errnos.toArray(Integer[]::new))),
                null);
    }

    /**
     * Tries to register memory, because capabilities, limits and what this process has locked already all play a part.
     *
     * @return what the device refused, or null
     * @throws VerbsUnavailableException if it was the limit on locked memory, which is the same for all devices
     */
    private static ErrnoException register(long device) throws VerbsUnavailableException {
        NativeMemory memory = NativeMemory.allocate(TRIAL_BYTES);
        long pd = Native.allocPd(device);
        try {
            long mr = pd <= 0 ? pd : Native.regMr(pd, memory.address(), TRIAL_BYTES, 1, new int[3]);
            if (mr > 0) {
                Native.deregMr(mr);
                return null;
            }
            int errno = (int) -mr;
            boolean lacking = pd > 0 && (errno == Errno.ENOMEM || errno == Errno.EPERM || errno == Errno.EAGAIN);
            MemlockLimit limit = MemlockLimit.ofThisProcess();
            if (lacking && limit.mayRefuse(TRIAL_BYTES)) {
                throw new VerbsUnavailableException(
                        Reason.MEMLOCK,
                        "this process may not lock 1 MiB of memory (ulimit -l is " + limit
                                + "): raise it with ulimit -l unlimited, LimitMEMLOCK=infinity (systemd) or"
                                + " --ulimit memlock=-1 (containers)",
                        null);
            }
            return new ErrnoException(pd > 0 ? "ibv_reg_mr" : "ibv_alloc_pd", "", errno);
        } finally {
            if (pd > 0) {
                Native.deallocPd(pd);
            }
            memory.free();
        }
    }
}
