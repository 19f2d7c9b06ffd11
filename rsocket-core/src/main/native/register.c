/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Registers tables of native functions with a class when a library is loaded. Compiled into both libraries.
 */
#include "jrsocket.h"

#include <stdio.h>

static void refuse(JNIEnv *env, const char *message)
{
	jclass error = (*env)->FindClass(env, "java/lang/UnsatisfiedLinkError");

	if (error)
		(*env)->ThrowNew(env, error, message);
}

/* A library from another build than the classes would be called with other arguments than it expects. */
static int same_abi(JNIEnv *env, jclass type, const char *library)
{
	jfieldID field = (*env)->GetStaticFieldID(env, type, "ABI", "I");
	char message[128];
	jint expected;

	if (!field)
		return 0;
	expected = (*env)->GetStaticIntField(env, type, field);
	if (expected == JRS_ABI)
		return 1;
	snprintf(message, sizeof(message), "%s.so has ABI %d and the classes expect %d: they are from different builds",
		 library, JRS_ABI, (int)expected);
	refuse(env, message);
	return 0;
}

jint jrs_register(JNIEnv *env, const char *class_name, const char *library, const struct jrs_methods *const *tables,
		  size_t count)
{
	jclass type = (*env)->FindClass(env, class_name);

	if (!type || !same_abi(env, type, library))
		return JNI_ERR;
	for (size_t i = 0; i < count; i++) {
		if ((*env)->RegisterNatives(env, type, tables[i]->table, tables[i]->count) != JNI_OK) {
			/* The library is unloaded after JNI_ERR, so no method may still point into it. */
			jthrowable cause = (*env)->ExceptionOccurred(env);

			(*env)->ExceptionClear(env);
			(*env)->UnregisterNatives(env, type);
			if (cause)
				(*env)->Throw(env, cause);
			return JNI_ERR;
		}
	}
	(*env)->DeleteLocalRef(env, type);
	return JNI_OK;
}
