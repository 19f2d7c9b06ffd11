/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The native methods of org.jrsocket.verbs.rdmacore.Native.
 */
#include "jrsocket.h"

#include <stdlib.h>

extern const struct jrs_methods jrs_device;
extern const struct jrs_methods jrs_cm;
extern const struct jrs_methods jrs_verbs;
extern const struct jrs_methods jrs_datapath;

/* Prepares the constant chain of receives that datapath.c posts from. */
void jrs_datapath_init(void);

/* Opens what device.c will need when a device is removed. */
void jrs_device_init(void);

static const struct jrs_methods *const tables[] = { &jrs_device, &jrs_cm, &jrs_verbs, &jrs_datapath };

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	JNIEnv *env;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	if (jrs_register(env, "org/jrsocket/verbs/rdmacore/Native", "libjrsocket", tables,
			 sizeof(tables) / sizeof(tables[0])) != JNI_OK)
		return JNI_ERR;
	jrs_datapath_init();
	jrs_device_init();
	/*
	 * Set before libibverbs reads it. What was made on a device that is gone can then be freed on this side,
	 * although the kernel no longer knows it; otherwise its memory would stay for ever.
	 */
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 0);
	return JNI_VERSION_1_8;
}
