/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The native methods of org.jrsocket.os.OsNative.
 */
#include "jrsocket.h"

extern const struct jrs_methods jrs_memory;
extern const struct jrs_methods jrs_fds;

static const struct jrs_methods *const tables[] = { &jrs_memory, &jrs_fds };

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	JNIEnv *env;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	if (jrs_register(env, "org/jrsocket/os/OsNative", "libjrsocket-os", tables,
			 sizeof(tables) / sizeof(tables[0])) != JNI_OK)
		return JNI_ERR;
	return JNI_VERSION_1_8;
}
