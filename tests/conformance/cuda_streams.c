/* CUDA's streams: those of queues for the program, and the program's for queues. On other devices all is null.
   The driver's function that fills memory stands for a library: it works on the default stream, or a given one. */
#include "check.h"
#include <dlfcn.h>
#include <openacc.h>
#define N (1 << 22)

typedef int (*Fill)(unsigned long long, unsigned, size_t, void *);
typedef int (*Create)(void **, unsigned);

static unsigned *a;

static int all_are(unsigned value) {
  for (int i = 0; i < N; i++)
    if (a[i] != value)
      return 0;
  return 1;
}

static void add(unsigned value, int queue) {
#pragma acc parallel loop present(a[0:N]) async(queue)
  for (int i = 0; i < N; i++) a[i] += value;
}

static void fill(Fill fill_words, unsigned value, void *stream) {
#pragma acc host_data use_device(a)
  CHECK_EQ(fill_words((unsigned long long)a, value, N, stream), 0);
}

static void with_library(Fill fill_words, Create create) {
  void *stream = NULL;
  CHECK(acc_get_current_cuda_context() != NULL);
  for (int turn = 0; turn < 4; turn++) {
    add(1, acc_async_sync);
    fill(fill_words, 7, NULL); /* on the default stream: in turn with synchronous constructs */
#pragma acc parallel loop present(a[0:N])
    for (int i = 0; i < N; i++) a[i] += turn;
    fill(fill_words, 3 + turn, NULL);
#pragma acc update self(a[0:N])
    CHECK(all_are(3 + turn));
    fill(fill_words, 5, acc_get_cuda_stream(acc_async_sync));
    add(2, acc_async_sync);
    fill(fill_words, 11, acc_get_cuda_stream(2)); /* a queue's */
    add(turn, 2);
#pragma acc update self(a[0:N]) async(2)
#pragma acc wait(2)
    CHECK(all_are(11 + turn));
  }
  for (int queue = acc_async_sync; queue < 4; queue += 3) {
    CHECK_EQ(create(&stream, 1), 0);
    CHECK_EQ(acc_set_cuda_stream(queue, stream), 1);
    CHECK(acc_get_cuda_stream(queue) == stream);
    for (int turn = 0; turn < 4; turn++) {
      fill(fill_words, 13, stream);
      add(turn, queue);
      fill(fill_words, 17, stream);
      add(turn, queue);
#pragma acc update self(a[0:N]) async(queue)
      acc_async_wait(queue);
      CHECK(all_are(17 + turn));
    }
  }
}

int main(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  a = calloc(N, sizeof *a);
#pragma acc data copy(a[0:N])
  {
    if (acc_get_device_type() == acc_device_nvidia && library) {
      with_library((Fill)dlsym(library, "cuMemsetD32Async"), (Create)dlsym(library, "cuStreamCreate"));
    } else if (acc_get_device_type() == acc_device_host) {
      CHECK(acc_get_cuda_stream(1) == NULL && acc_get_cuda_stream(acc_async_sync) == NULL);
      CHECK_EQ(acc_set_cuda_stream(1, NULL), 0);
      CHECK(acc_get_current_cuda_context() == NULL && acc_get_current_cuda_device() == NULL);
    }
    add(1, 1);
    acc_async_wait(1);
    add(1, 2);
    acc_async_wait_all();
  }
  CHECK_EQ(a[N - 1] - a[0], 0);
  return report();
}
