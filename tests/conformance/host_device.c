/* The host as current device (2.3, 3.2.2): in a program for GPUs too, where it shares memory. */
#include "check.h"
#include <openacc.h>

#define N 40

static int on_gpu;

static int square(int x) { return x * x; }

static int where(void) {
  int device = -1;
#pragma acc parallel copyout(device)
  device = acc_on_device(acc_device_host);
  return device;
}

static void compute(void) {
  int a[N], b[N], sum = 0, w[4] = {1, 2, 3, 4};
  for (int i = 0; i < N; i++)
    b[i] = i;
#pragma acc data copyin(b) copyout(a)
  {
#pragma acc parallel loop async(2)
    for (int i = 0; i < N; i++)
      a[i] = square(b[i]);
#pragma acc kernels wait(2)
    for (int i = 0; i < N; i++)
      a[i] += 1;
#pragma acc update self(a)
    CHECK_EQ(a[N - 1], (N - 1) * (N - 1) + 1);
  }
#pragma acc parallel loop reduction(+ : sum) copyin(a)
  for (int i = 0; i < N; i++)
    sum += a[i];
  CHECK_EQ(sum, (N - 1) * N * (2 * N - 1) / 6 + N);
#pragma acc serial copy(sum)
  sum += 1;
  CHECK_EQ(sum, (N - 1) * N * (2 * N - 1) / 6 + N + 1);
#pragma acc parallel loop gang firstprivate(w[1:2]) copyout(a)
  for (int i = 0; i < N; i++)
    a[i] = w[1] + w[2] * i;
  CHECK_EQ(a[10], 32);
}

static void memory(void) {
  int x[4] = {1, 2, 3, 4}, *d = acc_malloc(sizeof x);
  acc_memcpy_to_device(d, x, sizeof x);
#pragma acc parallel loop deviceptr(d)
  for (int i = 0; i < 4; i++)
    d[i] *= 2;
  acc_memcpy_from_device(x, d, sizeof x);
  CHECK_EQ(x[3], 8);
  acc_free(d);
#pragma acc enter data copyin(x)
  CHECK(acc_is_present(x, sizeof x));
#pragma acc exit data delete(x)
}

int main(void) {
  acc_device_t own = acc_get_device_type();
  on_gpu = own == acc_device_nvidia;
  compute();
  CHECK_EQ(where(), !on_gpu);
  acc_set_device_type(acc_device_host);
  CHECK(acc_get_device_type() == acc_device_host);
  CHECK_EQ(where(), 1);
  compute();
  memory();
  acc_set_device_type(own);
  CHECK_EQ(where(), !on_gpu);
  compute();
  memory();
#pragma acc set device_type(host) device_num(0)
  CHECK_EQ(where(), 1);
  CHECK_EQ(acc_get_device_num(acc_device_host), 0);
  compute();
#pragma acc set device_type(default)
  acc_set_device_num(0, own);
  CHECK_EQ(where(), !on_gpu);
#pragma acc init device_type(host)
#pragma acc init device_type(multicore)
#pragma acc init
  CHECK(acc_get_property_string(0, acc_device_host, acc_property_name) != NULL);
  CHECK(acc_get_num_devices(acc_device_host) == 1);
  acc_init(acc_device_host);
#pragma acc shutdown device_type(host)
  compute();
#pragma acc shutdown
  compute();
  return report();
}
