/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An rsocket peer that breaks the rules as it is told: Hostile.java says what to do, a line each on standard input, and
 * is answered with a line each.
 *
 *   hostile connect ADDRESS PORT [LIE]   a client; "connected", or "refused STATUS"
 *   hostile mute ADDRESS PORT            one that never says that it has the server's answer; "answered"
 *   hostile half ADDRESS PORT COUNT      so many that ask, and leave it at that; "asked COUNT"
 *   hostile listen ADDRESS PORT [LIE]    a server; "listening", and later "connected" or "refused"
 *
 * LIE is what it says of itself, see lies below; "truth" is the default. Then:
 *
 *   data COUNT                           so many bytes, as a peer would; "status STATUS"
 *   fill                                 data until nothing more is granted; "filled BYTES"
 *   grant ADDRESS KEY LENGTH             "status STATUS"
 *   post OPCODE IMM ADDRESS KEY LENGTH [COUNT]   COUNT requests; "status STATUS" of the first that fails, or 0
 *   flood OPCODE IMM ADDRESS KEY LENGTH SECONDS  again and again until one fails;
 *                                        "sent COUNT in MILLISECONDS status STATUS"
 *   grants SECONDS                       the same with grants of nothing
 *   echo COUNT                           takes so many bytes and sends them back; "status STATUS"
 *   where                                "RING RING_KEY TABLE TABLE_KEY" of the other end
 *   establish                            ends being mute; "connected"
 *   answers                              of half: "answered COUNT refused COUNT"
 *   end                                  waits until the other end is gone; "over" and the event
 *
 * ADDRESS is a number, or ring, table (the other end's), here (where its next byte goes) or mine, with +N or -N; KEY is
 * a number, or ring, table, mine. STATUS is that of a work completion; where there is none, the answer is "over" if the
 * other end is gone, else "pending", after a minute.
 */
#include "peer.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 60000 };

static struct peer peer;
static struct peer *halves; /* those that only ask, each with an event channel of its own */
static int halves_count;

static void answer(const char *text)
{
	puts(text);
	fflush(stdout);
}

/* ---- lies: bytes of the connection data, in network order ---- */

static const struct {
	const char *name;
	int at, bytes;
	uint64_t value;
} lies[] = {
	{ "truth", 0, 1, 1 },
	{ "version-0", 0, 1, 0 },
	{ "version-2", 0, 1, 2 },
	{ "version-255", 0, 1, 255 },
	{ "unknown-flags", 1, 1, 0xfe },
	{ "no-credits", 2, 2, 0 },
	{ "all-credits", 2, 2, 0xffff },
	{ "table-at-the-end", 8, 8, UINT64_MAX - 15 },
	{ "table-key-of-nobody", 16, 4, 0xdeadbeef },
	{ "no-entries", 20, 4, 0 },
	{ "one-entry", 20, 4, 1 },
	{ "1025-entries", 20, 4, 1025 },
	{ "negative-entries", 20, 4, UINT32_MAX },
	{ "ring-past-the-end", 24, 8, UINT64_MAX - 100 },
	{ "ring-key-of-nobody", 32, 4, 0xdeadbeef },
	{ "no-ring", 36, 4, 0 },
	{ "ring-of-2-gib", 36, 4, UINT32_C(1) << 31 },
	{ "ring-of-4-gib", 36, 4, UINT32_MAX },
};

/* What this peer says of itself; data has room for all that a request can carry. Returns its length. */
static size_t tell(const char *lie, uint8_t data[56])
{
	uint8_t *base = peer.memory + RING;

	memset(data, 0xff, 56);
	if (!strcmp(lie, "noise"))
		return 56;
	peer_say(&peer, data);
	if (!strcmp(lie, "nothing"))
		return 0;
	if (!strcmp(lie, "half-of-it"))
		return SAID / 2;
	if (!strcmp(lie, "odd-ring")) {
		for (int i = 0; i < 8; i++)
			data[31 - i] = (uint8_t)(((uintptr_t)base + 1) >> 8 * i);
		return SAID;
	}
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		if (strcmp(lie, lies[i].name))
			continue;
		for (int j = 0; j < lies[i].bytes; j++)
			data[lies[i].at + j] = (uint8_t)(lies[i].value >> 8 * (lies[i].bytes - 1 - j));
		return SAID;
	}
	printf("failed no lie %s\n", lie);
	exit(2);
}

/* ---- what it does ---- */

static uint64_t address(const char *text)
{
	const struct { const char *name; uint64_t at; } names[] = {
		{ "ring", peer.said.ring }, { "table", peer.said.table }, { "here", peer.at },
		{ "mine", (uintptr_t)peer.memory + RING },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i].name);

		if (!strncmp(text, names[i].name, length))
			return names[i].at + (uint64_t)strtoll(text + length, NULL, 0);
	}
	return strtoull(text, NULL, 0);
}

static uint32_t key(const char *text)
{
	if (!strcmp(text, "ring"))
		return peer.at_key;
	if (!strcmp(text, "table"))
		return peer.said.table_key;
	if (!strcmp(text, "mine"))
		return peer.ring->rkey;
	return (uint32_t)strtoul(text, NULL, 0);
}

static enum ibv_wr_opcode opcode(const char *text)
{
	static const struct { const char *name; enum ibv_wr_opcode opcode; } names[] = {
		{ "write", IBV_WR_RDMA_WRITE }, { "imm", IBV_WR_RDMA_WRITE_WITH_IMM }, { "send", IBV_WR_SEND },
		{ "send-imm", IBV_WR_SEND_WITH_IMM }, { "send-inv", IBV_WR_SEND_WITH_INV }, { "read", IBV_WR_RDMA_READ },
		{ "atomic", IBV_WR_ATOMIC_FETCH_AND_ADD },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i].name))
			return names[i].opcode;
	printf("failed no opcode %s\n", text);
	exit(2);
}

static void status(void)
{
	int all = peer_drain(&peer, 0, now_ms() + PATIENCE_MS);

	if (all || peer.status)
		printf("status %d\n", peer.status);
	else
		puts(peer.over ? "over" : "pending");
	fflush(stdout);
}

static void post(char words[8][40], int count)
{
	enum ibv_wr_opcode op = opcode(words[1]);
	int64_t deadline = now_ms() + PATIENCE_MS;

	for (int i = 0; i < count && peer_drain(&peer, SENDS / 2, deadline); i++)
		peer_post(&peer, op, (uint32_t)strtoul(words[2], NULL, 0), address(words[3]), key(words[4]),
			  strtoul(words[5], NULL, 0));
	status();
}

static void flood(char words[8][40], int seconds)
{
	int64_t start = now_ms(), end = start + 1000 * (int64_t)seconds;
	long sent = 0;

	for (; peer_drain(&peer, SENDS / 2, end) && now_ms() < end; sent++) {
		if (!strcmp(words[0], "grants"))
			peer_grant(&peer, 0, 0, 0);
		else
			peer_post(&peer, opcode(words[1]), (uint32_t)strtoul(words[2], NULL, 0), address(words[3]), key(words[4]),
				  strtoul(words[5], NULL, 0));
	}
	printf("sent %ld in %lld status %d\n", sent, (long long)(now_ms() - start), peer.status);
	fflush(stdout);
}

static void fill(void)
{
	long filled = 0;
	size_t room;

	while ((room = peer_room(&peer)) > 0 && peer_drain(&peer, 1, now_ms() + PATIENCE_MS)) {
		size_t n = room < 4096 ? room : 4096;

		peer_data(&peer, n);
		filled += (long)n;
	}
	peer_drain(&peer, 0, now_ms() + PATIENCE_MS);
	printf("filled %ld\n", filled);
	fflush(stdout);
}

static void echo(size_t count, size_t odd)
{
	static size_t taken; /* of the ring */
	int64_t deadline = now_ms() + PATIENCE_MS;
	size_t got = 0;
	struct ibv_wc wc;

	while (got < count && now_ms() < deadline) {
		if (ibv_poll_cq(peer.receives, 1, &wc) == 1 && !wc.status && be32toh(wc.imm_data) >> 29 == 0)
			got += be32toh(wc.imm_data);
	}
	memcpy(peer.memory + SCRATCH, peer.memory + RING + odd + taken, count);
	taken += count;
	peer_room(&peer);
	peer_data(&peer, count);
	status();
}

static void await_end(void)
{
	if (peer_over(&peer, PATIENCE_MS))
		printf("over %s\n", peer.over);
	else
		puts("pending");
	fflush(stdout);
}

static void count_answers(void)
{
	int answered = 0, refused = 0;

	for (int i = 0; i < halves_count; i++) {
		struct rdma_cm_event *event = peer_event(&halves[i], PATIENCE_MS);

		answered += event && event->event == RDMA_CM_EVENT_CONNECT_RESPONSE;
		refused += event && event->event == RDMA_CM_EVENT_REJECTED;
	}
	printf("answered %d refused %d\n", answered, refused);
	fflush(stdout);
}

static void obey(const char *lie)
{
	char line[256], words[8][40];

	while (fgets(line, sizeof(line), stdin)) {
		int n = sscanf(line, "%39s %39s %39s %39s %39s %39s %39s", words[0], words[1], words[2], words[3], words[4],
			       words[5], words[6]);

		if (n == 2 && !strcmp(words[0], "data")) {
			peer_room(&peer);
			peer_data(&peer, strtoul(words[1], NULL, 0));
			status();
		} else if (n == 1 && !strcmp(words[0], "fill")) {
			fill();
		} else if (n == 4 && !strcmp(words[0], "grant")) {
			peer_grant(&peer, address(words[1]), key(words[2]), (uint32_t)strtoul(words[3], NULL, 0));
			status();
		} else if ((n == 6 || n == 7) && !strcmp(words[0], "post")) {
			post(words, n == 6 ? 1 : atoi(words[6]));
		} else if (n == 7 && !strcmp(words[0], "flood")) {
			flood(words, atoi(words[6]));
		} else if (n == 2 && !strcmp(words[0], "grants")) {
			flood(words, atoi(words[1]));
		} else if (n == 2 && !strcmp(words[0], "echo")) {
			echo(strtoul(words[1], NULL, 0), !strcmp(lie, "odd-ring"));
		} else if (n == 1 && !strcmp(words[0], "where")) {
			printf("%llu %u %llu %u\n", (unsigned long long)peer.said.ring, peer.said.ring_key,
			       (unsigned long long)peer.said.table, peer.said.table_key);
			fflush(stdout);
		} else if (n == 1 && !strcmp(words[0], "establish")) {
			if (rdma_establish(peer.id))
				die("rdma_establish");
			answer("connected");
		} else if (n == 1 && !strcmp(words[0], "answers")) {
			count_answers();
		} else if (n == 1 && !strcmp(words[0], "end")) {
			await_end();
		} else {
			answer("failed: no such command");
		}
	}
}

/* ---- how it begins ---- */

static void client(const char *to, const char *port, const char *lie, int mute)
{
	struct rdma_cm_event *event;
	uint8_t data[56];

	peer_resolve(&peer, to, port);
	peer_prepare(&peer);
	peer_request(&peer, data, tell(lie, data));
	event = peer_event(&peer, PATIENCE_MS);
	if (event && event->event == RDMA_CM_EVENT_REJECTED) {
		printf("refused %d\n", event->status);
		fflush(stdout);
		return;
	}
	if (!event || event->event != RDMA_CM_EVENT_CONNECT_RESPONSE)
		die(event ? rdma_event_str(event->event) : "no answer");
	peer_learn(&peer, event->param.conn.private_data);
	peer_to_rts(&peer);
	if (!mute && rdma_establish(peer.id))
		die("rdma_establish");
	answer(mute ? "answered" : "connected");
}

static void server(const char *at, const char *port, const char *lie)
{
	struct rdma_cm_event *event;
	uint8_t data[148];

	peer_listen(&peer, at, port);
	answer("listening");
	event = peer_expect(&peer, RDMA_CM_EVENT_CONNECT_REQUEST);
	peer.id = event->id;
	peer_learn(&peer, event->param.conn.private_data);
	if (!strcmp(lie, "refusal")) {
		memset(data, 0xff, sizeof(data));
		if (rdma_reject(peer.id, data, sizeof(data)))
			die("rdma_reject");
		answer("refused");
		return;
	}
	peer_prepare(&peer);
	peer_to_rts(&peer);
	peer_accept(&peer, data, tell(lie, data));
	event = peer_event(&peer, PATIENCE_MS);
	if (event && event->event == RDMA_CM_EVENT_ESTABLISHED)
		answer("connected");
	else
		printf("refused %s\n", event ? rdma_event_str(event->event) : "by silence");
	fflush(stdout);
}

static void half(const char *to, const char *port, int count)
{
	uint8_t data[SAID] = { 1, 2, 1, 128 }; /* and a table and a ring at 0 */

	data[23] = ENTRIES;
	halves = calloc((size_t)count, sizeof(*halves));
	if (!halves)
		die("calloc");
	for (; halves_count < count; halves_count++) {
		peer_resolve(&halves[halves_count], to, port);
		peer_request(&halves[halves_count], data, sizeof(data));
	}
	printf("asked %d\n", count);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *lie = argc > 4 ? argv[4] : "truth";

	if (argc < 4) {
		answer("failed usage: see the head of hostile.c");
		return 2;
	}
	if (!strcmp(argv[1], "listen"))
		server(argv[2], argv[3], lie);
	else if (!strcmp(argv[1], "half"))
		half(argv[2], argv[3], atoi(lie));
	else
		client(argv[2], argv[3], lie, !strcmp(argv[1], "mute"));
	obey(lie);
	return 0;
}
