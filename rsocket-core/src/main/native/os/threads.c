/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the kernel schedules threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SCHED_BATCH */
#endif
#include "jrsocket.h"

#include <sched.h>

static jint background(JNIEnv *env, jclass type)
{
	(void)env;
	(void)type;
	struct sched_param param = { .sched_priority = 0 };

	/* The library's call is for a process; in Linux, and with 0, it is for the calling thread. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return 0;
	return jrs_result(sched_setscheduler(0, SCHED_BATCH, &param));
}

static const JNINativeMethod table[] = {
	JRS_METHOD("background", "()I", background),
};

JRS_METHODS(jrs_threads);
