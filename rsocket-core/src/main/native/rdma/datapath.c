/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What happens per message: post, poll, spin, arm. Nothing here sleeps in the kernel, allocates or touches a Java
 * object; a poll yields to a thread that polls the same queue, and a spin waits for as long as it is told. Java lays
 * out work requests and completions, so the layouts are checked here.
 */
#include "jrsocket.h"
#include "cq.h"

#include <infiniband/verbs.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* SendBatch.java */
_Static_assert(sizeof(struct ibv_send_wr) == 128, "SendBatch.WR_SIZE");
_Static_assert(offsetof(struct ibv_send_wr, wr_id) == 0, "SendBatch.WR_ID");
_Static_assert(offsetof(struct ibv_send_wr, next) == 8, "SendBatch.NEXT");
_Static_assert(offsetof(struct ibv_send_wr, sg_list) == 16, "SendBatch.SG_LIST");
_Static_assert(offsetof(struct ibv_send_wr, num_sge) == 24, "SendBatch.NUM_SGE");
_Static_assert(offsetof(struct ibv_send_wr, opcode) == 28, "SendBatch.OPCODE");
_Static_assert(offsetof(struct ibv_send_wr, send_flags) == 32, "SendBatch.FLAGS");
_Static_assert(offsetof(struct ibv_send_wr, imm_data) == 36, "SendBatch.IMM");
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.remote_addr) == 40, "SendBatch.REMOTE_ADDR");
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) == 48, "SendBatch.RKEY");
_Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1, "SendBatch's opcodes");
_Static_assert(IBV_WR_SEND == 2 && IBV_WR_SEND_WITH_IMM == 3, "SendBatch's opcodes");
_Static_assert(IBV_SEND_SIGNALED == 1 << 1 && IBV_SEND_INLINE == 1 << 3, "SendBatch's flags");

/* SendBatch.java, RecvBatch.java */
_Static_assert(sizeof(struct ibv_sge) == 16, "SGE_SIZE");
_Static_assert(offsetof(struct ibv_sge, addr) == 0 && offsetof(struct ibv_sge, length) == 8, "scatter entries");
_Static_assert(offsetof(struct ibv_sge, lkey) == 12, "scatter entries");

/* RecvBatch.java */
_Static_assert(sizeof(struct ibv_recv_wr) == 32, "RecvBatch.WR_SIZE");
_Static_assert(offsetof(struct ibv_recv_wr, wr_id) == 0, "RecvBatch.WR_ID");
_Static_assert(offsetof(struct ibv_recv_wr, next) == 8, "RecvBatch.NEXT");
_Static_assert(offsetof(struct ibv_recv_wr, sg_list) == 16, "RecvBatch.SG_LIST");
_Static_assert(offsetof(struct ibv_recv_wr, num_sge) == 24, "RecvBatch.NUM_SGE");

/* WcBatch.java */
_Static_assert(sizeof(struct ibv_wc) == 48, "WcBatch.SIZE");
_Static_assert(offsetof(struct ibv_wc, wr_id) == 0, "WcBatch.WR_ID");
_Static_assert(offsetof(struct ibv_wc, status) == 8, "WcBatch.STATUS");
_Static_assert(offsetof(struct ibv_wc, opcode) == 12, "WcBatch.OPCODE");
_Static_assert(offsetof(struct ibv_wc, vendor_err) == 16, "WcBatch.VENDOR_ERR");
_Static_assert(offsetof(struct ibv_wc, byte_len) == 20, "WcBatch.BYTE_LEN");
_Static_assert(offsetof(struct ibv_wc, imm_data) == 24, "WcBatch.IMM");
_Static_assert(offsetof(struct ibv_wc, qp_num) == 28, "WcBatch.QP_NUM");
_Static_assert(offsetof(struct ibv_wc, wc_flags) == 36, "WcBatch.FLAGS");
_Static_assert(IBV_WC_RECV == 128 && IBV_WC_RECV_RDMA_WITH_IMM == 129, "WcBatch's opcodes");
_Static_assert(IBV_WC_WITH_IMM == 1 << 1, "WcBatch's flags");
_Static_assert(IBV_WC_WR_FLUSH_ERR == 5 && IBV_WC_REM_ACCESS_ERR == 10, "WcBatch's statuses");
_Static_assert(IBV_WC_RETRY_EXC_ERR == 12 && IBV_WC_SUCCESS == 0, "WcBatch's statuses");
_Static_assert(IBV_WC_LOC_QP_OP_ERR == 2, "WcBatch's statuses");

/* How many receives one library call takes at most. */
#define CHUNK 64

/*
 * How many polls come between two looks at the clock, which costs as much as one or two polls. There is no pause
 * between the polls: each has locked instructions, which leave the core's other thread its share, while a pause takes
 * longer than a poll (140 cycles on some processors, far more in an emulator), and a message would wait for its end.
 */
#define POLLS_PER_CLOCK 32

/*
 * Receives without scatter entries are all alike, so one constant chain serves every post: its last n entries are a
 * list of n.
 */
static struct ibv_recv_wr bare[CHUNK];

void jrs_datapath_init(void)
{
	for (int i = 0; i < CHUNK - 1; i++)
		bare[i].next = &bare[i + 1];
}

/* Returns how many were posted and, in the upper half, the errno that stopped the rest. */
static jlong posted(int64_t count, int rc)
{
	return count | (jlong)jrs_reason(rc) << 32;
}

/*
 * What is posted may let the peer write where we have read, so no earlier read may be carried out after the post.
 * rdma-core's own barrier orders only writes. On x86-64 this is no instruction. Receives without memory do not need it.
 */
static inline void reads_are_over(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb osh" ::: "memory"); /* a fence of C may not order what a device does */
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

static jlong post_send(JNIEnv *env, jclass type, jlong qp, jlong address, jint count)
{
	(void)env;
	(void)type;
	struct ibv_send_wr *first = jrs_pointer(address);
	struct ibv_send_wr *bad = first;
	int64_t done = 0;
	int rc;

	if (count == 0)
		return 0;
	reads_are_over();
	rc = ibv_post_send(jrs_pointer(qp), first, &bad);
	if (rc == 0)
		return count;
	for (struct ibv_send_wr *wr = first; wr && wr != bad; wr = wr->next)
		done++;
	return posted(done, rc);
}

static jlong post_recv(JNIEnv *env, jclass type, jlong qp, jlong address, jint count)
{
	(void)env;
	(void)type;
	struct ibv_recv_wr *first = jrs_pointer(address);
	struct ibv_recv_wr *bad = first;
	int64_t done = 0;
	int rc;

	if (count == 0)
		return 0;
	reads_are_over();
	rc = ibv_post_recv(jrs_pointer(qp), first, &bad);
	if (rc == 0)
		return count;
	for (struct ibv_recv_wr *wr = first; wr && wr != bad; wr = wr->next)
		done++;
	return posted(done, rc);
}

static jlong post_bare_receives(JNIEnv *env, jclass type, jlong qp, jint count)
{
	(void)env;
	(void)type;
	int64_t done = 0;

	while (done < count) {
		int64_t n = count - done < CHUNK ? count - done : CHUNK;
		struct ibv_recv_wr *first = &bare[CHUNK - n];
		struct ibv_recv_wr *bad = first;
		int rc = ibv_post_recv(jrs_pointer(qp), first, &bad);

		if (rc)
			return posted(done + (bad - first), rc);
		done += n;
	}
	return done;
}

static jlong post_receives(JNIEnv *env, jclass type, jlong qp, jint count, jlong address, jint length, jint lkey)
{
	(void)env;
	(void)type;
	struct ibv_recv_wr wrs[CHUNK];
	struct ibv_sge sges[CHUNK];
	int64_t done = 0;

	reads_are_over();
	while (done < count) {
		int n = (int)(count - done < CHUNK ? count - done : CHUNK);
		struct ibv_recv_wr *bad = wrs;
		int rc;

		for (int i = 0; i < n; i++) {
			sges[i] = (struct ibv_sge){ .addr = (uint64_t)(address + (done + i) * length),
						    .length = (uint32_t)length,
						    .lkey = (uint32_t)lkey };
			wrs[i] = (struct ibv_recv_wr){
				.next = i + 1 < n ? &wrs[i + 1] : NULL, .sg_list = &sges[i], .num_sge = 1
			};
		}
		rc = ibv_post_recv(jrs_pointer(qp), wrs, &bad);
		if (rc)
			return posted(done + (bad - wrs), rc);
		done += n;
	}
	return done;
}

/* Tells the core that this is a waiting loop, so that the other hardware thread gets its share. */
static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

static inline int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static inline int try_lock(struct jrs_cq *queue)
{
	return !__atomic_exchange_n(&queue->busy, 1, __ATOMIC_ACQUIRE);
}

/* The holder of the lock only looks into the queue; if it has lost its CPU in the meantime, it gets ours. */
static void lock(struct jrs_cq *queue)
{
	for (int i = 1; !try_lock(queue); i++) {
		if (i % POLLS_PER_CLOCK == 0)
			sched_yield();
		else
			relax();
	}
}

static inline void unlock(struct jrs_cq *queue)
{
	__atomic_store_n(&queue->busy, 0, __ATOMIC_RELEASE);
}

static inline jint poll_once(struct ibv_cq *cq, struct ibv_wc *wcs, int capacity)
{
	int n = ibv_poll_cq(cq, capacity, wcs);

	/* Drivers return numbers of their own for a broken queue. */
	return n >= 0 ? n : -EIO;
}

/* What a waiting thread has left comes first. An error behind that is for the next poll to report. */
static jint poll_cq(JNIEnv *env, jclass type, jlong handle, jlong address, jint capacity)
{
	(void)env;
	(void)type;
	struct jrs_cq *queue = jrs_pointer(handle);
	struct ibv_wc *wcs = jrs_pointer(address);
	jint n;

	lock(queue);
	n = queue->stashed < capacity ? queue->stashed : capacity;
	if (n > 0) {
		memcpy(wcs, queue->stash, (size_t)n * sizeof(*wcs));
		queue->stashed -= n;
		memmove(queue->stash, queue->stash + n, (size_t)queue->stashed * sizeof(*wcs));
	}
	if (n < capacity) {
		jint more = poll_once(queue->cq, wcs + n, capacity - n);

		n = more >= 0 ? n + more : n > 0 ? n : more;
	}
	unlock(queue);
	return n;
}

/* Whether the next poll_cq takes something or fails. If another thread is polling right now, it is left to that one. */
static inline int has_some(struct jrs_cq *queue)
{
	int some;

	if (!try_lock(queue))
		return 0;
	if (queue->stashed == 0) {
		jint n = poll_once(queue->cq, queue->stash, JRS_STASH);

		some = n != 0;
		queue->stashed = n > 0 ? n : 0;
	} else {
		some = 1;
	}
	unlock(queue);
	return some;
}

static jboolean spin_cq(JNIEnv *env, jclass type, jlong handle, jlong nanos)
{
	(void)env;
	(void)type;
	struct jrs_cq *queue = jrs_pointer(handle);
	int64_t start;

	if (has_some(queue))
		return JNI_TRUE;
	if (nanos <= 0)
		return JNI_FALSE;
	start = now();
	do {
		for (int i = 0; i < POLLS_PER_CLOCK; i++) {
			if (has_some(queue))
				return JNI_TRUE;
		}
	} while (now() - start < nanos);
	return JNI_FALSE;
}

/* Looks at a set's `queues`, an array of handles; the numbers of those that have something go to `found`. */
static int look_at_all(const int64_t *queues, int count, int32_t *found)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		if (has_some(jrs_pointer(queues[i])))
			found[n++] = i;
	}
	return n;
}

static jint spin_cqs(JNIEnv *env, jclass type, jlong queues, jint count, jlong found, jlong nanos)
{
	(void)env;
	(void)type;
	int rounds = count < POLLS_PER_CLOCK ? POLLS_PER_CLOCK / (count > 0 ? count : 1) : 1;
	int n = look_at_all(jrs_pointer(queues), count, jrs_pointer(found));
	int64_t start;

	if (n > 0 || nanos <= 0)
		return n;
	start = now();
	do {
		for (int i = 0; i < rounds; i++) {
			n = look_at_all(jrs_pointer(queues), count, jrs_pointer(found));
			if (n > 0)
				return n;
		}
	} while (now() - start < nanos);
	return 0;
}

static jint arm_cq(JNIEnv *env, jclass type, jlong cq)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_req_notify_cq(((struct jrs_cq *)jrs_pointer(cq))->cq, 0));
}

static const JNINativeMethod table[] = {
	JRS_METHOD("postSend", "(JJI)J", post_send),
	JRS_METHOD("postRecv", "(JJI)J", post_recv),
	JRS_METHOD("postReceives", "(JI)J", post_bare_receives),
	JRS_METHOD("postReceives", "(JIJII)J", post_receives),
	JRS_METHOD("pollCq", "(JJI)I", poll_cq),
	JRS_METHOD("spinCq", "(JJ)Z", spin_cq),
	JRS_METHOD("spinCqs", "(JIJJ)I", spin_cqs),
	JRS_METHOD("armCq", "(J)I", arm_cq),
};

JRS_METHODS(jrs_datapath);
