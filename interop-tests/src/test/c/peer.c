/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Noreturn void die(const char *what)
{
	printf("failed %s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- the connection manager ---- */

struct rdma_cm_event *peer_event(struct peer *p, int milliseconds)
{
	static struct rdma_cm_event *last;
	struct pollfd fd = { .fd = p->events->fd, .events = POLLIN };

	if (last)
		rdma_ack_cm_event(last);
	last = NULL;
	if (poll(&fd, 1, milliseconds) == 1 && rdma_get_cm_event(p->events, &last))
		die("rdma_get_cm_event");
	return last;
}

struct rdma_cm_event *peer_expect(struct peer *p, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = peer_event(p, 60000);

	if (!event || event->event != type) {
		printf("failed awaiting %s: %s, status %d\n", rdma_event_str(type),
		       event ? rdma_event_str(event->event) : "nothing", event ? event->status : 0);
		fflush(stdout);
		exit(1);
	}
	return event;
}

int peer_over(struct peer *p, int milliseconds)
{
	struct rdma_cm_event *event;

	if (!p->over && (event = peer_event(p, milliseconds)))
		p->over = rdma_event_str(event->event);
	return p->over != NULL;
}

static struct addrinfo *look_up(const char *address, const char *port)
{
	struct addrinfo *found;

	if (getaddrinfo(address, port, NULL, &found))
		die("getaddrinfo");
	return found;
}

static void create_id(struct peer *p, struct rdma_cm_id **id)
{
	if (!p->events && !(p->events = rdma_create_event_channel()))
		die("rdma_create_event_channel");
	if (rdma_create_id(p->events, id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
}

void peer_resolve(struct peer *p, const char *address, const char *port)
{
	struct addrinfo *to = look_up(address, port);

	create_id(p, &p->id);
	if (rdma_resolve_addr(p->id, NULL, to->ai_addr, 2000))
		die("rdma_resolve_addr");
	peer_expect(p, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(p->id, 2000))
		die("rdma_resolve_route");
	peer_expect(p, RDMA_CM_EVENT_ROUTE_RESOLVED);
	freeaddrinfo(to);
}

void peer_listen(struct peer *p, const char *address, const char *port)
{
	struct addrinfo *at = look_up(address, port);

	create_id(p, &p->listener);
	if (rdma_bind_addr(p->listener, at->ai_addr) || rdma_listen(p->listener, 16))
		die("rdma_listen");
	freeaddrinfo(at);
}

static void to_state(struct peer *p, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(p->id, &attr, &mask))
		die("rdma_init_qp_attr");
	/* so that nothing but the other end refuses what is tried */
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = 1;
	if ((errno = ibv_modify_qp(p->qp, &attr, mask)))
		die("ibv_modify_qp");
}

static struct ibv_mr *region(struct peer *p, size_t at, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, p->memory + at, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("ibv_reg_mr");
	return mr;
}

static void post_receives(struct peer *p, int count)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	while (count-- > 0)
		if ((errno = ibv_post_recv(p->qp, &wr, &bad)))
			die("ibv_post_recv");
}

void peer_prepare(struct peer *p)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};

	p->pd = ibv_alloc_pd(p->id->verbs);
	p->sends = ibv_create_cq(p->id->verbs, SENDS, NULL, NULL, 0);
	p->receives = ibv_create_cq(p->id->verbs, RECEIVES, NULL, NULL, 0);
	if (!p->pd || !p->sends || !p->receives || posix_memalign((void **)&p->memory, 4096, MEMORY))
		die("allocating");
	memset(p->memory, 0, MEMORY);
	for (size_t i = 0; i < SCRATCH_BYTES; i++)
		p->memory[SCRATCH + i] = (uint8_t)(i * 31);
	p->table = region(p, 0, ENTRIES * 16);
	p->ring = region(p, RING, 2 * HALF);
	p->scratch = region(p, SCRATCH, SCRATCH_BYTES);
	attr.send_cq = p->sends;
	attr.recv_cq = p->receives;
	if (!(p->qp = ibv_create_qp(p->pd, &attr)))
		die("ibv_create_qp");
	to_state(p, IBV_QPS_INIT);
	post_receives(p, RECEIVES);
	p->next_taken = 1;
	p->next_given = 1;
}

void peer_to_rts(struct peer *p)
{
	to_state(p, IBV_QPS_INIT); /* again: before there was a connection, nobody was to write */
	to_state(p, IBV_QPS_RTR);
	to_state(p, IBV_QPS_RTS);
}

/* ---- what both say of themselves: see rs_conn_data ---- */

static void put(uint8_t *to, int bytes, uint64_t value)
{
	while (bytes-- > 0) {
		to[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *from++;
	return value;
}

void peer_say(const struct peer *p, uint8_t data[SAID])
{
	memset(data, 0, SAID);
	put(data, 1, 1);
	put(data + 1, 1, __BYTE_ORDER == __BIG_ENDIAN ? 3 : 2);
	put(data + 2, 2, RECEIVES);
	put(data + 8, 8, (uintptr_t)p->memory);
	put(data + 16, 4, p->table->rkey);
	put(data + 20, 4, ENTRIES);
	put(data + 24, 8, (uintptr_t)p->memory + RING);
	put(data + 32, 4, p->ring->rkey);
	put(data + 36, 4, HALF);
}

void peer_learn(struct peer *p, const void *private_data)
{
	const uint8_t *data = private_data;
	struct said *s = &p->said;

	s->credits = (uint16_t)get(data + 2, 2);
	s->table = get(data + 8, 8);
	s->table_key = (uint32_t)get(data + 16, 4);
	s->entries = (uint32_t)get(data + 20, 4);
	s->ring = p->at = get(data + 24, 8);
	s->ring_key = p->at_key = (uint32_t)get(data + 32, 4);
	s->ring_bytes = p->left = (uint32_t)get(data + 36, 4);
}

static struct rdma_conn_param param(struct peer *p, const void *data, size_t length)
{
	return (struct rdma_conn_param){
		.private_data = data, .private_data_len = (uint8_t)length, .initiator_depth = 1, .responder_resources = 1,
		.flow_control = 1, .retry_count = 7, .rnr_retry_count = 7, .qp_num = p->qp ? p->qp->qp_num : 1,
	};
}

void peer_request(struct peer *p, const void *data, size_t length)
{
	struct rdma_conn_param asked = param(p, data, length);

	if (rdma_connect(p->id, &asked))
		die("rdma_connect");
}

void peer_accept(struct peer *p, const void *data, size_t length)
{
	struct rdma_conn_param answer = param(p, data, length);

	answer.initiator_depth = answer.responder_resources = 0; /* which is what our end asks for */
	if (rdma_accept(p->id, &answer))
		die("rdma_accept");
}

/* ---- messages ---- */

void peer_post(struct peer *p, enum ibv_wr_opcode opcode, uint32_t imm, uint64_t address, uint32_t key, size_t length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)p->memory + SCRATCH, .length = (uint32_t)length, .lkey = p->scratch->lkey };
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = length > 0, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = key;
	else
		wr.imm_data = htobe32(imm);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = key;
	}
	if ((errno = ibv_post_send(p->qp, &wr, &bad)))
		die("ibv_post_send");
	p->outstanding++;
}

int peer_drain(struct peer *p, int outstanding, int64_t deadline)
{
	struct ibv_wc wc;

	while (p->outstanding > outstanding) {
		int n = ibv_poll_cq(p->sends, 1, &wc);

		if (n < 0)
			die("ibv_poll_cq");
		if (n == 0) {
			/* what its device does not answer is repeated for ever: soft-RoCE takes 7 retries for that */
			if (peer_over(p, 1) || now_ms() >= deadline)
				return 0;
			continue;
		}
		p->outstanding--;
		if (wc.status && !p->status)
			p->status = wc.status;
	}
	return !p->status;
}

size_t peer_room(struct peer *p)
{
	uint8_t *entry = p->memory + 16 * p->next_taken;
	uint32_t length;

	if (p->left == 0) {
		__atomic_load((uint32_t *)(entry + 12), &length, __ATOMIC_ACQUIRE); /* the rest was written before it */
		if (length > 0) {
			memcpy(&p->at, entry, 8);
			memcpy(&p->at_key, entry + 8, 4);
			p->left = length;
			memset(entry, 0, 16);
			p->next_taken = (p->next_taken + 1) % ENTRIES;
		}
	}
	return p->left;
}

void peer_data(struct peer *p, size_t length)
{
	peer_post(p, IBV_WR_RDMA_WRITE_WITH_IMM, (uint32_t)length, p->at, p->at_key, length);
	p->at += length;
	p->left -= (uint32_t)length;
}

void peer_grant(struct peer *p, uint64_t address, uint32_t key, uint32_t length)
{
	static unsigned slot; /* of the scratch memory: the last one may not have left yet */
	uint8_t *entry = p->memory + SCRATCH + SCRATCH_BYTES - 16 * (1 + slot++ % SENDS);
	struct ibv_sge sge = { .addr = (uintptr_t)entry, .length = 16, .lkey = p->scratch->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(UINT32_C(0x80000000) | RECEIVES),
		.wr.rdma = { .remote_addr = p->said.table + 16 * p->next_given, .rkey = p->said.table_key },
	};
	struct ibv_send_wr *bad;

	memcpy(entry, &address, 8);
	memcpy(entry + 8, &key, 4);
	memcpy(entry + 12, &length, 4);
	p->next_given = (p->next_given + 1) % p->said.entries;
	if ((errno = ibv_post_send(p->qp, &wr, &bad)))
		die("ibv_post_send");
	p->outstanding++;
}
