/* Host threads: variables of their own, queues and present data in common, the same constructs at once. */
#include "check.h"
#include <openacc.h>
#include <pthread.h>
#define T 8
#define N 256

static int data[T][N], first[T], bad[T];

static void each(void *(*work)(void *)) {
  pthread_t threads[T];
  for (long t = 0; t < T; t++)
    pthread_create(&threads[t], NULL, work, (void *)t);
  for (int t = 0; t < T; t++)
    pthread_join(threads[t], NULL);
}

static void *own_queue(void *arg) {
  int t = (int)(long)arg, *a = data[t];
  first[t] = acc_get_default_async();
  acc_set_default_async(10 + t);
#pragma acc enter data copyin(a[0:N])
  for (int r = 0; r < 5; r++) {
#pragma acc parallel loop present(a[0:N]) async
    for (int i = 0; i < N; i++)
      a[i] += t + 1;
  }
  bad[t] += acc_get_default_async() != 10 + t;
#pragma acc wait(10 + t)
#pragma acc exit data copyout(a[0:N])
  return NULL;
}

static void step(int *a, int n, int by, int queue) {
#pragma acc parallel loop present(a[0:n]) async(queue)
  for (int i = 0; i < n; i++)
    a[i] += by;
}

static void *same_constructs(void *arg) {
  int x = (int)(long)arg, *a = calloc(N, sizeof(int));
  for (int r = 0; r < 20; r++) {
    int sum = 0, y = r;
#pragma acc data copy(a[0:N])
    {
      for (int k = 0; k < 4; k++)
        step(a, N, x, x);
#pragma acc wait(x)
    }
#pragma acc parallel loop reduction(+ : sum) copyin(a[0:N])
    for (int i = 0; i < N; i++)
      sum += a[i];
    bad[x] += sum != N * 4 * x * (r + 1);
#pragma acc serial copy(y)
    y += x;
    bad[x] += y != r + x;
  }
  for (int i = 0; i < N; i++)
    bad[x] += a[i] != 80 * x;
  free(a);
  return NULL;
}

int main(void) {
  int initial = acc_get_default_async();
  acc_set_default_async(3);
  each(own_queue);
  CHECK_EQ(acc_get_default_async(), 3);
  for (int t = 0; t < T; t++)
    CHECK(data[t][N - 1] == 5 * (t + 1) && first[t] == initial);
  each(same_constructs);
  for (int t = 0; t < T; t++)
    CHECK_EQ(bad[t], 0);
  return report();
}
