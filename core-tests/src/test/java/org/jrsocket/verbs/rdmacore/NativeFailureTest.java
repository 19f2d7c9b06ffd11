/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jrsocket.os.Errno;
import org.jrsocket.os.ErrnoException;
import org.jrsocket.os.NativeLibraryTest;
import org.jrsocket.os.NativeMemory;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CmId;
import org.jrsocket.verbs.RecvBatch;
import org.jrsocket.verbs.SendBatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the native library makes of failures, in a JVM whose librdmacm is in part this test's. */
@Tag("once")
@Tag("slow")
@Timeout(120)
public class NativeFailureTest {

    private static final String LIBRDMACM = """
            #include <errno.h>
            #include <fcntl.h>
            #include <rdma/rdma_cma.h>
            #include <sys/resource.h>

            /* A channel is what its only event is made of. */
            int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
            {
                static struct rdma_cm_id id;
                static struct rdma_cm_event event;
                const int *planned = (const int *)channel;

                event.id = &id;
                event.event = planned[0];
                event.status = planned[1];
                if (planned[2])
                    errno = planned[2];
                *out = &event;
                return 0;
            }

            int rdma_ack_cm_event(struct rdma_cm_event *event)
            {
                return event->id ? 0 : -1;
            }

            /* No channel, but a device, and no descriptor is left. */
            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                static struct ibv_context context;
                struct rlimit few = { 256, 256 };

                context.cmd_fd = open("/dev/zero", O_RDONLY);
                context.async_fd = open("/dev/zero", O_RDONLY);
                setrlimit(RLIMIT_NOFILE, &few);
                while (open("/dev/zero", O_RDONLY) >= 0)
                    continue;
                return (struct rdma_event_channel *)&context;
            }
            """;

    @TempDir
    Path folder;

    private String run(Class<?> program) throws IOException, InterruptedException {
        return run(folder, LIBRDMACM, program);
    }

    /** Runs a program in a JVM whose rdma-core is in part {@code source}; what it prints. */
    static String run(Path folder, String source, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        assumeTrue(
                Native.class.getResource("/META-INF/native/linux-" + machine() + "/libjrsocket.so") != null,
                "built without rdma-core");
        Path file = Files.writeString(folder.resolve("in-part.c"), source);
        Path library = folder.resolve("in-part.so");
        assertEquals(
                "", output(new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), file.toString())));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                NativeLibraryTest.classPath(),
                program.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder java = new ProcessBuilder(command);
        java.environment().put("LD_PRELOAD", library.toString());
        java.environment().keySet().removeIf(name -> name.startsWith("JAVA_TOOL") || name.startsWith("JDK_JAVA"));
        return output(java);
    }

    private static String machine() {
        String arch = System.getProperty("os.arch");
        return arch.equals("amd64") ? "x86_64" : arch;
    }

    private static String output(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return output;
    }

    /** Prints the statuses of events. */
    static final class Statuses {

        public static void main(String[] args) throws Exception {
            RdmaCoreLibrary.require();
            print(EventType.RDMA_CM_EVENT_CONNECT_ERROR, -1, Errno.EINVAL);
            print(EventType.RDMA_CM_EVENT_ADDR_ERROR, -1, Errno.ENODEV);
            print(EventType.RDMA_CM_EVENT_ROUTE_ERROR, Errno.ENOMEM, 0);
            print(EventType.RDMA_CM_EVENT_ADDR_ERROR, -Errno.ETIMEDOUT, Errno.ENODEV);
            print(EventType.RDMA_CM_EVENT_ROUTE_ERROR, -1, 0);
            print(EventType.RDMA_CM_EVENT_REJECTED, 8, Errno.EINVAL);
        }

        private static void print(EventType type, int status, int errno) {
            ByteBuffer planned = NativeMemory.allocate(12).buffer();
            planned.putInt(0, type.ordinal()).putInt(4, status).putInt(8, errno);
            NativeMemory event = NativeMemory.allocate(312);
            if (Native.nextEvent(NativeMemory.addressOf(planned), event.address(), 1) == 0) {
                System.out.print(event.buffer().getInt(4) + " ");
            }
        }
    }

    /** librdmacm says -1 of what it could not do itself, and the kernel a negative errno. */
    @Test
    void shouldSayWhyAnEventOfLibrdmacmsOwnIsAFailure() throws Exception {
        List<Integer> expected = List.of(-Errno.EINVAL, -Errno.ENODEV, -Errno.ENOMEM, -Errno.ETIMEDOUT, -1, 8);
        StringBuilder text = new StringBuilder();
        expected.forEach(status -> text.append(status).append(' '));
        assertEquals(text.toString(), run(Statuses.class));
    }

    private static final String UNWILLING = """
            #include <errno.h>
            #include <fcntl.h>
            #include <rdma/rdma_cma.h>

            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                static struct rdma_event_channel channel;

                channel.fd = open("/dev/zero", O_RDONLY);
                return &channel;
            }

            static int fail(const void *used, int why)
            {
                errno = why;
                return used ? -1 : 0;
            }

            int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                               enum rdma_port_space space)
            {
                static struct rdma_cm_id made;

                made.channel = channel;
                made.context = context;
                *id = &made;
                return space == RDMA_PS_TCP ? 0 : fail(id, EMFILE);
            }

            int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
            {
                return fail(id, level == RDMA_OPTION_ID && name == RDMA_OPTION_ID_TOS && *(char *)value && length
                                    ? ENOMEM : EIO);
            }

            int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
            {
                return fail(channel, out ? EIO : EBUSY);
            }

            int rdma_destroy_id(struct rdma_cm_id *id)
            {
                return fail(id, EBUSY);
            }
            """;

    /** Prints what the calls say that fail. */
    static final class Subjects {

        public static void main(String[] args) throws Exception {
            RdmaCoreLibrary.require();
            RdmaCoreProvider provider = new RdmaCoreProvider(new RdmaCoreProbe());
            provider.install();
            Cm cm = provider.openCm();
            CmChannel channel = cm.createEventChannel();
            System.out.println(message(() -> cm.createId(channel, RdmaCm.RDMA_PS_UDP)));
            CmId id = cm.createId(channel, RdmaCm.RDMA_PS_TCP);
            System.out.println(message(() -> {
                cm.setOption(id, Cm.OPTION_TOS, 8);
                return "";
            }));
            System.out.println(message(() -> cm.getCmEvent(channel, 0)).replace("fd " + channel.getFd(), "fd N"));
            System.out.println(message(() -> cm.destroyCmId(id)));
        }

        private static String message(Callable<?> call) throws Exception {
            try {
                return "no failure: " + call.call();
            } catch (ErrnoException e) {
                return e.getMessage();
            }
        }
    }

    @Test
    void shouldSayWhatTheCallThatFailedWasAbout() throws Exception {
        List<String> said = run(folder, UNWILLING, Subjects.class)
                .lines()
                .filter(line -> !line.startsWith("SLF4J"))
                .toList();
        assertEquals(
                List.of(
                        "rdma_create_id (port space 0x111): Too many open files",
                        "rdma_set_option (TOS=8, id 2, no device): Cannot allocate memory",
                        "rdma_get_cm_event (event channel, fd N): Input/output error",
                        "rdma_destroy_id (id 2, no device): Device or resource busy"),
                said);
    }

    private static final String LATE_QUERY = """
            #include <fcntl.h>
            #include <rdma/rdma_cma.h>

            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                static struct rdma_event_channel channel;

                channel.fd = open("/dev/zero", O_RDONLY);
                return &channel;
            }

            int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                               enum rdma_port_space space)
            {
                static struct rdma_cm_id made;

                made.channel = channel;
                made.context = context;
                made.ps = space;
                *id = &made;
                return 0;
            }

            /* As another thread that takes the id's event reads it, when the id's number is a new one's by now. */
            int rdma_destroy_id(struct rdma_cm_id *id)
            {
                return id->verbs->device->transport_type == IBV_TRANSPORT_IB;
            }
            """;

    /** Destroys an id whose address was not resolved, as far as it knows. */
    static final class Destroyed {

        public static void main(String[] args) throws Exception {
            RdmaCoreLibrary.require();
            RdmaCoreProvider provider = new RdmaCoreProvider(new RdmaCoreProbe());
            provider.install();
            Cm cm = provider.openCm();
            System.out.print(cm.destroyCmId(cm.createId(cm.createEventChannel(), RdmaCm.RDMA_PS_TCP)));
        }
    }

    /** librdmacm before v56 crashes otherwise. */
    @Test
    void shouldGiveAnIdThatIsDestroyedADeviceThatAnEventOfItMayRead() throws Exception {
        String said = run(folder, LATE_QUERY, Destroyed.class);
        assertTrue(said.endsWith("0"), said);
    }

    /** Gives a device back. */
    static final class Detach {

        public static void main(String[] args) throws Exception {
            RdmaCoreLibrary.require();
            long device = Native.createChannel();
            System.out.print(Native.detachDevice(device) == 0);
        }
    }

    /** A kernel whose driver cannot disassociate a process waits for it. */
    @Test
    void shouldGiveADeviceBackWhenNoDescriptorIsLeft() throws Exception {
        assertEquals("true", run(Detach.class));
    }

    private static final String DRIVER = """
            #include <errno.h>
            #include <rdma/rdma_cma.h>

            /* The request's id says what is returned, and above that the errno that is set. */
            static int fail(uint64_t planned)
            {
                if (planned >> 32)
                    errno = (int)(planned >> 32);
                return (int)planned;
            }

            static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
            {
                *bad = wr->next;
                return fail(wr->next->wr_id);
            }

            static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
            {
                *bad = wr->next;
                return fail(wr->next->wr_id);
            }

            int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask)
            {
                return fail((uint32_t)-EINVAL | (uint64_t)EBUSY << 32);
            }

            /* No channel, but a queue pair. */
            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                static struct ibv_context context = { .ops = { .post_send = post_send, .post_recv = post_recv } };
                static struct ibv_qp qp = { .context = &context };

                return (struct rdma_event_channel *)&qp;
            }
            """;

    /** Prints how many of two requests were posted, and why not the second one. */
    static final class Posts {

        public static void main(String[] args) throws Exception {
            RdmaCoreLibrary.require();
            long qp = Native.createChannel();
            print(qp, Errno.ENOMEM, Errno.EBUSY);
            print(qp, -Errno.ENOMEM, Errno.EBUSY);
            print(qp, -Errno.ENOMEM, 0);
            print(qp, -1, Errno.EINVAL);
            System.out.print(Native.qpToError(qp));
        }

        private static void print(long qp, int returned, int errno) {
            long planned = returned & 0xffffffffL | (long) errno << 32;
            SendBatch sends = new SendBatch(2);
            sends.add(0, SendBatch.SEND, 0, 0, 0, 0);
            sends.add(planned, SendBatch.SEND, 0, 0, 0, 0);
            RecvBatch receives = new RecvBatch(2, 1);
            receives.add(0);
            receives.add(planned);
            for (long posted :
                    new long[] {Native.postSend(qp, sends.address(), 2), Native.postRecv(qp, receives.address(), 2)}) {
                System.out.print((int) posted + ":" + (posted >> 32) + " ");
            }
        }
    }

    /** Drivers say it in three ways; some return a negative errno, and leave errno as it was. */
    @Test
    void shouldSayWhyADriverDidNotPost() throws Exception {
        assertEquals("1:12 1:12 1:12 1:12 1:12 1:12 1:22 1:22 -22", run(folder, DRIVER, Posts.class));
    }
}
