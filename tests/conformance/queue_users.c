// What the end of a region does with data that other queues still use: it frees and copies after them. (By the letter
// such a program has a race, 2.16; it must not corrupt memory, and what it gets is the kernel's result.)
#include <openacc.h>
#include <stdlib.h>

#include "check.h"

enum { N = 1 << 12, ROUNDS = 8, BLOCKS = 6 };

static double slow(double x) {
  double s = 1;
  for (int k = 0; k < 60; ++k) s = s * 0.5 + x;
  return s;
}
#pragma acc routine(slow) seq

struct Row {
  int n;
  double *x;
};

static void freed_blocks(void) {
  for (int round = 0; round < ROUNDS; ++round) {
    double *in = malloc(N * sizeof *in), *fresh[BLOCKS];
    int bad = 0;
    for (int i = 0; i < N; ++i) in[i] = i;
#pragma acc data copyin(in[0 : N])
    {
#pragma acc parallel loop async(1 + round % 3)
      for (int i = 0; i < N; ++i) in[i] = slow(in[i]);
    }
    for (int k = 0; k < BLOCKS; ++k) {
      fresh[k] = malloc(N * sizeof(double));
      for (int i = 0; i < N; ++i) fresh[k][i] = -1;
    }
#pragma acc wait
    for (int k = 0; k < BLOCKS; ++k) {
      for (int i = 0; i < N; ++i) bad += fresh[k][i] != -1;
      free(fresh[k]);
    }
    free(in);
    CHECK(bad == 0);
  }
}

static void copied_blocks(void) {
  static double v[N], w[N];
  for (int i = 0; i < N; ++i) v[i] = i;
  for (int round = 0; round < ROUNDS; ++round) {
    int bad = 0;
#pragma acc data copyin(v) copyout(w)
    {
      // The second and third time through, native code knows this construct.
      for (int again = 0; again < 3; ++again) {
#pragma acc parallel loop async(again)
        for (int i = 0; i < N; ++i) w[i] = v[i] + 1 + 0 * slow(v[i]);
      }
    }
    for (int i = 0; i < N; ++i) bad += w[i] != v[i] + 1;
    CHECK(bad == 0);
#pragma acc wait
  }
}

static void detached_pointers(void) {
  struct Row row = {N, malloc(N * sizeof(double))};
  for (int i = 0; i < N; ++i) row.x[i] = 1;
#pragma acc data copyin(row) copy(row.x[0 : N])
  {
#pragma acc parallel loop async(2) present(row)
    for (int i = 0; i < N; ++i) row.x[i] += 1 + 0 * slow(i);
  }
  int bad = 0;
  for (int i = 0; i < N; ++i) bad += row.x[i] != 2;
  CHECK(bad == 0);
#pragma acc wait
  free(row.x);
}

static void queue_numbers(void) {
  int queue = acc_get_default_async(), queues[2] = {3, acc_async_sync};
  CHECK(queue >= 0);
  int t[8];
#pragma acc data copyout(t)
  {
#pragma acc parallel loop async
    for (int i = 0; i < 8; ++i) t[i] = i;
#pragma acc wait(queue)
#pragma acc parallel loop async(3)
    for (int i = 0; i < 8; ++i) t[i] += 1;
    CHECK(acc_wait_any(2, queues) == 0);
  }
  CHECK(t[7] == 8);
  queues[0] = acc_async_sync;
  CHECK(acc_wait_any(2, queues) == -1);
}

int main(void) {
  freed_blocks();
  copied_blocks();
  detached_pointers();
  queue_numbers();
  return report();
}
