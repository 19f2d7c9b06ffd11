/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a connection costs the device and its connection manager, and nothing around it: connect by the RDMA CM, a byte
 * each way by SEND, disconnect. A bound for every socket on top of it that makes a queue pair for each connection.
 * Whatever else it can have beforehand it has: one event channel, one completion queue and registered memory for all
 * connections. Nobody waits for a send, and nobody is woken by another thread: a server has one thread that accepts and
 * answers. What a closed connection had is disconnected and freed by another thread, beside the next connection.
 *
 *   cm server ADDRESS PORT
 *   cm client ADDRESS PORT        reads "touch COUNT ..." as Client.java does
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

enum {
	RESOLVE_MILLIS = 10000,
	SILENCE_MILLIS = 10000, /* whose byte does not come for so long has failed */
	BATCH = 32,             /* completions at a time */
};

static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_comp_channel *wakeups;
static struct ibv_cq *cq;
static struct rdma_event_channel *events;
static char memory[64]; /* every byte received lands here; nobody looks at it */
static struct rdma_addrinfo *where;
static int closed[2]; /* a pipe: identifiers of closed connections */

static void *forget(void *unused)
{
	struct rdma_cm_id *id;

	(void)unused;
	while (read(closed[0], &id, sizeof(id)) == sizeof(id)) {
		if (id->qp) {
			rdma_disconnect(id); /* or the answer to the peer's */
			rdma_destroy_qp(id);
		}
		rdma_destroy_id(id);
	}
	return NULL;
}

static void leave(struct rdma_cm_id *id)
{
	if (write(closed[1], &id, sizeof(id)) != sizeof(id))
		die("pipe");
}

static void detached(void *(*work)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		die("pthread_create");
	pthread_detach(thread);
}

static void setup(const char *address, const char *port, int flags)
{
	pd = open_device();
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	wakeups = ibv_create_comp_channel(pd->context);
	cq = wakeups ? ibv_create_cq(pd->context, 4096, NULL, wakeups, 0) : NULL;
	events = rdma_create_event_channel();
	if (!mr || !cq || !events || pipe(closed))
		die("queues");
	where = resolve(address, port, flags);
	detached(forget);
}

static struct rdma_cm_id *identifier(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	return id;
}

/* Makes the queue pair, and has it expect a byte. */
static int prepare(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16 },
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
	};

	return rdma_create_qp(id, pd, &attr) || rdma_post_recv(id, NULL, memory, 1, mr);
}

/* Nobody waits for its completion: the peer's answer says enough. */
static int say(struct rdma_cm_id *id)
{
	return rdma_post_send(id, NULL, memory, 1, mr, IBV_SEND_INLINE);
}

static int sleep_until_completion(void)
{
	struct pollfd fd = { .fd = wakeups->fd, .events = POLLIN };
	struct ibv_cq *which;
	void *context;

	if (poll(&fd, 1, SILENCE_MILLIS) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (ibv_get_cq_event(wakeups, &which, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(which, 1);
	return 0;
}

/* Waits for the byte. Requests of connections that were closed before may be flushed meanwhile. */
static int hear(struct rdma_cm_id *id)
{
	uint64_t start = now();
	struct ibv_wc wc[BATCH];
	int armed = 0;

	for (unsigned int polls = 0;; polls++) {
		int n = ibv_poll_cq(cq, BATCH, wc);

		for (int i = 0; i < n; i++)
			if (wc[i].qp_num == id->qp->qp_num) { /* of its requests the receive alone tells of success */
				if (!wc[i].status)
					return 0;
				errno = EIO;
				return -1;
			}
		if (n > 0 || polls % 32 || now() - start < IDLE_NANOS)
			continue;
		if (armed && sleep_until_completion())
			return -1;
		if (!armed && ibv_req_notify_cq(cq, 0))
			die("ibv_req_notify_cq");
		armed = !armed; /* and one more look */
	}
}

/* ---- the server ---- */

static int serve(struct rdma_cm_id *id)
{
	return prepare(id) || rdma_accept(id, NULL) || hear(id) || say(id);
}

static void *serving(void *unused)
{
	struct rdma_cm_id *listener = identifier();

	(void)unused;
	if (rdma_bind_addr(listener, where->ai_src_addr) || rdma_listen(listener, 128))
		die("rdma_listen");
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;
		enum rdma_cm_event_type what;

		if (rdma_get_cm_event(events, &event))
			die("rdma_get_cm_event");
		id = event->id;
		what = event->event;
		rdma_ack_cm_event(event);
		if (what == RDMA_CM_EVENT_CONNECT_REQUEST && serve(id))
			perror("serving"); /* the client gives it up, or has */
		else if (what == RDMA_CM_EVENT_DISCONNECTED || what == RDMA_CM_EVENT_CONNECT_ERROR)
			leave(id);
	}
	return NULL;
}

/* ---- the client ---- */

/* Waits until that is said of the connection. What is said of closed ones is for nobody. */
static int await(struct rdma_cm_id *id, enum rdma_cm_event_type wanted)
{
	for (;;) {
		struct rdma_cm_event *event;
		int ours, rc;

		if (rdma_get_cm_event(events, &event))
			die("rdma_get_cm_event");
		ours = event->id == id;
		rc = event->event == wanted ? 0 : -1;
		if (ours && rc) {
			fprintf(stderr, "%s, status %d\n", rdma_event_str(event->event), event->status);
			errno = ECONNABORTED;
		}
		rdma_ack_cm_event(event);
		if (ours)
			return rc;
	}
}

/* The queue pair is made while the kernel looks for the route. */
static int connected(struct rdma_cm_id *id)
{
	return rdma_resolve_addr(id, NULL, where->ai_dst_addr, RESOLVE_MILLIS) ||
	       await(id, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id, RESOLVE_MILLIS) || prepare(id) ||
	       await(id, RDMA_CM_EVENT_ROUTE_RESOLVED) || rdma_connect(id, NULL) ||
	       await(id, RDMA_CM_EVENT_ESTABLISHED);
}

static int touch(int count)
{
	uint64_t start = now();

	for (int i = 0; i < count; i++) {
		struct rdma_cm_id *id = identifier();
		int failed = connected(id) || say(id) || hear(id);

		leave(id);
		if (failed)
			return -1;
	}
	printf("ok seconds=%.6f\n", (double)(now() - start) / 1e9);
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
		detached(serving);
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
