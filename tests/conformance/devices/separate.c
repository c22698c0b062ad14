/* Several devices: each has memory, declared variables, queues and present table of its own. */
#include "../check.h"
#include <openacc.h>

#define N 1000

int table[4] = {1, 2, 3, 4};
#pragma acc declare create(table)
int *rows;
#pragma acc declare link(rows)

#pragma acc routine seq
int of_table(int i) { return table[i % 4]; }

static int sum_on(int device) {
  int sum = 0;
  acc_set_device_num(device, acc_device_default);
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 4; i++)
    sum += of_table(i);
  return sum;
}

int main(void) {
  int devices = acc_get_num_devices(acc_device_default), *a = malloc(N * sizeof *a);
  if (!separate_memory())
    return report();
  for (int d = 0; d < devices; d++) {
    acc_set_device_num(d, acc_device_default);
    for (int i = 0; i < 4; i++)
      table[i] = 10 * d + i;
#pragma acc update device(table)
    for (int i = 0; i < N; i++)
      a[i] = d;
    CHECK(!acc_is_present(a, N * sizeof *a));
#pragma acc enter data copyin(a[0:N])
  }
  for (int d = 0; d < devices; d++)
    CHECK(sum_on(d) == 40 * d + 6);
  for (int d = devices - 1; d >= 0; d--) { /* kernels on all devices, queued before any is waited for */
    acc_set_device_num(d, acc_device_default);
#pragma acc parallel loop present(a[0:N]) async(d)
    for (int i = 0; i < N; i++)
      a[i] = 2 * a[i] + i;
  }
  for (int d = 0; d < devices; d++) {
    int wrong = 0;
    acc_set_device_num(d, acc_device_default);
    acc_wait_device(d, d);
    CHECK(acc_async_test_all_device(d));
#pragma acc exit data copyout(a[0:N])
    for (int i = 0; i < N; i++)
      wrong += a[i] != 2 * d + i;
    CHECK(wrong == 0);
    CHECK(!acc_is_present(a, N * sizeof *a));
  }
  for (int round = 0; round < 3; round++) /* the same constructs, device after device */
    for (int d = 0; d < devices; d++) {
      acc_set_device_num(d, acc_device_default);
      int sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0:N])
      for (int i = 0; i < N; i++)
        sum += a[i] - 2 * (devices - 1);
      CHECK(sum == N * (N - 1) / 2);
    }
  acc_set_device_num(devices - 1, acc_device_default);
#pragma acc enter data copyin(a[0:N])
  acc_shutdown_device(devices - 1, acc_device_default);
  CHECK(!acc_is_present(a, N * sizeof *a));
#pragma acc parallel loop copy(a[0:N])
  for (int i = 0; i < N; i++)
    a[i] = i;
  CHECK(a[N - 1] == N - 1 && sum_on(0) == 6);
  free(a);
  return report();
}
