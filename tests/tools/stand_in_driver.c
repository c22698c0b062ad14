/*
 * A stand-in for libcuda.so.1: every call succeeds, a GPU's memory is memory of the process, work is done at
 * the call, and kernels do nothing. STAND_IN_GPUS is the number of its GPUs (1). The calls are written to
 * the file STAND_IN_CALLS.PID, a line each: the GPU of the current context, the function, sizes and numbers,
 * and no addresses, so that two runs of one program can be compared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *handle;
typedef size_t size;
typedef unsigned number;

enum { NOT_SUPPORTED = 801, INVALID_DEVICE = 101, OUT_OF_MEMORY = 2, GPUS = 16 };

static char contexts[GPUS];
static __thread handle context;

static int gpus(void)
{
    const char *text = getenv("STAND_IN_GPUS");
    return text ? atoi(text) : 1;
}

static FILE *calls(void)
{
    static FILE *file;
    static pid_t owner;
    const char *name = getenv("STAND_IN_CALLS");
    if (name && owner != getpid()) {
        char path[4096];
        owner = getpid();
        snprintf(path, sizeof path, "%s.%d", name, (int)owner);
        file = fopen(path, "a");
    }
    return file;
}

static void note(const char *format, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    va_list values;
    pthread_mutex_lock(&lock);
    if (calls()) {
        if (context)
            fprintf(calls(), "%d ", (int)((char *)context - contexts));
        va_start(values, format);
        vfprintf(calls(), format, values);
        va_end(values);
        fputc('\n', calls());
        fflush(calls());
    }
    pthread_mutex_unlock(&lock);
}

static handle new_handle(void)
{
    static uintptr_t last = 0x1000;
    return (handle)__atomic_add_fetch(&last, 16, __ATOMIC_RELAXED);
}

static int new_block(void **block, size bytes)
{
    if (posix_memalign(block, 4096, bytes + 16))
        return OUT_OF_MEMORY;
    memset(*block, 0, bytes);
    return 0;
}

/* A driver function that notes its call, and the name of its second version. */
#define CALL(name, parameters, report, ...) int name parameters { note report; __VA_ARGS__; return 0; }
#define SILENT(name, parameters, ...) int name parameters { __VA_ARGS__; return 0; }
#define SECOND(name) int name##_v2() __attribute__((alias(#name)));
#define GPU(given) (int)((char *)(given) - contexts)

/* GPUs and contexts; the numbers are those of an H200, 1 for all others */
static const struct { int which, value; } attributes[] = {
    {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152},
    {10, 32}, {12, 65536}, {13, 1980000}, {16, 132}, {36, 3201000}, {37, 6144}, {38, 60 << 20}, {39, 2048},
    {75, 9}, {76, 0}, {81, 233472}, {82, 65536}, {97, 232448}, {106, 32},
};

static int attribute(int which)
{
    for (size i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].which == which)
            return attributes[i].value;
    return 1;
}

CALL(cuInit, (number flags), ("cuInit"))
SILENT(cuDriverGetVersion, (int *version), *version = 13000)
SILENT(cuDeviceGetCount, (int *count), *count = gpus())
SILENT(cuDeviceGet, (int *gpu, int ordinal), *gpu = ordinal; if (ordinal >= gpus()) return INVALID_DEVICE)
SILENT(cuDeviceGetName, (char *text, int most, int gpu), snprintf(text, most, "NVIDIA H200"))
SILENT(cuDeviceTotalMem, (size *bytes, int gpu), *bytes = (size)140 << 30)
SECOND(cuDeviceTotalMem)
SILENT(cuDeviceGetAttribute, (int *value, int which, int gpu), *value = attribute(which))
CALL(cuDevicePrimaryCtxRetain, (handle *made, int gpu), ("cuDevicePrimaryCtxRetain %d", gpu),
     *made = &contexts[gpu])
CALL(cuDevicePrimaryCtxRelease, (int gpu), ("cuDevicePrimaryCtxRelease %d", gpu))
SECOND(cuDevicePrimaryCtxRelease)
SILENT(cuCtxSetCurrent, (handle given), context = given)
SILENT(cuCtxGetCurrent, (handle *given), *given = context)
SILENT(cuCtxSynchronize, (void))
SILENT(cuCtxGetLimit, (size *value, int limit), *value = 1024)
CALL(cuCtxSetLimit, (int limit, size value), ("cuCtxSetLimit %d", limit))
CALL(cuCtxEnablePeerAccess, (handle peer, number flags), ("cuCtxEnablePeerAccess %d", GPU(peer)))
SILENT(cuDeviceCanAccessPeer, (int *can, int one, int other), *can = 1)

/* Memory */
SILENT(cuDeviceGetDefaultMemPool, (handle *pool, int gpu), *pool = new_handle())
SILENT(cuMemPoolSetAttribute, (handle pool, int which, void *value))
SILENT(cuMemPoolGetAttribute, (handle pool, int which, uint64_t *value), *value = 0)
CALL(cuMemPoolTrimTo, (handle pool, size kept), ("cuMemPoolTrimTo %zu", kept))
CALL(cuMemPoolSetAccess, (handle pool, const void *access, size count), ("cuMemPoolSetAccess %zu", count))
SILENT(cuMemGetInfo, (size *free, size *total), *free = *total = (size)130 << 30)
SECOND(cuMemGetInfo)
CALL(cuMemAlloc, (void **made, size bytes), ("cuMemAlloc %zu", bytes), return new_block(made, bytes))
SECOND(cuMemAlloc)
CALL(cuMemAllocAsync, (void **made, size bytes, handle stream), ("cuMemAllocAsync %zu", bytes),
     return new_block(made, bytes))
CALL(cuMemAllocManaged, (void **made, size bytes, number flags), ("cuMemAllocManaged"),
     *made = calloc(1, (size)1 << 30))
CALL(cuMemFree, (void *given), ("cuMemFree"), free(given))
SECOND(cuMemFree)
CALL(cuMemFreeAsync, (void *given, handle stream), ("cuMemFreeAsync"), free(given))
CALL(cuMemHostAlloc, (void **made, size bytes, number flags), ("cuMemHostAlloc %zu %u", bytes, flags),
     return new_block(made, bytes))
CALL(cuMemFreeHost, (void *given), ("cuMemFreeHost"), free(given))
SILENT(cuMemHostGetDevicePointer, (void **on_gpu, void *given, number flags), *on_gpu = given)
SECOND(cuMemHostGetDevicePointer)

/* Copies */
#define COPY(name) \
    CALL(name, (void *to, const void *from, size bytes, handle stream), (#name " %zu", bytes), \
         memmove(to, from, bytes))
COPY(cuMemcpyHtoDAsync)
SECOND(cuMemcpyHtoDAsync)
COPY(cuMemcpyDtoHAsync)
SECOND(cuMemcpyDtoHAsync)
COPY(cuMemcpyDtoDAsync)
SECOND(cuMemcpyDtoDAsync)
COPY(cuMemcpyAsync)
CALL(cuMemcpyPeerAsync, (void *to, handle target, const void *from, handle source, size bytes, handle stream),
     ("cuMemcpyPeerAsync %d %d %zu", GPU(target), GPU(source), bytes), memmove(to, from, bytes))
CALL(cuMemcpyPeer, (void *to, handle target, const void *from, handle source, size bytes),
     ("cuMemcpyPeer %d %d %zu", GPU(target), GPU(source), bytes), memmove(to, from, bytes))
CALL(cuMemsetD8Async, (void *to, unsigned char value, size bytes, handle stream),
     ("cuMemsetD8Async %d %zu", value, bytes), memset(to, value, bytes))

enum { HOST = 1 };
struct side { size x, y; int kind; char *host, *on_gpu; handle array; size pitch; };
struct rectangle { struct side source, target; size width, height; };
struct part { size x, y, z, level; int kind; char *host, *on_gpu; handle array, context; size pitch, height; };
struct box { struct part source, target; size width, height, depth; };
#define PLACE(side) ((side).kind == HOST ? (side).host : (side).on_gpu)

static void move_rows(char *to, size to_pitch, const char *from, size from_pitch, size width, size rows)
{
    for (size row = 0; row < rows; row++)
        memmove(to + row * to_pitch, from + row * from_pitch, width);
}

static void move_box(const struct box *copy)
{
    const struct part *from = &copy->source, *to = &copy->target;
    for (size z = 0; z < copy->depth; z++)
        move_rows(PLACE(*to) + z * to->pitch * to->height, to->pitch,
                  PLACE(*from) + z * from->pitch * from->height, from->pitch, copy->width, copy->height);
}

CALL(cuMemcpy2DAsync, (const struct rectangle *copy, handle stream),
     ("cuMemcpy2DAsync %d %d %zu %zu", copy->source.kind, copy->target.kind, copy->width, copy->height),
     move_rows(PLACE(copy->target), copy->target.pitch, PLACE(copy->source), copy->source.pitch, copy->width,
               copy->height))
SECOND(cuMemcpy2DAsync)
CALL(cuMemcpy3DPeerAsync, (const struct box *copy, handle stream),
     ("cuMemcpy3DPeerAsync %d %d %zu %zu %zu", GPU(copy->target.context), GPU(copy->source.context),
      copy->width, copy->height, copy->depth),
     move_box(copy))

/* Streams and events */
CALL(cuStreamCreate, (handle *made, number flags), ("cuStreamCreate %u", flags), *made = new_handle())
CALL(cuStreamCreateWithPriority, (handle *made, number flags, int priority),
     ("cuStreamCreateWithPriority %u %d", flags, priority), *made = new_handle())
CALL(cuStreamDestroy, (handle stream), ("cuStreamDestroy"))
SECOND(cuStreamDestroy)
CALL(cuStreamSynchronize, (handle stream), ("cuStreamSynchronize"))
SILENT(cuStreamQuery, (handle stream))
CALL(cuLaunchHostFunc, (handle stream, void (*function)(void *), void *given), ("cuLaunchHostFunc"),
     function(given))
CALL(cuStreamWaitEvent, (handle stream, handle event, number flags), ("cuStreamWaitEvent"))
CALL(cuEventCreate, (handle *made, number flags), ("cuEventCreate %u", flags), *made = new_handle())
CALL(cuEventDestroy, (handle event), ("cuEventDestroy"))
SECOND(cuEventDestroy)
CALL(cuEventRecord, (handle event, handle stream), ("cuEventRecord"))
CALL(cuEventSynchronize, (handle event), ("cuEventSynchronize"))
SILENT(cuEventQuery, (handle event))
SILENT(cuEventElapsedTime, (float *milliseconds, handle start, handle end), *milliseconds = 1)

/* Code */
CALL(cuModuleLoadData, (handle *made, const void *image), ("cuModuleLoadData"), *made = new_handle())
CALL(cuModuleLoadDataEx, (handle *made, const char *image, number count, int *options, void **values),
     ("cuModuleLoadDataEx %zu", strlen(image)), *made = new_handle())
CALL(cuModuleUnload, (handle module), ("cuModuleUnload"))
CALL(cuModuleGetFunction, (handle *made, handle module, const char *name), ("cuModuleGetFunction %s", name),
     *made = new_handle())
CALL(cuModuleGetGlobal, (void **made, size *bytes, handle module, const char *name),
     ("cuModuleGetGlobal %s", name), *made = calloc(1, *bytes = 65536))
SECOND(cuModuleGetGlobal)
CALL(cuFuncSetAttribute, (handle kernel, int which, int value), ("cuFuncSetAttribute %d %d", which, value))
SILENT(cuFuncGetAttribute, (int *value, int which, handle kernel), *value = 32)
CALL(cuLaunchKernel, (handle kernel, number x, number y, number z, number lanes, number rows, number layers,
                      number shared, handle stream, void **arguments, void **further),
     ("cuLaunchKernel %ux%ux%u gangs of %ux%ux%u, %u bytes", x, y, z, lanes, rows, layers, shared))

/* Names */
SILENT(cuGetErrorName, (int status, const char **text), *text = "CUDA_ERROR")
SILENT(cuGetErrorString, (int status, const char **text), *text = "no text")

static int missing(void)
{
    note("a function that the stand-in does not have");
    return NOT_SUPPORTED;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found)
{
    void *own = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *function = own ? dlsym(own, name) : NULL;
    if (!*function)
        *function = (void *)missing;
    if (found)
        *found = 0;
    return 0;
}
