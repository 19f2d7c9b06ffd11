/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the C files of both libraries share: libjrsocket-os (os/, which needs nothing but the C library) and libjrsocket
 * (rdma/, which needs rdma-core). Every native method is a static function here and a static method of
 * org.jrsocket.os.OsNative or org.jrsocket.verbs.rdmacore.Native in Java. Results that can fail are a negative errno.
 * Handles and addresses are passed as jlong. Nothing calls back into Java.
 */
#ifndef JRSOCKET_H
#define JRSOCKET_H

#include <errno.h>
#include <jni.h>
#include <stddef.h>
#include <stdint.h>

/* Raised with every change of a signature or a struct layout; the ABI field of each class must be the same. */
#define JRS_ABI 10

/* One table for each C file, registered by onload.c. */
struct jrs_methods {
	const JNINativeMethod *table;
	jint count;
};

#define JRS_METHODS(name)                                                                          \
	const struct jrs_methods name = { table, (jint)(sizeof(table) / sizeof(table[0])) }

/* The cast drops the parameter list, which the signature string repeats. */
#define JRS_METHOD(java_name, signature, function)                                                 \
	{ (char *)(java_name), (char *)(signature), (void *)(function) }

/*
 * For JNI_OnLoad: checks that the class is from the same build, and registers the tables with it. Returns 0, or JNI_ERR
 * with an exception pending.
 */
jint jrs_register(JNIEnv *env, const char *class_name, const char *library, const struct jrs_methods *const *tables,
		  size_t count);

static inline void *jrs_pointer(jlong handle)
{
	return (void *)(uintptr_t)handle;
}

static inline jlong jrs_handle(const void *pointer)
{
	return (jlong)(uintptr_t)pointer;
}

/* For calls that return a number, or -1 and set errno. */
static inline jint jrs_result(int rc)
{
	return rc < 0 ? -errno : rc;
}

/*
 * Why a call of librdmacm or libibverbs failed. They return a positive errno, a negative one (the libraries of erdma,
 * qedr, siw and others), or -1 and set errno.
 */
static inline int jrs_reason(int rc)
{
	if (rc > 0)
		return rc;
	if (rc < -1)
		return -rc;
	return errno ? errno : EIO;
}

/* For calls of librdmacm and libibverbs that return 0 or a failure. */
static inline jint jrs_status(int rc)
{
	return rc ? -jrs_reason(rc) : 0;
}

/* For calls that return a pointer, or NULL and set errno. */
static inline jlong jrs_created(const void *pointer)
{
	if (pointer)
		return jrs_handle(pointer);
	return errno ? -errno : -EIO;
}

#endif
