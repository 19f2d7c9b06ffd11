/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * eventfd, ppoll and epoll.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "jrsocket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NANOS_PER_SECOND 1000000000LL

static jint event_fd(JNIEnv *env, jclass type)
{
	(void)env;
	(void)type;
	return jrs_result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

static jint event_fd_write(JNIEnv *env, jclass type, jint fd)
{
	(void)env;
	(void)type;
	uint64_t one = 1;

	/* EAGAIN means that the counter is full and so readable, which is all that was asked for. */
	if (write(fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		return -errno;
	return 0;
}

static jint event_fd_read(JNIEnv *env, jclass type, jint fd)
{
	(void)env;
	(void)type;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return errno == EAGAIN ? 0 : -errno;
	return 1;
}

static jint close_fd(JNIEnv *env, jclass type, jint fd)
{
	(void)env;
	(void)type;
	return jrs_result(close(fd));
}

static jint non_blocking(JNIEnv *env, jclass type, jint fd)
{
	(void)env;
	(void)type;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	return jrs_result(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

static jint poll_readable(JNIEnv *env, jclass type, jint fd1, jint fd2, jlong nanos)
{
	(void)env;
	(void)type;
	struct pollfd fds[2] = { { .fd = fd1, .events = POLLIN }, { .fd = fd2, .events = POLLIN } };
	struct timespec time = { .tv_sec = nanos / NANOS_PER_SECOND, .tv_nsec = nanos % NANOS_PER_SECOND };
	int rc = ppoll(fds, 2, nanos < 0 ? NULL : &time, NULL);

	if (rc < 0)
		return errno == EINTR ? 0 : -errno;
	if ((fds[0].revents | fds[1].revents) & POLLNVAL)
		return -EBADF;
	/* Hang-up and error count as readable: reading is how the caller learns of them. */
	return (fds[0].revents ? 1 : 0) | (fds[1].revents ? 2 : 0);
}

static jint epoll_make(JNIEnv *env, jclass type)
{
	(void)env;
	(void)type;
	return jrs_result(epoll_create1(EPOLL_CLOEXEC));
}

static jint epoll_change(JNIEnv *env, jclass type, jint epoll, jint op, jint fd, jint events, jlong data)
{
	(void)env;
	(void)type;
	struct epoll_event event = { .events = (uint32_t)events, .data.u64 = (uint64_t)data };

	return jrs_result(epoll_ctl(epoll, op, fd, &event));
}

#ifdef SYS_epoll_pwait2
/*
 * Set once the call was refused, by a kernel older than 5.11 or a seccomp filter. A thread that does not see it yet
 * makes one system call more.
 */
static int no_pwait2;

static int wait_nanos(int epoll, struct epoll_event *events, int capacity, int64_t nanos)
{
	struct {
		int64_t seconds;
		int64_t nanos;
	} time = { nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND };

	/* Not through libc, which has it only since 2.35: the library would not load on older systems. */
	return (int)syscall(SYS_epoll_pwait2, epoll, events, capacity, nanos < 0 ? NULL : &time, NULL, 0);
}
#endif

static int wait_events(int epoll, struct epoll_event *events, int capacity, int64_t nanos)
{
	int64_t millis;

#ifdef SYS_epoll_pwait2
	/* With no time to wait, or no limit, the old call does the same. */
	if (nanos > 0 && !__atomic_load_n(&no_pwait2, __ATOMIC_RELAXED)) {
		int rc = wait_nanos(epoll, events, capacity, nanos);

		if (rc >= 0 || (errno != ENOSYS && errno != EPERM))
			return rc;
		/* ENOSYS: an old kernel, or a filter. EPERM: a filter that does not know the call. */
		__atomic_store_n(&no_pwait2, 1, __ATOMIC_RELAXED);
	}
#endif
	millis = nanos < 0 ? -1 : nanos / 1000000 + (nanos % 1000000 != 0);
	return epoll_wait(epoll, events, capacity, millis > INT32_MAX ? INT32_MAX : (int)millis);
}

/* An event as Java reads it. x86-64 packs the kernel's struct to 12 bytes; other machines have these 16 already. */
struct entry {
	uint32_t events;
	uint32_t padding;
	uint64_t data;
};
_Static_assert(sizeof(struct entry) == 16 && offsetof(struct entry, data) == 8, "Epoll.java reads 16-byte entries");
_Static_assert(sizeof(struct epoll_event) <= sizeof(struct entry), "events are widened in place");

static jint epoll_await(JNIEnv *env, jclass type, jint epoll, jlong address, jint capacity, jlong nanos)
{
	(void)env;
	(void)type;
	char *memory = jrs_pointer(address);
	int n = wait_events(epoll, (struct epoll_event *)memory, capacity, nanos);

	if (n < 0)
		return -errno;
	/* From the last to the first, so that no event is overwritten before it is read. */
	for (int i = n - 1; i >= 0; i--) {
		struct epoll_event event;

		memcpy(&event, memory + (size_t)i * sizeof(event), sizeof(event));
		struct entry entry = { .events = event.events, .data = event.data.u64 };
		memcpy(memory + (size_t)i * sizeof(entry), &entry, sizeof(entry));
	}
	return n;
}

static const JNINativeMethod table[] = {
	JRS_METHOD("eventFd", "()I", event_fd),
	JRS_METHOD("eventFdWrite", "(I)I", event_fd_write),
	JRS_METHOD("eventFdRead", "(I)I", event_fd_read),
	JRS_METHOD("closeFd", "(I)I", close_fd),
	JRS_METHOD("nonBlocking", "(I)I", non_blocking),
	JRS_METHOD("pollReadable", "(IIJ)I", poll_readable),
	JRS_METHOD("epollCreate", "()I", epoll_make),
	JRS_METHOD("epollCtl", "(IIIIJ)I", epoll_change),
	JRS_METHOD("epollWait", "(IJIJ)I", epoll_await),
};

JRS_METHODS(jrs_fds);
