/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A completion queue with room for a few completions beside it. A waiting thread polls into that room, so that one call
 * can look at many queues and leave what it found where the next poll of that queue, by any thread, takes it first and
 * in order.
 */
#ifndef JRSOCKET_CQ_H
#define JRSOCKET_CQ_H

#include <infiniband/verbs.h>

/* Enough for the message that ends a wait; what follows it stays in the queue. */
#define JRS_STASH 2

struct jrs_cq {
	struct ibv_cq *cq;
	int busy;    /* a lock, held for the time of one ibv_poll_cq */
	int stashed; /* guarded by busy */
	struct ibv_wc stash[JRS_STASH];
};

#endif
