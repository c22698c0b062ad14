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
  int none = devices + 5; /* no such device, where `if` is false */
#pragma acc enter data copyin(a) deviceid(none) if (none < devices)
#pragma acc parallel loop deviceid(none) if (none < devices)
  for (int i = 0; i < N; i++)
    b[i] = -i;
  CHECK(b[N - 1] == 1 - N);
  int asked = 0, last = devices - 1;
#pragma acc update self(b) deviceid(none) if (asked++ > 0)
  CHECK(asked == 1);
#pragma acc enter data copyin(b) deviceid(last)
#pragma acc host_data use_device(b) deviceid(last)
  {
    CHECK(acc_get_device_num(acc_device_default) == 0);
    if (separate_memory())
      CHECK((void *)b != acc_deviceptr(a));
  }
#pragma acc init deviceid(last)
#pragma acc shutdown deviceid(last)
  acc_set_device_num(last, acc_device_default);
  CHECK(!separate_memory() || !acc_is_present(b, sizeof b));
  acc_set_device_num(0, acc_device_default);
  CHECK(sum == (devices > 1 ? N * (N - 1) + N : N * (N - 1) / 2));
  CHECK(acc_get_device_num(acc_device_default) == 0);
  return report();
}
