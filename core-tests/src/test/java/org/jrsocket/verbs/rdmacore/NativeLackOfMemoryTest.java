/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
package org.jrsocket.verbs.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.jrsocket.CountedClasses;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each allocation around a native object fails once: no object is lost, nor an event. */
@Tag("once")
@Tag("slow")
@Timeout(120)
class NativeLackOfMemoryTest {

    /** Fewer failures would mean that allocations are not counted. */
    private static final int LEAST = 25;

    /** Objects are counted; a listener gets a request, and an id that is confirmed is established. */
    private static final String RDMA_CORE = """
            #include <arpa/inet.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <rdma/rdma_cma.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>

            static uint16_t ids, domains, regions, queues;
            static struct ibv_device device = { .name = "fake0" };
            static struct ibv_context context;
            static struct rdma_cm_event next;
            static int waiting;

            struct rdma_event_channel *rdma_create_event_channel(void)
            {
                struct rdma_event_channel *channel = calloc(1, sizeof(*channel));

                channel->fd = open("/dev/zero", O_RDWR);
                return channel;
            }

            static struct rdma_cm_id *born(struct rdma_event_channel *channel, void *its)
            {
                struct rdma_cm_id *id = calloc(1, sizeof(*id));
                struct sockaddr_in *here = (struct sockaddr_in *)&id->route.addr.src_addr;

                if (!context.device) {
                    context.device = &device;
                    context.cmd_fd = open("/dev/zero", O_RDWR);
                    context.async_fd = open("/dev/zero", O_RDWR);
                    context.num_comp_vectors = 1;
                }
                here->sin_family = AF_INET;
                here->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                id->channel = channel;
                id->context = its;
                id->verbs = &context;
                id->port_num = 1;
                ids++;
                return id;
            }

            int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *its,
                               enum rdma_port_space space)
            {
                *id = born(channel, its);
                (*id)->ps = space;
                return 0;
            }

            int rdma_destroy_id(struct rdma_cm_id *id)
            {
                if (waiting && next.id == id)
                    waiting = 0;
                if (waiting && next.listen_id == id) {
                    waiting = 0;
                    rdma_destroy_id(next.id);
                }
                ids--;
                free(id);
                return 0;
            }

            int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
            {
                return 0;
            }

            int rdma_listen(struct rdma_cm_id *id, int backlog)
            {
                memset(&next, 0, sizeof(next));
                next.event = RDMA_CM_EVENT_CONNECT_REQUEST;
                next.listen_id = id;
                next.id = born(id->channel, id->context);
                waiting = 1;
                return 0;
            }

            int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
            {
                memset(&next, 0, sizeof(next));
                next.event = RDMA_CM_EVENT_ESTABLISHED;
                next.id = id;
                waiting = 1;
                return 0;
            }

            int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
            {
                if (!waiting) {
                    errno = EAGAIN;
                    return -1;
                }
                waiting = 0;
                *out = &next;
                return 0;
            }

            int rdma_ack_cm_event(struct rdma_cm_event *event)
            {
                return 0;
            }

            int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attributes)
            {
                memset(attributes, 0, sizeof(*attributes));
                return 0;
            }

            /* What is alive, for the test. */
            const char *ibv_port_state_str(enum ibv_port_state state)
            {
                static char left[64];

                snprintf(left, sizeof(left), "%d, %d, %d, %d", (int)ids, (int)domains, (int)regions, (int)queues);
                return left;
            }

            struct ibv_pd *ibv_alloc_pd(struct ibv_context *of)
            {
                struct ibv_pd *domain = calloc(1, sizeof(*domain));

                domain->context = of;
                domains++;
                return domain;
            }

            int ibv_dealloc_pd(struct ibv_pd *domain)
            {
                domains--;
                free(domain);
                return 0;
            }

            #undef ibv_reg_mr
            struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *address, size_t length, int access)
            {
                struct ibv_mr *region = calloc(1, sizeof(*region));

                region->context = domain->context;
                regions++;
                return region;
            }

            int ibv_dereg_mr(struct ibv_mr *region)
            {
                regions--;
                free(region);
                return 0;
            }

            struct ibv_cq *ibv_create_cq(struct ibv_context *of, int entries, void *its,
                                         struct ibv_comp_channel *channel, int vector)
            {
                struct ibv_cq *queue = calloc(1, sizeof(*queue));

                queue->context = of;
                queue->cqe = entries;
                queues++;
                return queue;
            }

            int ibv_destroy_cq(struct ibv_cq *queue)
            {
                queues--;
                free(queue);
                return 0;
            }
            """;

    @TempDir
    Path folder;

    /** In a JVM of its own, whose rdma-core is this test's. */
    static final class Program {

        public static void main(String[] args) throws Exception {
            System.setProperty("slf4j.internal.verbosity", "ERROR");
            try (CountedClasses classes = new CountedClasses(NativeLackOfMemoryScenario.class, RdmaCoreCm.class)) {
                CountedClasses.Outcome outcome = classes.failEach();
                System.out.print(outcome.wrong() + " " + (outcome.failures() >= LEAST ? "enough" : outcome.failures()));
            }
        }
    }

    @Test
    void shouldLoseNoObjectAndNoEventWhereverMemoryIsLacking() throws Exception {
        assertEquals("[] enough", NativeFailureTest.run(folder, RDMA_CORE, Program.class));
    }
}
