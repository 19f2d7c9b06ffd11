/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A peer on plain verbs that keeps no rule by itself: a queue pair that is moved by hand, a grant table, a ring, and
 * the 40 bytes that the two ends of an rsocket tell each other.
 */
#ifndef HOSTILE_PEER_H
#define HOSTILE_PEER_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

enum {
	RING = 64 * 1024, /* where it begins in the memory; the table is at 0 */
	HALF = 64 * 1024,
	SCRATCH = RING + 2 * HALF, /* what is on its way out */
	SCRATCH_BYTES = 64 * 1024,
	MEMORY = SCRATCH + SCRATCH_BYTES,
	ENTRIES = 2,
	RECEIVES = 384,
	SENDS = 256,
	SAID = 40, /* bytes of connection data */
};

/* What the other end has said of itself, and how much of it was used. */
struct said {
	uint16_t credits;
	uint64_t table, ring;
	uint32_t table_key, entries, ring_key, ring_bytes;
};

struct peer {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener, *id;
	struct ibv_pd *pd;
	struct ibv_cq *sends, *receives;
	struct ibv_qp *qp;
	uint8_t *memory;
	struct ibv_mr *table, *ring, *scratch;
	struct said said;
	uint64_t at; /* where the next byte of data goes */
	uint32_t at_key, left;
	unsigned next_taken, next_given; /* entries of our table and of theirs */
	int outstanding, status; /* sends under way, and the first bad status */
	const char *over; /* the event that ended the connection, or NULL */
};

_Noreturn void die(const char *what);
int64_t now_ms(void);

void peer_resolve(struct peer *p, const char *address, const char *port);
void peer_listen(struct peer *p, const char *address, const char *port);
/* Memory, queues and the queue pair, for id. */
void peer_prepare(struct peer *p);
/* The connection data of a peer that keeps the rules. */
void peer_say(const struct peer *p, uint8_t data[SAID]);
void peer_request(struct peer *p, const void *data, size_t length);
void peer_learn(struct peer *p, const void *data);
void peer_to_rts(struct peer *p);
void peer_accept(struct peer *p, const void *data, size_t length);
/*
 * The next event, its type in *type; its private data stays good until the next call. NULL when there is none in time.
 */
struct rdma_cm_event *peer_event(struct peer *p, int milliseconds);
struct rdma_cm_event *peer_expect(struct peer *p, enum rdma_cm_event_type type);
/* Whether the connection is over, for which it waits so long. */
int peer_over(struct peer *p, int milliseconds);

/* Posts one request with length bytes of the scratch memory. Not more than SENDS may be outstanding. */
void peer_post(struct peer *p, enum ibv_wr_opcode opcode, uint32_t imm, uint64_t address, uint32_t key, size_t length);
/* Waits until at most so many are outstanding or the connection is over; whether all went well, in time. */
int peer_drain(struct peer *p, int outstanding, int64_t deadline);
/* Data in the order of the grants. */
size_t peer_room(struct peer *p);
void peer_data(struct peer *p, size_t length);
void peer_grant(struct peer *p, uint64_t address, uint32_t key, uint32_t length);

#endif
