/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a stream costs the device if its reader has the bytes: RDMA WRITE with immediate into a ring, and a reader that
 * polls and tells now and then how much it has read; "copy": with the two copies that a socket cannot do without;
 * "lend": without them. Receives are posted many at a time, and completions taken so. ib_write_bw, whose reader sleeps
 * and never looks, is faster. A stream whose reader polls can hardly have more than this.
 *
 *   bulk server ADDRESS PORT copy|lend
 *   bulk client ADDRESS PORT copy|lend        reads "stream SIZE COUNT ..." as Client.java does
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum {
	SLOT = 64 * 1024, /* of a ring; the largest request */
	SLOTS = 16,
	TELL_EVERY = 4,   /* slots read */
	TELL_NOW = 1 << 30, /* of an immediate */
	END = 1 << 29,      /* of an immediate: of one of the application's writes */
	LENGTH = END - 1,
	SIGNAL_EVERY = 4, /* requests */
	DEPTH = 64,
	BATCH = 32, /* completions, receives, empty polls */
};

struct place { /* in the private data of connect and accept */
	uint64_t address;
	uint32_t key;
};

static struct ibv_pd *pd;
static struct rdma_addrinfo *where;
static char ring[SLOTS][SLOT] __attribute__((aligned(4096)));
static char application[16 * SLOT] __attribute__((aligned(4096)));
static volatile uint64_t slots_read; /* the writer's: the reader's device writes it */
static struct ibv_mr *ring_mr, *read_mr, *application_mr;
static int copies;

static void setup(const char *address, const char *port, int flags)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	pd = open_device();
	ring_mr = ibv_reg_mr(pd, ring, sizeof(ring), access);
	read_mr = ibv_reg_mr(pd, (void *)&slots_read, sizeof(slots_read), access);
	application_mr = ibv_reg_mr(pd, application, sizeof(application), access);
	if (!ring_mr || !read_mr || !application_mr)
		die("ibv_reg_mr");
	where = resolve(address, port, flags);
}

static struct rdma_cm_id *endpoint(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = sizeof(uint64_t) },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *id;

	if (rdma_create_ep(&id, where, pd, &attr))
		die("rdma_create_ep");
	return id;
}

/* A batch more. */
static void expect(struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr[BATCH] = { 0 }, *bad;

	for (int i = 0; i + 1 < BATCH; i++)
		wr[i].next = &wr[i + 1];
	if (ibv_post_recv(id->qp, wr, &bad))
		die("ibv_post_recv");
}

static void post(struct rdma_cm_id *id, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(id->qp, wr, &bad))
		die("ibv_post_send");
}

/* Takes completions of sends, each of which stands for SIGNAL_EVERY requests. */
static unsigned int completed(struct rdma_cm_id *id)
{
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(id->send_cq, BATCH, wc);

	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "a request failed: %s\n", ibv_wc_status_str(wc[i].status));
			exit(1);
		}
	return n < 0 ? 0 : (unsigned int)n * SIGNAL_EVERY;
}

/* Waits until there is room for one more, if it has to. */
static void make_room(struct rdma_cm_id *id, unsigned int *outstanding)
{
	while (*outstanding > DEPTH - SIGNAL_EVERY)
		*outstanding -= completed(id);
	++*outstanding;
}

/* ---- reading ---- */

static void tell(struct rdma_cm_id *id, const struct place *peer, uint64_t slots, unsigned int told)
{
	struct ibv_sge sge = { (uintptr_t)&slots, sizeof(slots), 0 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE | (told % SIGNAL_EVERY == 0 ? IBV_SEND_SIGNALED : 0),
		.wr.rdma = { peer->address, peer->key },
	};

	post(id, &wr);
}

/* Waits for messages; one poll after another while the writer writes. Returns how many there are. */
static int await(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	uint64_t start = 0;
	struct ibv_cq *which;
	void *context;
	int armed = 0, n;

	for (unsigned int polls = 1; !(n = ibv_poll_cq(id->recv_cq, BATCH, wc)); polls++) {
		if (polls % BATCH)
			continue;
		if (!start)
			start = now();
		if (now() - start < IDLE_NANOS)
			continue;
		if (!armed) {
			if (ibv_req_notify_cq(id->recv_cq, 0))
				die("ibv_req_notify_cq");
		} else {
			if (ibv_get_cq_event(id->recv_cq_channel, &which, &context))
				die("ibv_get_cq_event");
			ibv_ack_cq_events(which, 1);
		}
		armed = !armed;
	}
	if (n < 0)
		die("ibv_poll_cq");
	return n;
}

static void serve(struct rdma_cm_id *id)
{
	struct place peer, mine = { (uintptr_t)ring, ring_mr->rkey };
	struct rdma_conn_param param = { .private_data = &mine, .private_data_len = sizeof(mine), .rnr_retry_count = 7 };
	uint64_t slots = 0;
	uint32_t at = 0; /* in the application's memory */
	unsigned int told = 0, outstanding = 0;
	struct ibv_wc wc[BATCH];

	memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	for (int i = 0; i < DEPTH; i += BATCH) /* one of them is enough for all that the ring can take */
		expect(id);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	for (;;) {
		int n = await(id, wc);

		for (int i = 0; i < n; i++) {
			uint32_t imm;

			if (wc[i].status != IBV_WC_SUCCESS)
				return; /* the client is gone */
			imm = ntohl(wc[i].imm_data);
			if (copies)
				memcpy(application + at, ring[slots % SLOTS], imm & LENGTH);
			at = imm & END ? 0 : at + (imm & LENGTH);
			if (++slots % BATCH == 0)
				expect(id);
			if (slots % TELL_EVERY == 0 || imm & TELL_NOW) {
				make_room(id, &outstanding);
				tell(id, &peer, slots, ++told);
			}
		}
	}
}

/* ---- writing ---- */

struct writer {
	struct rdma_cm_id *id;
	struct place peer;
	uint64_t slots;
	unsigned int outstanding;
};

/* Polls for what the reader tells; now and then looks for an error instead. */
static void await_slots(struct writer *w, uint64_t read)
{
	for (unsigned int polls = 1; slots_read < read; polls++)
		if (polls % (1024 * BATCH) == 0)
			w->outstanding -= completed(w->id);
}

/* flags: of the immediate. */
static void send_slot(struct writer *w, const char *from, uint32_t length, uint32_t flags)
{
	struct ibv_sge sge = { (uintptr_t)from, length, application_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM };
	uint64_t slot = w->slots % SLOTS;

	if (w->slots >= SLOTS)
		await_slots(w, w->slots - SLOTS + 1);
	make_room(w->id, &w->outstanding);
	if (copies) {
		memcpy(ring[slot], from, length); /* read by the peer, so sent and acknowledged before */
		sge.addr = (uintptr_t)ring[slot];
		sge.lkey = ring_mr->lkey;
	}
	wr.wr.rdma.remote_addr = w->peer.address + slot * SLOT;
	wr.wr.rdma.rkey = w->peer.key;
	wr.imm_data = htonl(length | flags);
	wr.send_flags = ++w->slots % SIGNAL_EVERY == 0 ? IBV_SEND_SIGNALED : 0;
	post(w->id, &wr);
}

static double stream(struct writer *w, uint32_t size, long count)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (count-- > 0)
		for (uint32_t at = 0; at < size; at += SLOT) {
			uint32_t left = size - at, last = count == 0 ? END | TELL_NOW : END;

			send_slot(w, application + at, left < SLOT ? left : SLOT, left <= SLOT ? last : 0);
		}
	await_slots(w, w->slots);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
}

static void client(void)
{
	struct place mine = { (uintptr_t)&slots_read, read_mr->rkey };
	struct rdma_conn_param param = { .private_data = &mine, .private_data_len = sizeof(mine), .rnr_retry_count = 7,
					 .retry_count = 7 };
	struct writer w = { .id = endpoint() };
	char line[256];

	if (rdma_connect(w.id, &param))
		die("rdma_connect");
	memcpy(&w.peer, w.id->event->param.conn.private_data, sizeof(w.peer));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned int size;
		long count;

		if (sscanf(line, "stream %u %ld", &size, &count) == 2 && size > 0 && size <= sizeof(application))
			printf("ok seconds=%f\n", stream(&w, size, count));
		else
			printf("failed: this program knows 'stream SIZE COUNT', up to %zu bytes\n", sizeof(application));
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	int serves;

	if (argc != 5) {
		fprintf(stderr, "bulk server|client ADDRESS PORT copy|lend\n");
		return 2;
	}
	copies = !strcmp(argv[4], "copy");
	serves = !strcmp(argv[1], "server");
	setup(argv[2], argv[3], serves ? RAI_PASSIVE : 0);
	if (serves) {
		struct rdma_cm_id *listener = endpoint(), *id;

		if (rdma_listen(listener, 1))
			die("rdma_listen");
		puts("ready");
		fflush(stdout);
		if (rdma_get_request(listener, &id))
			die("rdma_get_request");
		serve(id);
	} else {
		client();
	}
	return 0;
}
