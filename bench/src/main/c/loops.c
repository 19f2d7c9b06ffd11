/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What many closed loops cost the device, and nothing around it: all connections of a process in one thread and in one
 * completion queue, messages of 64 bytes by SEND. A selector on top of it can hardly do more. Does what PingKeys.java
 * and EchoKeys.java do.
 *
 *   loops server ADDRESS PORT
 *   loops client ADDRESS PORT CONNECTIONS ACTIVE     reads "connect" and "rtt MILLISECONDS"
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"

enum {
	MESSAGE = 64,
	DEPTH = 4,             /* receives of a connection, each with a place of its own */
	SIGNAL_EVERY = 8,      /* sends */
	BATCH = 16,            /* completions at a time */
	MOST_SAMPLES = 1 << 20,
};

struct connection {
	struct rdma_cm_id *id;
	char in[DEPTH][MESSAGE];
	struct ibv_mr *mr;
	unsigned int next, sends;
	uint64_t sent, number;
	long echoes;
};

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;
static struct rdma_addrinfo *where;
static uint32_t samples[MOST_SAMPLES];
static long count;

static void setup(const char *address, const char *port, int flags)
{
	pd = open_device();
	channel = ibv_create_comp_channel(pd->context);
	cq = channel ? ibv_create_cq(pd->context, 4096, NULL, channel, 0) : NULL;
	if (!cq)
		die("queues");
	where = resolve(address, port, flags);
}

static struct rdma_cm_id *endpoint(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2 * SIGNAL_EVERY, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = MESSAGE },
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
	};
	struct rdma_cm_id *id;

	if (rdma_create_ep(&id, where, pd, &attr))
		die("rdma_create_ep");
	return id;
}

static void expect(struct connection *c, unsigned int place)
{
	struct ibv_sge sge = { (uintptr_t)c->in[place], MESSAGE, c->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)c, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(c->id->qp, &wr, &bad))
		die("ibv_post_recv");
}

static void say(struct connection *c, const void *message)
{
	struct ibv_sge sge = { (uintptr_t)message, MESSAGE, 0 };
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)c, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE | (++c->sends % SIGNAL_EVERY == 0 ? IBV_SEND_SIGNALED : 0),
	}, *bad;

	if (ibv_post_send(c->id->qp, &wr, &bad))
		die("ibv_post_send");
}

static struct connection *prepared(struct rdma_cm_id *id)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		die("memory");
	c->id = id;
	c->mr = ibv_reg_mr(pd, c->in, sizeof(c->in), IBV_ACCESS_LOCAL_WRITE);
	if (!c->mr)
		die("ibv_reg_mr");
	for (unsigned int i = 0; i < DEPTH; i++)
		expect(c, i);
	return c;
}

static void sleep_until_event(void)
{
	struct ibv_cq *which;
	void *context;

	if (ibv_get_cq_event(channel, &which, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(which, 1);
}

/* Takes what has come, and if nothing comes for long, sleeps first. */
static int completions(struct ibv_wc *wc)
{
	uint64_t start = now();
	int n, armed = 0;

	while (!(n = ibv_poll_cq(cq, BATCH, wc))) {
		if (armed) {
			sleep_until_event();
			armed = 0;
		} else if (now() - start > IDLE_NANOS) {
			if (ibv_req_notify_cq(cq, 0))
				die("ibv_req_notify_cq");
			armed = 1; /* and one more look */
		}
	}
	if (n < 0)
		die("ibv_poll_cq");
	return n;
}

/* The message that a completion stands for, or null. Its place is expected to be filled again once the next came. */
static char *heard(const struct ibv_wc *wc, struct connection *c)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s\n", ibv_wc_status_str(wc->status));
		exit(1);
	}
	return wc->opcode == IBV_WC_RECV ? c->in[c->next] : NULL;
}

static void took(struct connection *c)
{
	expect(c, c->next);
	c->next = (c->next + 1) % DEPTH;
}

static void *echo(void *unused)
{
	struct ibv_wc wc[BATCH];

	(void)unused;
	for (;;) {
		int n = completions(wc);

		for (int i = 0; i < n; i++) {
			struct connection *c = (struct connection *)(uintptr_t)wc[i].wr_id;
			char *message = heard(&wc[i], c);

			if (message) {
				say(c, message);
				took(c);
			}
		}
	}
	return NULL;
}

static void *listening(void *unused)
{
	struct rdma_cm_id *listener = endpoint(), *id;

	(void)unused;
	if (rdma_listen(listener, 128))
		die("rdma_listen");
	puts("ready");
	fflush(stdout);
	for (;;)
		if (rdma_get_request(listener, &id) || !prepared(id) || rdma_accept(id, NULL))
			die("accepting");
	return NULL;
}

static void ping(struct connection *c)
{
	uint64_t message[MESSAGE / sizeof(uint64_t)] = { ++c->number };

	c->sent = now();
	say(c, message);
}

static int compare_samples(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

static void measure(struct connection **all, int connections, int active, long millis)
{
	uint64_t end = now() + (uint64_t)millis * 1000000;
	struct ibv_wc wc[BATCH];
	long echoes[active];
	int outstanding = active;

	count = 0;
	for (int i = 0; i < active; i++) {
		struct connection *c = all[(long)i * connections / active];

		c->echoes = 0;
		ping(c);
	}
	while (outstanding > 0) {
		int n = completions(wc);

		for (int i = 0; i < n; i++) {
			struct connection *c = (struct connection *)(uintptr_t)wc[i].wr_id;
			char *message = heard(&wc[i], c);
			uint64_t at = now();

			if (!message)
				continue;
			if (memcmp(message, &c->number, sizeof(c->number))) {
				puts("failed: something else came back");
				exit(1);
			}
			took(c);
			samples[count++ % MOST_SAMPLES] = (uint32_t)(at - c->sent);
			c->echoes++;
			if (at < end)
				ping(c);
			else
				outstanding--;
		}
	}
	for (int i = 0; i < active; i++)
		echoes[i] = all[(long)i * connections / active]->echoes;
	qsort(echoes, (size_t)active, sizeof(*echoes), compare_longs);

	size_t kept = count < MOST_SAMPLES ? (size_t)count : MOST_SAMPLES;

	qsort(samples, kept, sizeof(*samples), compare_samples);
	printf("ok p50=%.1f p99=%.1f count=%ld slowest=%ld median=%ld fastest=%ld\n", samples[kept / 2] / 1e3,
	       samples[kept * 99 / 100] / 1e3, count, echoes[0], echoes[active / 2], echoes[active - 1]);
}

static void detached(void *(*work)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		die("pthread_create");
	pthread_detach(thread);
}

int main(int argc, char **argv)
{
	int server = argc == 4 && !strcmp(argv[1], "server");

	if (!server && argc != 6)
		return 2;
	setup(argv[2], argv[3], server ? RAI_PASSIVE : 0);
	if (server) {
		detached(echo);
		detached(listening);
		while (getchar() != EOF)
			;
		return 0;
	}

	int connections = atoi(argv[4]), active = atoi(argv[5]);
	struct connection **all = calloc((size_t)connections, sizeof(*all));
	char line[256];
	long millis;

	if (!all || active < 1 || active > connections)
		return 2;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t start = now();

		if (!strcmp(line, "connect\n")) {
			for (int i = 0; i < connections; i++) {
				all[i] = prepared(endpoint());
				if (rdma_connect(all[i]->id, NULL))
					die("rdma_connect");
			}
			printf("ok seconds=%.1f\n", (double)(now() - start) / 1e9);
		} else if (sscanf(line, "rtt %ld", &millis) == 1) {
			measure(all, connections, active, millis);
		}
		fflush(stdout);
	}
	return 0;
}
