/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Making, changing and freeing verbs objects. What happens per message is in datapath.c.
 */
#include "jrsocket.h"
#include "cq.h"

#include <infiniband/verbs.h>
#include <stdlib.h>

static jlong alloc_pd(JNIEnv *env, jclass type, jlong device)
{
	(void)env;
	(void)type;
	errno = 0;
	return jrs_created(ibv_alloc_pd(jrs_pointer(device)));
}

static jint dealloc_pd(JNIEnv *env, jclass type, jlong pd)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_dealloc_pd(jrs_pointer(pd)));
}

/* out: lkey, rkey, the kernel's handle. */
static jlong reg_mr(JNIEnv *env, jclass type, jlong pd, jlong address, jlong length, jint access, jintArray out)
{
	(void)type;
	struct ibv_mr *mr;

	errno = 0;
	/* The parentheses select the function. The macro needs a newer libibverbs than the flags used here do. */
	mr = (ibv_reg_mr)(jrs_pointer(pd), jrs_pointer(address), (size_t)length, access);
	if (!mr)
		return jrs_created(NULL);
	jint values[] = { (jint)mr->lkey, (jint)mr->rkey, (jint)mr->handle };
	(*env)->SetIntArrayRegion(env, out, 0, 3, values);
	return jrs_handle(mr);
}

static jint dereg_mr(JNIEnv *env, jclass type, jlong mr)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_dereg_mr(jrs_pointer(mr)));
}

static jlong create_comp_channel(JNIEnv *env, jclass type, jlong device)
{
	(void)env;
	(void)type;
	errno = 0;
	return jrs_created(ibv_create_comp_channel(jrs_pointer(device)));
}

static jint comp_channel_fd(JNIEnv *env, jclass type, jlong channel)
{
	(void)env;
	(void)type;
	return ((struct ibv_comp_channel *)jrs_pointer(channel))->fd;
}

static jint destroy_comp_channel(JNIEnv *env, jclass type, jlong channel)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_destroy_comp_channel(jrs_pointer(channel)));
}

/* out: entries, the kernel's handle. */
static jlong create_cq(JNIEnv *env, jclass type, jlong device, jlong channel, jint entries, jint vector, jint cookie,
		       jintArray out)
{
	(void)type;
	struct jrs_cq *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	errno = 0;
	queue->cq = ibv_create_cq(jrs_pointer(device), entries, jrs_pointer(cookie), jrs_pointer(channel), vector);
	if (!queue->cq) {
		jlong failed = jrs_created(NULL);

		free(queue);
		return failed;
	}
	jint values[] = { queue->cq->cqe, (jint)queue->cq->handle };
	(*env)->SetIntArrayRegion(env, out, 0, 2, values);
	return jrs_handle(queue);
}

static jint destroy_cq(JNIEnv *env, jclass type, jlong cq)
{
	(void)env;
	(void)type;
	struct jrs_cq *queue = jrs_pointer(cq);
	jint rc = jrs_status(ibv_destroy_cq(queue->cq));

	if (rc == 0)
		free(queue);
	return rc;
}

/*
 * Returns the cookie of the queue an event was for, or -1. The event is acknowledged here, because ibv_destroy_cq
 * waits, for ever if need be, for events that were taken and not acknowledged. Next to the system call that takes an
 * event, the mutex that acknowledging takes costs little.
 */
static jint take_cq_event(JNIEnv *env, jclass type, jlong channel)
{
	(void)env;
	(void)type;
	struct ibv_cq *cq;
	void *context;

	do {
		errno = 0;
		if (ibv_get_cq_event(jrs_pointer(channel), &cq, &context) == 0) {
			ibv_ack_cq_events(cq, 1);
			return (jint)jrs_handle(context);
		}
	} while (errno == EINTR);
	return -1;
}

static jint destroy_qp(JNIEnv *env, jclass type, jlong qp)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_destroy_qp(jrs_pointer(qp)));
}

static jint qp_to_error(JNIEnv *env, jclass type, jlong qp)
{
	(void)env;
	(void)type;
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_ERR };

	return jrs_status(ibv_modify_qp(jrs_pointer(qp), &attributes, IBV_QP_STATE));
}

static jint qp_min_rnr_timer(JNIEnv *env, jclass type, jlong qp, jint code)
{
	(void)env;
	(void)type;
	struct ibv_qp_attr attributes = { .min_rnr_timer = (uint8_t)code };

	return jrs_status(ibv_modify_qp(jrs_pointer(qp), &attributes, IBV_QP_MIN_RNR_TIMER));
}

/* Returns the ACK timeout and, above its eight bits, the RNR timer that the peer was told. */
static jint qp_timers(JNIEnv *env, jclass type, jlong qp)
{
	(void)env;
	(void)type;
	struct ibv_qp_attr attributes;
	struct ibv_qp_init_attr init;
	int rc = ibv_query_qp(jrs_pointer(qp), &attributes, IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER, &init);

	if (rc)
		return jrs_status(rc);
	return attributes.timeout | attributes.min_rnr_timer << 8;
}

static const JNINativeMethod table[] = {
	JRS_METHOD("allocPd", "(J)J", alloc_pd),
	JRS_METHOD("deallocPd", "(J)I", dealloc_pd),
	JRS_METHOD("regMr", "(JJJI[I)J", reg_mr),
	JRS_METHOD("deregMr", "(J)I", dereg_mr),
	JRS_METHOD("createCompChannel", "(J)J", create_comp_channel),
	JRS_METHOD("compChannelFd", "(J)I", comp_channel_fd),
	JRS_METHOD("destroyCompChannel", "(J)I", destroy_comp_channel),
	JRS_METHOD("createCq", "(JJIII[I)J", create_cq),
	JRS_METHOD("destroyCq", "(J)I", destroy_cq),
	JRS_METHOD("takeCqEvent", "(J)I", take_cq_event),
	JRS_METHOD("destroyQp", "(J)I", destroy_qp),
	JRS_METHOD("qpToError", "(J)I", qp_to_error),
	JRS_METHOD("qpMinRnrTimer", "(JI)I", qp_min_rnr_timer),
	JRS_METHOD("qpTimers", "(J)I", qp_timers),
};

JRS_METHODS(jrs_verbs);
