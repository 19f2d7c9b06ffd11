/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of bare verbs begin with.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

enum {
	IDLE_NANOS = 500000, /* who polls so long for nothing sleeps: other programs are measured then */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Nanoseconds of a clock that never goes back. */
static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A protection domain of the first device. */
static struct ibv_pd *open_device(void)
{
	struct ibv_context **devices = rdma_get_devices(NULL);
	struct ibv_pd *pd;

	if (!devices || !devices[0])
		die("no RDMA device");
	pd = ibv_alloc_pd(devices[0]);
	if (!pd)
		die("ibv_alloc_pd");
	return pd;
}

/* flags: RAI_PASSIVE for a server, else 0. */
static struct rdma_addrinfo *resolve(const char *address, const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *where;

	if (rdma_getaddrinfo(address, port, &hints, &where))
		die("rdma_getaddrinfo");
	return where;
}

#endif
