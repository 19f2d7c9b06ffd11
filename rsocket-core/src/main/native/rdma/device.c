/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Devices: opening by name, what they say about themselves, asynchronous events.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "jrsocket.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Elements of the array that deviceAttributes fills; RdmaCoreDevice.java has the same order. */
enum { IWARP, MAX_QP, MAX_QP_WR, MAX_CQE, MAX_MR, PORTS, VECTORS, CMD_FD, ASYNC_FD, VENDOR, DEVICE_ELEMENTS };
/* The same for portAttributes. */
enum { STATE, ETHERNET, MTU, GIDS, PORT_ELEMENTS };

_Static_assert(IBV_PORT_ACTIVE == 4, "RdmaCoreInfo.ACTIVE");
_Static_assert(IBV_EVENT_DEVICE_FATAL == 8 && IBV_EVENT_PORT_ACTIVE == 9 && IBV_EVENT_PORT_ERR == 10, "Device.java");
_Static_assert(IBV_EVENT_GID_CHANGE == 18, "Device.java");
_Static_assert(IBV_EVENT_CQ_ERR == 0 && IBV_EVENT_QP_FATAL == 1, "Device.java");
_Static_assert(IBV_EVENT_QP_REQ_ERR == 2 && IBV_EVENT_QP_ACCESS_ERR == 3, "Device.java");
_Static_assert(IBV_EVENT_WQ_FATAL < 1 << 7, "Device.TYPE_BITS");

/* Whether the context has been through detach_device: older librdmacm hands out such a context again. */
static int is_detached(const struct ibv_context *context)
{
	struct stat file;

	/* Not fstat(), a symbol of glibc 2.33: a library that was built with it has to load with older versions too. */
	return syscall(SYS_fstat, context->cmd_fd, &file) == 0 && S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 3);
}

/* Returns a new context, which closeDevice closes; -ENODEV if no device of that name has a user-space driver. */
static jlong open_device(JNIEnv *env, jclass type, jstring name)
{
	(void)type;
	struct ibv_device **devices;
	const char *wanted;
	jlong result = -ENODEV;
	int count;

	devices = ibv_get_device_list(&count);
	if (!devices)
		return errno ? -errno : -ENODEV;
	wanted = (*env)->GetStringUTFChars(env, name, NULL);
	for (int i = 0; wanted && i < count; i++) {
		if (strcmp(wanted, ibv_get_device_name(devices[i])) == 0) {
			errno = 0;
			result = jrs_created(ibv_open_device(devices[i]));
			break;
		}
	}
	if (wanted)
		(*env)->ReleaseStringUTFChars(env, name, wanted);
	ibv_free_device_list(devices);
	return result;
}

static jint close_device(JNIEnv *env, jclass type, jlong device)
{
	(void)env;
	(void)type;
	return jrs_status(ibv_close_device(jrs_pointer(device)));
}

static jstring device_name(JNIEnv *env, jclass type, jlong device)
{
	(void)type;
	struct ibv_context *context = jrs_pointer(device);

	return (*env)->NewStringUTF(env, ibv_get_device_name(context->device));
}

static jstring device_firmware(JNIEnv *env, jclass type, jlong device)
{
	(void)type;
	struct ibv_device_attr attributes;

	if (ibv_query_device(jrs_pointer(device), &attributes))
		return NULL;
	return (*env)->NewStringUTF(env, attributes.fw_ver);
}

/* The PCI vendor of a device's adapter, or 0. For drivers that do not say it themselves, such as mana for years. */
static unsigned int pci_vendor(const struct ibv_device *device)
{
	char path[sizeof(device->ibdev_path) + 16];
	unsigned int vendor = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/vendor", device->ibdev_path);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%x", &vendor) != 1)
		vendor = 0;
	fclose(file);
	return vendor;
}

static jint device_attributes(JNIEnv *env, jclass type, jlong device, jintArray out)
{
	(void)type;
	struct ibv_context *context = jrs_pointer(device);
	struct ibv_device_attr attributes;
	int rc;

	/* Kernels without ioctl for verbs are called with write(), and /dev/null takes whatever is written. */
	if (is_detached(context))
		return -ENODEV;
	rc = ibv_query_device(context, &attributes);
	if (rc)
		return jrs_status(rc);
	jint values[DEVICE_ELEMENTS] = {
		[IWARP] = context->device->transport_type == IBV_TRANSPORT_IWARP,
		[MAX_QP] = attributes.max_qp,
		[MAX_QP_WR] = attributes.max_qp_wr,
		[MAX_CQE] = attributes.max_cqe,
		[MAX_MR] = attributes.max_mr,
		[PORTS] = attributes.phys_port_cnt,
		[VECTORS] = context->num_comp_vectors,
		[CMD_FD] = context->cmd_fd,
		[ASYNC_FD] = context->async_fd,
		[VENDOR] = (jint)(attributes.vendor_id ? attributes.vendor_id : pci_vendor(context->device)),
	};
	(*env)->SetIntArrayRegion(env, out, 0, DEVICE_ELEMENTS, values);
	return 0;
}

static jint port_attributes(JNIEnv *env, jclass type, jlong device, jint port, jintArray out)
{
	(void)type;
	struct ibv_port_attr attributes;
	int rc = ibv_query_port(jrs_pointer(device), (uint8_t)port, &attributes);

	if (rc)
		return jrs_status(rc);
	jint values[PORT_ELEMENTS] = {
		[STATE] = attributes.state,
		[ETHERNET] = attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
		[MTU] = 128 << attributes.active_mtu,
		[GIDS] = attributes.gid_tbl_len,
	};
	(*env)->SetIntArrayRegion(env, out, 0, PORT_ELEMENTS, values);
	return 0;
}

static jstring port_state(JNIEnv *env, jclass type, jint state)
{
	(void)type;
	return (*env)->NewStringUTF(env, ibv_port_state_str((enum ibv_port_state)state));
}

/* Returns 0 and the 16 bytes of the entry, or a negative errno. Unfilled entries are zero, or fail on some kernels. */
static jint port_gid(JNIEnv *env, jclass type, jlong device, jint port, jint index, jbyteArray out)
{
	(void)type;
	union ibv_gid gid;

	errno = 0;
	if (ibv_query_gid(jrs_pointer(device), (uint8_t)port, index, &gid))
		return errno ? -errno : -EIO;
	(*env)->SetByteArrayRegion(env, out, 0, sizeof(gid.raw), (const jbyte *)gid.raw);
	return 0;
}

/*
 * Returns the number of what an event is about: a port, a queue pair, or the kernel's handle of a completion queue; 0
 * for anything else. Must come before the acknowledgement: after that, another thread may free the queue.
 */
static unsigned int number_of(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq->handle;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		return event->element.qp->qp_num;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return event->element.port_num & 0xff;
	default:
		return 0;
	}
}

/*
 * Acknowledges an event, or the queue that it is about could never be destroyed. Returns its type and, above the seven
 * bits of that, 24 bits of the number; or -EAGAIN for none.
 */
static jint async_event(JNIEnv *env, jclass type, jlong device)
{
	(void)env;
	(void)type;
	struct ibv_async_event event;
	unsigned int number;

	errno = 0;
	if (ibv_get_async_event(jrs_pointer(device), &event))
		return errno ? -errno : -EIO;
	number = number_of(&event);
	ibv_ack_async_event(&event);
	return (jint)((unsigned int)event.event_type | (number & 0xffffff) << 7);
}

/* Opened before it is needed: a process without a descriptor to spare must be able to give a device back. */
static int null_device = -1;

void jrs_device_init(void)
{
	null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
}

/*
 * The context belongs to librdmacm, which closes it, and with it the descriptors' numbers, when it likes. So the
 * numbers become those of /dev/null: for the kernel the context is then gone, and so is all that was made on it.
 */
static jint detach_device(JNIEnv *env, jclass type, jlong device)
{
	(void)env;
	(void)type;
	struct ibv_context *context = jrs_pointer(device);

	if (null_device < 0)
		jrs_device_init();
	if (null_device < 0 || dup3(null_device, context->cmd_fd, O_CLOEXEC) < 0 ||
	    dup3(null_device, context->async_fd, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static const JNINativeMethod table[] = {
	JRS_METHOD("openDevice", "(Ljava/lang/String;)J", open_device),
	JRS_METHOD("closeDevice", "(J)I", close_device),
	JRS_METHOD("deviceName", "(J)Ljava/lang/String;", device_name),
	JRS_METHOD("deviceFirmware", "(J)Ljava/lang/String;", device_firmware),
	JRS_METHOD("deviceAttributes", "(J[I)I", device_attributes),
	JRS_METHOD("portAttributes", "(JI[I)I", port_attributes),
	JRS_METHOD("portState", "(I)Ljava/lang/String;", port_state),
	JRS_METHOD("portGid", "(JII[B)I", port_gid),
	JRS_METHOD("asyncEvent", "(J)I", async_event),
	JRS_METHOD("detachDevice", "(J)I", detach_device),
};

JRS_METHODS(jrs_device);
