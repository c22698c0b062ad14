/* deviceid(n) (research extension): constructs of one device, whatever the current one is. */
#include "../check.h"
#include <openacc.h>

#define N 60

int main(void) {
  int a[N], b[N], sum = 0, devices = acc_get_num_devices(acc_device_default);
  for (int i = 0; i < N; i++)
    a[i] = i;
  for (int d = 0; d < devices && d < 2; d++) {
#pragma acc enter data copyin(a) deviceid(d)
#pragma acc data deviceid(d) create(b)
    {
      CHECK(acc_get_device_num(acc_device_default) == 0);
#pragma acc parallel loop deviceid(d) present(a, b) async(1)
      for (int i = 0; i < N; i++)
        b[i] = a[i] + d;
#pragma acc wait(1) deviceid(d)
#pragma acc update self(b) deviceid(d)
      CHECK(b[N - 1] == N - 1 + d);
#pragma acc kernels loop deviceid(d) reduction(+ : sum)
      for (int i = 0; i < N; i++)
        sum += b[i];
    }
#pragma acc exit data delete(a) deviceid(d)
    if (d > 0 && separate_memory())
      CHECK(!acc_is_present(a, sizeof a));
  }
  CHECK(sum == (devices > 1 ? N * (N - 1) + N : N * (N - 1) / 2));
  CHECK(acc_get_device_num(acc_device_default) == 0);
  return report();
}
