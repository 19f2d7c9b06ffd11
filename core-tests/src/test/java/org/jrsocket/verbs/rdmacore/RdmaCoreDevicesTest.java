/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.jrsocket.os.MemlockLimit;
import org.jrsocket.verbs.Cm;
import org.jrsocket.verbs.CmChannel;
import org.jrsocket.verbs.CompChannel;
import org.jrsocket.verbs.Device;
import org.jrsocket.verbs.Verbs;
import org.jrsocket.verbs.VerbsUnavailableException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Devices that this host does not have: bad ones and a good one, in JVMs whose rdma-core is in part this test's. */
@Tag("once")
@Tag("slow")
@Timeout(120)
class RdmaCoreDevicesTest {

    private static final String RDMA_CORE = """
            #include <errno.h>
            #include <fcntl.h>
            #include <rdma/rdma_cma.h>
            #include <stdio.h>
            #include <stdlib.h>
            #undef ibv_reg_mr

            static struct ibv_device devices[] = {
                { .name = "bad0" }, { .name = "good0" }, { .name = "full0" }, { .name = "shut0" },
                { .name = "held0" }, { .name = "few0" }, { .name = "hidden0" }
            };
            static struct ibv_context contexts[] = {
                { .device = &devices[0] }, { .device = &devices[1] }, { .device = &devices[2] },
                { .device = &devices[3] }, { .device = &devices[4] }, { .device = &devices[5] }
            };

            struct ibv_device **ibv_get_device_list(int *count)
            {
                struct ibv_device **list = calloc(8, sizeof(*list));

                for (*count = 0; *count < 7; ++*count)
                    list[*count] = &devices[*count];
                return list;
            }

            void ibv_free_device_list(struct ibv_device **list)
            {
                free(list);
            }

            struct ibv_context *ibv_open_device(struct ibv_device *device)
            {
                struct ibv_context *context = &contexts[device - devices];

                errno = device == &devices[3] ? EMFILE : device == &devices[4] ? EAGAIN : ENOSYS;
                if (device == &devices[3] || device == &devices[4] || device == &devices[6])
                    return NULL;
                context->num_comp_vectors = 4;
                context->async_fd = open("/dev/null", O_RDONLY);
                return context;
            }

            int ibv_close_device(struct ibv_context *context)
            {
                return 0;
            }

            int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
            {
                return context == &contexts[0] ? EIO : 0;
            }

            struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
            {
                static struct ibv_pd pd;

                errno = context == &contexts[0] ? EIO : EAGAIN;
                pd.context = context;
                return context == &contexts[0] || context == &contexts[5] ? NULL : &pd;
            }

            int ibv_dealloc_pd(struct ibv_pd *pd)
            {
                return 0;
            }

            struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
            {
                static struct ibv_mr mr;

                errno = ENOMEM;
                return pd->context == &contexts[2] ? NULL : &mr;
            }

            int ibv_dereg_mr(struct ibv_mr *mr)
            {
                return 0;
            }

            struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
            {
                struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

                channel->fd = open("/dev/null", O_RDONLY);
                return channel;
            }

            struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cookie,
                                         struct ibv_comp_channel *channel, int vector)
            {
                printf("%d ", vector);
                fflush(stdout);
                return calloc(1, sizeof(struct ibv_cq));
            }

            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                static struct rdma_event_channel channel;

                channel.fd = open("/dev/null", O_RDONLY);
                return &channel;
            }

            void rdma_destroy_event_channel(struct rdma_event_channel *channel)
            {
            }

            static struct rdma_cm_id listener;

            int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                               enum rdma_port_space ps)
            {
                listener.context = context;
                *id = &listener;
                return 0;
            }

            int rdma_destroy_id(struct rdma_cm_id *id)
            {
                printf(id == &listener ? "the listener goes " : "the request goes ");
                fflush(stdout);
                return 0;
            }

            /* One request, that came over the bad device. */
            int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
            {
                static struct rdma_cm_id id = { .verbs = &contexts[0] };
                static struct rdma_cm_event event = {
                    .event = RDMA_CM_EVENT_CONNECT_REQUEST, .id = &id, .listen_id = &listener
                };

                if (*out == &event || id.channel) {
                    errno = EAGAIN;
                    return -1;
                }
                id.channel = channel;
                *out = &event;
                return 0;
            }

            int rdma_ack_cm_event(struct rdma_cm_event *event)
            {
                return 0;
            }

            /* Events about two queues that are gone once they are acknowledged, and about a port. */
            static struct ibv_cq *cq;
            static struct ibv_qp *qp;

            int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
            {
                static int taken;

                cq = calloc(1, sizeof(*cq));
                cq->handle = 7;
                qp = calloc(1, sizeof(*qp));
                qp->qp_num = 0xfedcba;
                switch (taken++) {
                case 0:
                    *event = (struct ibv_async_event){ .element.cq = cq, .event_type = IBV_EVENT_CQ_ERR };
                    return 0;
                case 1:
                    *event = (struct ibv_async_event){ .element.qp = qp, .event_type = IBV_EVENT_QP_ACCESS_ERR };
                    return 0;
                case 2:
                    *event = (struct ibv_async_event){ .element.port_num = 2, .event_type = IBV_EVENT_PORT_ERR };
                    return 0;
                default:
                    errno = EAGAIN;
                    return -1;
                }
            }

            void ibv_ack_async_event(struct ibv_async_event *event)
            {
                cq->handle = 0;
                qp->qp_num = 0;
                printf("acknowledged ");
                fflush(stdout);
            }
            """;

    @TempDir
    Path folder;

    private String run(Class<?> program, String... arguments) throws IOException, InterruptedException {
        return NativeFailureTest.run(folder, RDMA_CORE, program, arguments)
                .lines()
                .filter(line -> !line.startsWith("SLF4J"))
                .collect(Collectors.joining())
                .strip();
    }

    /** Finds out whether RDMA can be used. */
    static final class Probe {

        public static void main(String[] args) throws IOException {
            try {
                new RdmaCoreProbe(Path.of(args[0]), Path.of(args[1])).check();
                System.out.println("usable");
            } catch (VerbsUnavailableException e) {
                System.out.println(e.reason() + ": " + e.getMessage());
            }
        }
    }

    private String probe(String... names) throws IOException, InterruptedException {
        Path sys = Files.createDirectory(folder.resolve("infiniband"));
        for (String name : names) {
            Files.createDirectory(sys.resolve(name));
        }
        Path dev = Files.createDirectory(folder.resolve("dev"));
        Files.createFile(dev.resolve("rdma_cm"));
        Files.createFile(dev.resolve("uverbs0"));
        return run(Probe.class, sys.toString(), dev.toString());
    }

    @Test
    void shouldUseTheDeviceThatWorks() throws Exception {
        assertEquals("usable", probe("bad0", "good0"));
    }

    @Test
    void shouldAskForADriverOnlyWhereOneIsMissing() throws Exception {
        assertEquals(
                "LIBRARY: libibverbs cannot open a device (shut0: Too many open files): raise ulimit -n",
                probe("shut0"));
    }

    @Test
    void shouldSayThatTheKernelsVerbsAreHidden() throws Exception {
        assertEquals(
                "LIBRARY: libibverbs cannot open a device (hidden0: Function not implemented): modprobe ib_uverbs on the"
                        + " host, and let a container see /sys/class/infiniband_verbs",
                probe("hidden0"));
    }

    /** The kernel's log has nothing about it. */
    @ParameterizedTest
    @CsvSource({
        "held0, libibverbs cannot open a device (held0: Resource temporarily unavailable)",
        "few0, no RDMA device works (few0: ibv_alloc_pd: Resource temporarily unavailable)"
    })
    void shouldNameTheLimitsOfTheCgroup(String device, String trouble) throws Exception {
        assertEquals(
                "LIBRARY: " + trouble + ": raise hca_handle and hca_object if rdma.max of this process's cgroup limits"
                        + " them; otherwise see the kernel's log",
                probe(device));
    }

    /** The device has no memory, or the limit is too low: then the message says so. */
    @Test
    void shouldBlameTheLimitOnLockedMemoryOnlyWhereItApplies() throws Exception {
        String said = probe("full0");
        if (MemlockLimit.ofThisProcess().mayRefuse(1 << 20)) {
            assertTrue(said.startsWith("MEMLOCK: this process may not lock 1 MiB of memory (ulimit -l is "), said);
        } else {
            assertEquals(
                    "LIBRARY: no RDMA device works (full0: ibv_reg_mr: Cannot allocate memory): see the kernel's log",
                    said);
        }
    }

    @Test
    void shouldNameAllThatDoNotWork() throws Exception {
        assertEquals(
                "LIBRARY: no RDMA device works (bad0: ibv_alloc_pd: Input/output error, none0 has no driver library):"
                        + " see the kernel's log",
                probe("bad0", "none0"));
    }

    /** Takes what the connection manager says. */
    static final class Requests {

        public static void main(String[] args) throws IOException {
            RdmaCoreLibrary.require();
            RdmaCoreProvider provider = new RdmaCoreProvider(new RdmaCoreProbe());
            provider.install();
            Cm cm = provider.openCm();
            CmChannel channel = cm.createEventChannel();
            cm.createId(channel, RdmaCm.RDMA_PS_TCP);
            System.out.println(cm.getCmEvent(channel, 0));
        }
    }

    /** It is that request's trouble alone: the channel is as good as before. */
    @Test
    void shouldRefuseARequestOverADeviceThatCannotBeAsked() throws Exception {
        assertEquals("the request goes null", run(Requests.class));
    }

    /** Makes the queues of three connections. */
    static final class Vectors {

        public static void main(String[] args) throws IOException {
            RdmaCoreLibrary.require();
            new RdmaCoreProvider(new RdmaCoreProbe()).install();
            RdmaCoreDevice device = RdmaCoreDevice.of(Native.openDevice("good0"));
            Verbs verbs = new RdmaCoreVerbs();
            for (int i = 0; i < 3; i++) {
                CompChannel channel = verbs.createCompChannel(device);
                verbs.createCq(device, channel, 16, 0);
                verbs.createCq(device, channel, 16, 1);
            }
        }
    }

    /** With one each, and an even number of them, no receive queue would have an odd one. */
    @Test
    void shouldGiveBothQueuesOfAConnectionOneVector() throws Exception {
        assertEquals("0 0 1 1 2 2", run(Vectors.class));
    }

    /** Takes the events of a device. */
    static final class Events {

        public static void main(String[] args) throws IOException {
            RdmaCoreLibrary.require();
            new RdmaCoreProvider(new RdmaCoreProbe()).install();
            RdmaCoreDevice device = RdmaCoreDevice.of(Native.openDevice("good0"));
            int[] expected = {
                Device.event(Device.EVENT_CQ_ERR, 7),
                Device.event(Device.EVENT_QP_ACCESS_ERR, 0xfedcba),
                Device.event(Device.EVENT_PORT_ERR, 2),
                -1
            };
            for (int each : expected) {
                int event = device.takeAsyncEvent();
                System.out.println(event == each ? "expected " : event + " instead of " + each);
            }
        }
    }

    /** The queue may be freed, by another thread, as soon as the event is acknowledged. */
    @Test
    void shouldSayWhichQueueOrPortAnEventIsAbout() throws Exception {
        assertEquals("acknowledged expected acknowledged expected acknowledged expected expected", run(Events.class));
    }
}
