/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The connection manager. Java knows an id by the cookie in rdma_cm_id.context, never by its address: another thread
 * may have destroyed it between the moment its event was taken and the moment that event is handled.
 */
#include "jrsocket.h"
#include "cq.h"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <sys/socket.h>

/* Filled by nextEvent and read by RdmaCoreCmChannel.java. */
struct event {
	int32_t type;
	int32_t status;
	uint64_t cookie;
	uint64_t listener_cookie;
	/* The new id of a connection request, otherwise 0. */
	uint64_t new_id;
	uint64_t device;
	int32_t port;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t private_data_length;
	uint8_t private_data[UINT8_MAX];
};
_Static_assert(offsetof(struct event, type) == 0 && offsetof(struct event, status) == 4, "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, cookie) == 8 && offsetof(struct event, listener_cookie) == 16,
	       "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, new_id) == 24 && offsetof(struct event, device) == 32, "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, port) == 40 && offsetof(struct event, responder_resources) == 44,
	       "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, initiator_depth) == 45 && offsetof(struct event, flow_control) == 46,
	       "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, retry_count) == 47 && offsetof(struct event, rnr_retry_count) == 48,
	       "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, private_data_length) == 49, "RdmaCoreCmChannel.java");
_Static_assert(offsetof(struct event, private_data) == 50 && sizeof(struct event) <= 312, "RdmaCoreCmChannel.java");

_Static_assert(RDMA_OPTION_ID_TOS == 0 && RDMA_OPTION_ID_REUSEADDR == 1, "Cm.java");
_Static_assert(RDMA_OPTION_ID_AFONLY == 2 && RDMA_OPTION_ID_ACK_TIMEOUT == 3, "Cm.java");

static jlong create_channel(JNIEnv *env, jclass type)
{
	(void)env;
	(void)type;
	errno = 0;
	return jrs_created(rdma_create_event_channel());
}

static jint channel_fd(JNIEnv *env, jclass type, jlong channel)
{
	(void)env;
	(void)type;
	return ((struct rdma_event_channel *)jrs_pointer(channel))->fd;
}

static void destroy_channel(JNIEnv *env, jclass type, jlong channel)
{
	(void)env;
	(void)type;
	rdma_destroy_event_channel(jrs_pointer(channel));
}

static jlong create_id(JNIEnv *env, jclass type, jlong channel, jlong cookie, jint port_space)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id;

	errno = 0;
	if (rdma_create_id(jrs_pointer(channel), &id, jrs_pointer(cookie), (enum rdma_port_space)port_space))
		return errno ? -errno : -EIO;
	return jrs_handle(id);
}

/*
 * A thread that takes an event of the id may be inside librdmacm meanwhile, between two calls of the kernel. With the
 * second it asks for the address of a resolved id, by the id's number. The number is free as soon as the kernel has
 * destroyed the id, and a new id, which has no address yet, may have it by then. The kernel then names no device, and
 * librdmacm reads the type of a device that the id has not got (before v56). So it gets one, of no known type, about
 * which nothing else is asked. The event ends nowhere: Java has forgotten the id.
 */
static jint destroy_id(JNIEnv *env, jclass type, jlong handle)
{
	(void)env;
	(void)type;
	static struct ibv_device none = { .transport_type = IBV_TRANSPORT_UNKNOWN };
	static struct ibv_context nowhere = { .device = &none };
	struct rdma_cm_id *id = jrs_pointer(handle);

	if (!id->verbs)
		id->verbs = &nowhere;
	return jrs_status(rdma_destroy_id(id));
}

/* The bytes are a sockaddr_in or sockaddr_in6. */
static struct sockaddr *address_from(JNIEnv *env, jbyteArray bytes, struct sockaddr_storage *storage)
{
	jsize length;

	memset(storage, 0, sizeof(*storage));
	if (!bytes)
		return NULL;
	length = (*env)->GetArrayLength(env, bytes);
	if (length > (jsize)sizeof(*storage))
		length = sizeof(*storage);
	(*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)storage);
	return (struct sockaddr *)storage;
}

static jint bind_address(JNIEnv *env, jclass type, jlong id, jbyteArray address)
{
	(void)type;
	struct sockaddr_storage storage;

	return jrs_status(rdma_bind_addr(jrs_pointer(id), address_from(env, address, &storage)));
}

static jint start_listening(JNIEnv *env, jclass type, jlong id, jint backlog)
{
	(void)env;
	(void)type;
	return jrs_status(rdma_listen(jrs_pointer(id), backlog));
}

static jint resolve_address(JNIEnv *env, jclass type, jlong id, jbyteArray source, jbyteArray destination, jint millis)
{
	(void)type;
	struct sockaddr_storage from;
	struct sockaddr_storage to;
	/* Older prototypes take the source without const. */
	struct sockaddr *src = address_from(env, source, &from);

	return jrs_status(rdma_resolve_addr(jrs_pointer(id), src, address_from(env, destination, &to), millis));
}

/*
 * Several calls of librdmacm use the id's device without a check, and crash if it has none because its address was not
 * resolved. They are not called then.
 */
static int has_device(const struct rdma_cm_id *id)
{
	return id->verbs != NULL;
}

static jint resolve_route(JNIEnv *env, jclass type, jlong handle, jint millis)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);

	return has_device(id) ? jrs_status(rdma_resolve_route(id, millis)) : -EINVAL;
}

/*
 * io: send and receive requests, send and receive scatter entries, inline bytes; after them the number and the kernel's
 * handle. The id does not keep the queue pair: librdmacm would change the state of one that the id has while it takes
 * an event, and wait for the device.
 */
static jlong create_qp(JNIEnv *env, jclass type, jlong handle, jlong pd, jlong send_cq, jlong recv_cq, jint qp_type,
		       jboolean signal_all, jintArray io)
{
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);
	jint v[7];

	(*env)->GetIntArrayRegion(env, io, 0, 5, v);
	struct ibv_qp_init_attr init = {
		.send_cq = ((struct jrs_cq *)jrs_pointer(send_cq))->cq,
		.recv_cq = ((struct jrs_cq *)jrs_pointer(recv_cq))->cq,
		.cap = { .max_send_wr = (uint32_t)v[0], .max_recv_wr = (uint32_t)v[1], .max_send_sge = (uint32_t)v[2],
			 .max_recv_sge = (uint32_t)v[3], .max_inline_data = (uint32_t)v[4] },
		.qp_type = (enum ibv_qp_type)qp_type,
		.sq_sig_all = signal_all,
	};
	if (!has_device(id))
		return -EINVAL;
	errno = 0;
	if (rdma_create_qp(id, jrs_pointer(pd), &init))
		return errno ? -errno : -EIO;
	struct ibv_qp *qp = id->qp;

	id->qp = NULL;
	v[0] = (jint)init.cap.max_send_wr;
	v[1] = (jint)init.cap.max_recv_wr;
	v[2] = (jint)init.cap.max_send_sge;
	v[3] = (jint)init.cap.max_recv_sge;
	v[4] = (jint)init.cap.max_inline_data;
	v[5] = (jint)qp->qp_num;
	v[6] = (jint)qp->handle;
	(*env)->SetIntArrayRegion(env, io, 0, 7, v);
	return jrs_handle(qp);
}

/* IB_QP_SMAC, IB_QP_ALT_SMAC and IB_QP_VID in the kernel's ib_verbs.h. */
enum { KERNELS_OWN = 7 << 21 };

/* Moves the queue pair to a state with what the CM knows of the connection; depths that it leaves alone are -1. */
static int move_qp(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state, int responder_resources,
		   int initiator_depth)
{
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask;

	errno = 0;
	int rc = rdma_init_qp_attr(id, &attributes, &mask);

	if (rc)
		return jrs_status(rc);
	/* The kernel's own attributes for Ethernet, which older kernels hand out here and then refuse. */
	mask &= ~KERNELS_OWN;
	if (responder_resources >= 0)
		attributes.max_dest_rd_atomic = (uint8_t)responder_resources;
	if (initiator_depth >= 0)
		attributes.max_rd_atomic = (uint8_t)initiator_depth;
	return jrs_status(ibv_modify_qp(qp, &attributes, mask));
}

/* As librdmacm does with the queue pair of an id. The first step adds what the peer may access. */
static int ready_qp(struct rdma_cm_id *id, struct ibv_qp *qp, int responder_resources, int initiator_depth)
{
	int rc = move_qp(id, qp, IBV_QPS_INIT, -1, -1);

	if (!rc)
		rc = move_qp(id, qp, IBV_QPS_RTR, responder_resources, -1);
	return rc ? rc : move_qp(id, qp, IBV_QPS_RTS, -1, initiator_depth);
}

/*
 * For the answer to a request of ours. librdmacm has offered the peer the device's own options (ECE), and the peer has
 * chosen; for the passive side rdma_create_qp has done all that.
 */
static jint prepare_qp(JNIEnv *env, jclass type, jlong handle, jlong qp)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);
	struct ibv_ece chosen;

	if (!has_device(id))
		return -EINVAL;
	errno = 0;
	if (rdma_get_remote_ece(id, &chosen))
		return jrs_status(-1);
	if (chosen.vendor_id) {
		int rc = ibv_set_ece(jrs_pointer(qp), &chosen);

		if (rc && jrs_reason(rc) != EOPNOTSUPP)
			return jrs_status(rc);
	}
	return ready_qp(id, jrs_pointer(qp), -1, -1);
}

static jint establish_id(JNIEnv *env, jclass type, jlong handle)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);

	errno = 0;
	return has_device(id) ? jrs_status(rdma_establish(id)) : -EINVAL;
}

/* qp may be NULL. */
static struct rdma_conn_param param_from(JNIEnv *env, const struct ibv_qp *qp, jint responder_resources,
					 jint initiator_depth, jint flow_control, jint retries, jint rnr_retries,
					 jbyteArray data, uint8_t *storage)
{
	jsize length = (*env)->GetArrayLength(env, data);
	struct rdma_conn_param param = {
		.qp_num = qp ? qp->qp_num : 0,
		.responder_resources = (uint8_t)responder_resources,
		.initiator_depth = (uint8_t)initiator_depth,
		.flow_control = (uint8_t)flow_control,
		.retry_count = (uint8_t)retries,
		.rnr_retry_count = (uint8_t)rnr_retries,
	};

	if (length > UINT8_MAX)
		length = UINT8_MAX;
	if (length > 0) {
		(*env)->GetByteArrayRegion(env, data, 0, length, (jbyte *)storage);
		param.private_data = storage;
		param.private_data_len = (uint8_t)length;
	}
	return param;
}

static jint connect_id(JNIEnv *env, jclass type, jlong handle, jlong qp, jint responder_resources,
		       jint initiator_depth, jint flow_control, jint retries, jint rnr_retries, jbyteArray data)
{
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);
	uint8_t storage[UINT8_MAX];
	struct rdma_conn_param param =
		param_from(env, jrs_pointer(qp), responder_resources, initiator_depth, flow_control, retries,
			   rnr_retries, data, storage);

	return has_device(id) ? jrs_status(rdma_connect(id, &param)) : -EINVAL;
}

/* A depth of RDMA_MAX_RESP_RES or RDMA_MAX_INIT_DEPTH leaves it to what the peer has asked for. */
static jint accept_id(JNIEnv *env, jclass type, jlong handle, jlong qp, jint responder_resources, jint initiator_depth,
		      jint flow_control, jint retries, jint rnr_retries, jbyteArray data)
{
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);
	uint8_t storage[UINT8_MAX];
	struct rdma_conn_param param =
		param_from(env, jrs_pointer(qp), responder_resources, initiator_depth, flow_control, retries,
			   rnr_retries, data, storage);

	if (!has_device(id))
		return -EINVAL;
	if (qp) {
		int rc = ready_qp(id, jrs_pointer(qp),
				  param.responder_resources == RDMA_MAX_RESP_RES ? -1 : param.responder_resources,
				  param.initiator_depth == RDMA_MAX_INIT_DEPTH ? -1 : param.initiator_depth);

		if (rc)
			return rc;
	}
	return jrs_status(rdma_accept(id, &param));
}

static jint reject_id(JNIEnv *env, jclass type, jlong id, jbyteArray data)
{
	(void)type;
	uint8_t storage[UINT8_MAX];
	struct rdma_conn_param param = param_from(env, NULL, 0, 0, 0, 0, 0, data, storage);

	return jrs_status(rdma_reject(jrs_pointer(id), param.private_data, param.private_data_len));
}

/*
 * Tells the CM that the peer of an answered request is connected although its RTU was lost, because something from its
 * queue pair has arrived.
 */
static jint confirm_id(JNIEnv *env, jclass type, jlong handle)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);

	return has_device(id) ? jrs_status(rdma_notify(id, IBV_EVENT_COMM_EST)) : -EINVAL;
}

/* Also stops the queue pair, unless it is 0, as librdmacm does with that of an id. */
static jint disconnect_id(JNIEnv *env, jclass type, jlong handle, jlong qp)
{
	(void)env;
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);

	if (!has_device(id))
		return -EINVAL;
	if (qp) {
		int iwarp = id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
		struct ibv_qp_attr attributes = { .qp_state = iwarp ? IBV_QPS_SQD : IBV_QPS_ERR };
		int rc = ibv_modify_qp(jrs_pointer(qp), &attributes, IBV_QP_STATE);

		if (rc)
			return jrs_status(rc);
	}
	return jrs_status(rdma_disconnect(id));
}

/* Writes a sockaddr_in or sockaddr_in6 and returns its length; 0 while the address is not known. */
static jint id_address(JNIEnv *env, jclass type, jlong handle, jboolean source, jbyteArray out)
{
	(void)type;
	struct rdma_cm_id *id = jrs_pointer(handle);
	struct sockaddr *address = source ? rdma_get_local_addr(id) : rdma_get_peer_addr(id);
	jsize length = address->sa_family == AF_INET  ? (jsize)sizeof(struct sockaddr_in) :
		       address->sa_family == AF_INET6 ? (jsize)sizeof(struct sockaddr_in6) :
							0;

	(*env)->SetByteArrayRegion(env, out, 0, length, (const jbyte *)address);
	return length;
}

static jlong id_device(JNIEnv *env, jclass type, jlong id)
{
	(void)env;
	(void)type;
	return jrs_handle(((struct rdma_cm_id *)jrs_pointer(id))->verbs);
}

static jint id_port(JNIEnv *env, jclass type, jlong id)
{
	(void)env;
	(void)type;
	return ((struct rdma_cm_id *)jrs_pointer(id))->port_num;
}

static jint set_option(JNIEnv *env, jclass type, jlong id, jint option, jint value)
{
	(void)env;
	(void)type;
	int whole = value;
	uint8_t byte = (uint8_t)value;

	switch (option) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return jrs_status(rdma_set_option(jrs_pointer(id), RDMA_OPTION_ID, option, &byte, sizeof(byte)));
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return jrs_status(rdma_set_option(jrs_pointer(id), RDMA_OPTION_ID, option, &whole, sizeof(whole)));
	default:
		return -EINVAL;
	}
}

/*
 * Returns a negative errno, as in the kernel's own events, for what librdmacm could not do itself: it then makes these
 * events, with -1 and errno, or with a positive errno. For other events returns the status as it is, which can be the
 * peer's reason for refusing. To be called right after rdma_get_cm_event, before which errno was 0.
 */
static int32_t status_of(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		if (event->status == -1 && errno)
			return -errno;
		return event->status > 0 ? -event->status : event->status;
	default:
		return event->status;
	}
}

/*
 * Takes one event, copies it and acknowledges it; returns -EAGAIN if there is none. The id of a connection request gets
 * the given cookie.
 */
static jint next_event(JNIEnv *env, jclass type, jlong channel, jlong address, jlong cookie)
{
	(void)env;
	(void)type;
	struct event *copy = jrs_pointer(address);
	struct rdma_cm_event *event;

	do {
		errno = 0;
		if (rdma_get_cm_event(jrs_pointer(channel), &event) == 0)
			break;
		if (errno != EINTR)
			return errno ? -errno : -EIO;
	} while (1);

	const struct rdma_conn_param *param = &event->param.conn;
	uint8_t length = param->private_data ? param->private_data_len : 0;

	*copy = (struct event){
		.type = event->event,
		.status = status_of(event),
		.cookie = (uintptr_t)event->id->context,
		.device = (uintptr_t)event->id->verbs,
		.port = event->id->port_num,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.retry_count = param->retry_count,
		.rnr_retry_count = param->rnr_retry_count,
		.private_data_length = length,
	};
	if (length)
		memcpy(copy->private_data, param->private_data, length);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		/* A new id has its listener's context. */
		event->id->context = jrs_pointer(cookie);
		copy->cookie = (uint64_t)cookie;
		copy->new_id = (uintptr_t)event->id;
		copy->listener_cookie = (uintptr_t)event->listen_id->context;
	}
	rdma_ack_cm_event(event);
	return 0;
}

static const JNINativeMethod table[] = {
	JRS_METHOD("createChannel", "()J", create_channel),
	JRS_METHOD("channelFd", "(J)I", channel_fd),
	JRS_METHOD("destroyChannel", "(J)V", destroy_channel),
	JRS_METHOD("createId", "(JJI)J", create_id),
	JRS_METHOD("destroyId", "(J)I", destroy_id),
	JRS_METHOD("bindAddress", "(J[B)I", bind_address),
	JRS_METHOD("listen", "(JI)I", start_listening),
	JRS_METHOD("resolveAddress", "(J[B[BI)I", resolve_address),
	JRS_METHOD("resolveRoute", "(JI)I", resolve_route),
	JRS_METHOD("createQp", "(JJJJIZ[I)J", create_qp),
	JRS_METHOD("connect", "(JJIIIII[B)I", connect_id),
	JRS_METHOD("prepareQp", "(JJ)I", prepare_qp),
	JRS_METHOD("establish", "(J)I", establish_id),
	JRS_METHOD("accept", "(JJIIIII[B)I", accept_id),
	JRS_METHOD("reject", "(J[B)I", reject_id),
	JRS_METHOD("confirm", "(J)I", confirm_id),
	JRS_METHOD("disconnect", "(JJ)I", disconnect_id),
	JRS_METHOD("idAddress", "(JZ[B)I", id_address),
	JRS_METHOD("idDevice", "(J)J", id_device),
	JRS_METHOD("idPort", "(J)I", id_port),
	JRS_METHOD("setOption", "(JII)I", set_option),
	JRS_METHOD("nextEvent", "(JJJ)I", next_event),
};

JRS_METHODS(jrs_cm);
