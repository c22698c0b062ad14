/*
 * A device for each thread, and other constructs of OpenACC in regions of OpenMP; checked with any number of devices.
 */
#include <omp.h>
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, ROUNDS = 20 };
static int failures;
static void expect(const char *what, double found, double wanted)
{
  if (found != wanted) {
#pragma omp critical
    printf("%s: %g instead of %g\n", what, found, wanted), failures++;
  }
}

static void a_device_each(int devices)
{
  double *x = malloc(N * sizeof *x);
  for (int i = 0; i < N; i++)
    x[i] = i;
#pragma omp parallel num_threads(devices)
  {
    int own = omp_get_thread_num(), first = N / devices * own;
    int count = own == devices - 1 ? N - first : N / devices;
    acc_set_device_num(own, acc_device_default);
#pragma acc data copy(x[first:count])
    for (int round = 0; round < ROUNDS; round++) {
#pragma acc parallel loop present(x[first:count])
      for (int i = first; i < first + count; i++)
        x[i] += 1;
    }
    expect("the thread's device", acc_get_device_num(acc_device_default), own);
    acc_set_device_num(0, acc_device_default);
  }
  for (int i = 0; i < N; i++)
    expect("a device each", x[i], i + ROUNDS);
  free(x);
}

static void one_device_for_all(void)
{
  double y[N], sum = 0;
  int done = 0;
#pragma acc data create(y)
  {
#pragma omp parallel num_threads(4) reduction(+ : sum) shared(y)
    {
      int own = omp_get_thread_num(), queue = own + 1;
      double part = 0;
#pragma acc parallel loop present(y) async(queue)
      for (int i = own; i < N; i += 4)
        y[i] = i;
#pragma acc parallel loop present(y) reduction(+ : part) async(queue)
      for (int i = own; i < N; i += 4)
        part += y[i];
#pragma acc wait(queue)
      sum += part;
#pragma omp barrier
#pragma omp single
      {
#pragma acc serial present(y)
        y[0] = -7;
#pragma acc update self(y[0:1])
        done = y[0] == -7;
      }
    }
  }
  expect("one device for all", sum, (double)N * (N - 1) / 2);
  expect("update in single", done, 1);
}

int main(void)
{
  int devices = acc_get_num_devices(acc_device_default);
  a_device_each(devices);
  one_device_for_all();
  printf("devices: %s\n", failures ? "FAILED" : "as expected");
  return failures != 0;
}
