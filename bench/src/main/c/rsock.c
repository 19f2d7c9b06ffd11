/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * librdmacm's rsocket, measured as our own ends are: the same requests on the wire and the same commands on standard
 * input as Server.java and Client.java, because rstream prints no percentiles.
 *
 *   rsock server ADDRESS PORT     listens at PORT (calls block) and at PORT + 1 (calls do not, and are repeated)
 *   rsock client ADDRESS PORT
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rsocket.h>

struct request {
	char what;
	uint32_t size;
	uint64_t count;
} __attribute__((packed));

static struct sockaddr_in base;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address(int spin)
{
	struct sockaddr_in a = base;

	a.sin_port = htons(ntohs(a.sin_port) + (spin ? 1 : 0));
	return a;
}

static int again(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* 0 at the end of the stream. */
static ssize_t get(int s, void *to, size_t size)
{
	ssize_t n;

	do
		n = rrecv(s, to, size, 0);
	while (n < 0 && again());
	return n;
}

static int get_all(int s, void *to, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = get(s, (char *)to + at, size - at);

		if (n <= 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

static int put_all(int s, const void *from, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = rsend(s, (const char *)from + at, size - at, 0);

		if (n < 0 && !again())
			return -1;
		if (n > 0)
			at += (size_t)n;
	}
	return 0;
}

/* As rstream sets them. */
static void options(int s)
{
	int buffer = 1 << 19, one = 1;

	rsetsockopt(s, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	rsetsockopt(s, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	rsetsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void *serve(void *argument)
{
	int s = (int)(intptr_t)argument;
	struct request r;
	char *buffer = NULL;

	if (get_all(s, &r.what, 1))
		goto out;
	if (r.what == 'T') {
		put_all(s, "", 1);
	} else if (!get_all(s, &r.size, sizeof(r) - 1)) {
		size_t size = be32toh(r.size);
		uint64_t left = size * be64toh(r.count);

		buffer = calloc(1, size);
		while (r.what == 'E' && !get_all(s, buffer, size) && !put_all(s, buffer, size))
			;
		while (r.what == 'S' && left > 0) {
			ssize_t n = get(s, buffer, size < left ? size : left);

			if (n <= 0)
				goto out;
			left -= (uint64_t)n;
		}
		if (r.what == 'S')
			put_all(s, "", 1);
	}
	while (get(s, &r, 1) > 0)
		;
out:
	rclose(s);
	free(buffer);
	return NULL;
}

static void *listen_at(void *argument)
{
	int spin = argument != NULL, one = 1;
	struct sockaddr_in at = address(spin);
	int listener = rsocket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0)
		die("rsocket");
	options(listener);
	rsetsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (rbind(listener, (struct sockaddr *)&at, sizeof(at)) || rlisten(listener, 128))
		die("rlisten");
	if (!spin)
		puts("ready");
	fflush(stdout);
	for (;;) {
		int s = raccept(listener, NULL, NULL);
		pthread_t thread;

		if (s < 0) {
			perror("raccept");
			continue;
		}
		if (spin)
			rfcntl(s, F_SETFL, O_NONBLOCK);
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)s))
			die("pthread_create");
		pthread_detach(thread);
	}
	return NULL;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int dial(int spin)
{
	struct sockaddr_in to = address(spin);
	int s = rsocket(AF_INET, SOCK_STREAM, 0);

	if (s < 0)
		return -1;
	options(s);
	/* Blocking: v44.0's non-blocking connect fails now and then with ENOTCONN. */
	if (rconnect(s, (struct sockaddr *)&to, sizeof(to))) {
		int e = errno;

		rclose(s);
		errno = e;
		return -1;
	}
	if (spin)
		rfcntl(s, F_SETFL, O_NONBLOCK);
	return s;
}

static int request(int s, char what, uint32_t size, uint64_t count)
{
	struct request r = { what, htobe32(size), htobe64(count) };

	return put_all(s, &r, sizeof(r));
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int round_trips(int s, int size, int count)
{
	char *out = calloc(1, (size_t)size), *in = calloc(1, (size_t)size);
	int64_t *took = calloc((size_t)count, sizeof(*took));
	int rc = request(s, 'E', (uint32_t)size, 0);

	for (int i = 0; i < count && !rc; i++) {
		int64_t start;

		memcpy(out, &i, sizeof(i));
		memcpy(out + size - sizeof(i), &i, sizeof(i));
		start = now();
		rc = put_all(s, out, (size_t)size) || get_all(s, in, (size_t)size);
		took[i] = now() - start;
		if (!rc && memcmp(in, out, (size_t)size)) {
			errno = EBADMSG;
			rc = -1;
		}
	}
	if (!rc) {
		qsort(took, (size_t)count, sizeof(*took), ascending);
		printf("ok p50=%.2f p99=%.2f min=%.2f max=%.2f\n", (double)took[count / 2] / 1e3,
		       (double)took[count * 99LL / 100] / 1e3, (double)took[0] / 1e3, (double)took[count - 1] / 1e3);
	}
	free(out);
	free(in);
	free(took);
	return rc;
}

static int stream(int s, int size, int count, int read)
{
	char *data = calloc(1, (size_t)size);
	int rc = request(s, 'S', (uint32_t)read, (uint64_t)size * (uint64_t)count / (uint64_t)read);
	int64_t start = now();

	for (int i = 0; i < count && !rc; i++)
		rc = put_all(s, data, (size_t)size);
	if (!rc)
		rc = get_all(s, data, 1);
	if (!rc)
		printf("ok seconds=%.6f\n", (double)(now() - start) / 1e9);
	free(data);
	return rc;
}

static int touch(int count, int spin)
{
	int64_t start = now();

	for (int i = 0; i < count; i++) {
		char c;
		int s = dial(spin);

		if (s < 0 || put_all(s, "T", 1) || get_all(s, &c, 1))
			return -1;
		rclose(s);
	}
	printf("ok seconds=%.6f\n", (double)(now() - start) / 1e9);
	return 0;
}

static void *wait_for_data(void *argument)
{
	char c;

	get((int)(intptr_t)argument, &c, 1);
	return NULL;
}

static int idle(int s, unsigned int seconds)
{
	struct timespec before, after;
	pthread_t thread;
	char c = 0;

	if (request(s, 'E', 1, 0) || put_all(s, &c, 1) || get_all(s, &c, 1) ||
	    pthread_create(&thread, NULL, wait_for_data, (void *)(intptr_t)s))
		return -1;
	sleep(1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sleep(seconds);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	printf("ok percent=%.2f\n", 100 *
	       ((double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9) / seconds);
	rshutdown(s, SHUT_RDWR);
	pthread_join(thread, NULL);
	return 0;
}

static int command(const char *line, int s, int spin)
{
	int size, count, read;

	if (sscanf(line, "rtt %d %d", &size, &count) == 2)
		return round_trips(s, size, count);
	if (sscanf(line, "stream %d %d %d", &size, &count, &read) == 3)
		return stream(s, size, count, read);
	if (sscanf(line, "touch %d", &count) == 1)
		return touch(count, spin);
	if (sscanf(line, "idle %d", &count) == 1)
		return idle(s, (unsigned int)count);
	errno = EINVAL;
	return -1;
}

static void *end_with_input(void *argument)
{
	(void)argument;
	while (getchar() != EOF)
		;
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[256];

	if (argc != 4 || inet_pton(AF_INET, argv[2], &base.sin_addr) != 1)
		return 2;
	base.sin_family = AF_INET;
	base.sin_port = htons((uint16_t)atoi(argv[3]));
	if (!strcmp(argv[1], "server")) {
		pthread_create(&thread, NULL, end_with_input, NULL);
		pthread_create(&thread, NULL, listen_at, &base);
		listen_at(NULL);
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int spin = strstr(line, " spin") != NULL;
		int touches = !strncmp(line, "touch", 5);
		int s = touches ? -1 : dial(spin);

		if ((s < 0 && !touches) || command(line, s, spin))
			printf("failed %s\n", strerror(errno));
		fflush(stdout);
		if (s >= 0)
			rclose(s);
	}
	return 0;
}
