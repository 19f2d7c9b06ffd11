/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ties the tables of the other files to org.jrsocket.verbs.Native when the library is loaded.
 */
#include "jrsocket.h"

#include <stdio.h>

static const struct jrs_methods *const tables[] = { &jrs_memory, &jrs_fds, &jrs_device, &jrs_cm, &jrs_verbs, &jrs_datapath };

static void refuse(JNIEnv *env, const char *message)
{
	jclass error = (*env)->FindClass(env, "java/lang/UnsatisfiedLinkError");

	if (error)
		(*env)->ThrowNew(env, error, message);
}

/* A library of another build than the classes would be called with other arguments than it expects. */
static int same_abi(JNIEnv *env, jclass type)
{
	jfieldID field = (*env)->GetStaticFieldID(env, type, "ABI", "I");
	char message[128];
	jint expected;

	if (!field)
		return 0;
	expected = (*env)->GetStaticIntField(env, type, field);
	if (expected == JRS_ABI)
		return 1;
	snprintf(message, sizeof(message), "libjrsocket.so has ABI %d and the classes expect %d: they are from different builds",
		 JRS_ABI, (int)expected);
	refuse(env, message);
	return 0;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	JNIEnv *env;
	jclass type;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	type = (*env)->FindClass(env, "org/jrsocket/verbs/Native");
	if (!type || !same_abi(env, type))
		return JNI_ERR;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if ((*env)->RegisterNatives(env, type, tables[i]->table, tables[i]->count) != JNI_OK) {
			/* The library is unloaded after JNI_ERR: no method may go on pointing into it. */
			jthrowable cause = (*env)->ExceptionOccurred(env);

			(*env)->ExceptionClear(env);
			(*env)->UnregisterNatives(env, type);
			if (cause)
				(*env)->Throw(env, cause);
			return JNI_ERR;
		}
	}
	(*env)->DeleteLocalRef(env, type);
	jrs_datapath_init();
	return JNI_VERSION_1_8;
}
