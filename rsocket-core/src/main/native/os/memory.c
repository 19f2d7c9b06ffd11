/*
 * Copyright 2026 The jrsocket authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory that can be registered: whole pages, straight from the system.
 */
#include "jrsocket.h"

#include <sys/mman.h>
#include <unistd.h>

static jint page_size(JNIEnv *env, jclass type)
{
	(void)env;
	(void)type;
	return (jint)sysconf(_SC_PAGESIZE);
}

static jlong map(JNIEnv *env, jclass type, jlong bytes)
{
	(void)env;
	(void)type;
	void *address = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (address == MAP_FAILED)
		return -errno;
	/*
	 * When a pinned page is written after a fork, kernels before 5.12 give the copy to the parent, not to the
	 * child, and the device goes on using the old page. A child does not need this memory, so it gets no mapping;
	 * if that fails, newer kernels cope.
	 */
	(void)madvise(address, (size_t)bytes, MADV_DONTFORK);
	return jrs_handle(address);
}

static void unmap(JNIEnv *env, jclass type, jlong address, jlong bytes)
{
	(void)env;
	(void)type;
	munmap(jrs_pointer(address), (size_t)bytes);
}

static jobject view(JNIEnv *env, jclass type, jlong address, jlong bytes)
{
	(void)type;
	return (*env)->NewDirectByteBuffer(env, jrs_pointer(address), bytes);
}

static jlong address_of(JNIEnv *env, jclass type, jobject buffer)
{
	(void)type;
	return jrs_handle((*env)->GetDirectBufferAddress(env, buffer));
}

static const JNINativeMethod table[] = {
	JRS_METHOD("pageSize", "()I", page_size),
	JRS_METHOD("map", "(J)J", map),
	JRS_METHOD("unmap", "(JJ)V", unmap),
	JRS_METHOD("view", "(JJ)Ljava/nio/ByteBuffer;", view),
	JRS_METHOD("addressOf", "(Ljava/nio/ByteBuffer;)J", address_of),
};

JRS_METHODS(jrs_memory);
