/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a connection costs the device and its connection manager, and nothing around it: connect by the RDMA CM, a byte
 * each way by SEND, disconnect. The limit for every socket on top of it. Memory is registered once, and what a closed
 * connection had is freed by a thread of its own, so that neither is in anybody's way.
 *
 *   cm server ADDRESS PORT
 *   cm client ADDRESS PORT        reads "touch COUNT ..." as Client.java does
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"

static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char memory[64]; /* every byte received lands here; nobody looks at it */
static struct rdma_addrinfo *where;

static void setup(const char *address, const char *port, int flags)
{
	pd = open_device();
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die("ibv_reg_mr");
	where = resolve(address, port, flags);
}

static struct rdma_cm_id *endpoint(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	return rdma_create_ep(&id, where, pd, &attr) ? NULL : id;
}

static int expect(struct rdma_cm_id *id)
{
	return rdma_post_recv(id, NULL, memory, 1, mr);
}

static int say(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	return rdma_post_send(id, NULL, memory, 1, mr, IBV_SEND_INLINE) || rdma_get_send_comp(id, &wc) != 1 || wc.status;
}

static int hear(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	return rdma_get_recv_comp(id, &wc) != 1 || wc.status;
}

static void *forget(void *argument)
{
	rdma_destroy_ep(argument);
	return NULL;
}

static void *serve(void *argument)
{
	struct rdma_cm_id *id = argument;

	if (hear(id) || say(id))
		perror("serving");
	rdma_disconnect(id);
	return forget(id);
}

static void detached(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, argument))
		die("pthread_create");
	pthread_detach(thread);
}

static void *listening(void *argument)
{
	struct rdma_cm_id *listener = endpoint(), *id;

	(void)argument;
	if (!listener || rdma_listen(listener, 128))
		die("rdma_listen");
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (rdma_get_request(listener, &id))
			die("rdma_get_request");
		if (expect(id) || rdma_accept(id, NULL)) {
			perror("rdma_accept");
			rdma_destroy_ep(id);
			continue;
		}
		detached(serve, id);
	}
	return NULL;
}

static int touch(int count)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < count; i++) {
		struct rdma_cm_id *id = endpoint();

		if (!id || expect(id) || rdma_connect(id, NULL) || say(id) || hear(id))
			return -1;
		rdma_disconnect(id);
		detached(forget, id);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("ok seconds=%.6f\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	int server = argc == 4 && !strcmp(argv[1], "server"), count;
	char line[256];

	if (argc != 4)
		return 2;
	setup(argv[2], argv[3], server ? RAI_PASSIVE : 0);
	if (server) {
		detached(listening, NULL);
		while (getchar() != EOF)
			;
		return 0;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "touch %d", &count) != 1 || touch(count))
			printf("failed %s\n", strerror(errno));
		fflush(stdout);
	}
	return 0;
}
