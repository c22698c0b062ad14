/* init, shutdown and set with every clause. */
#include "check.h"
#include <openacc.h>
/* directives init/shutdown/set in all forms */
int main(void) {
  int one = 1, zero = 0, a[10] = {0};
#pragma acc init
#pragma acc init device_type(default)
#pragma acc init device_num(0)
#pragma acc init device_type(default) device_num(zero) if(one)
#pragma acc init if(zero)
#pragma acc init device_type(host)
#pragma acc init device_type(NVIDIA)  if(0)
#pragma acc set default_async(3)
  CHECK_EQ(acc_get_default_async(), 3);
#pragma acc parallel copy(a) async
  a[0] = 5;
#pragma acc wait(3)
  CHECK_EQ(a[0], 5);
#pragma acc set default_async(one + 3) if(zero)
  CHECK_EQ(acc_get_default_async(), 3);
#pragma acc set default_async(acc_async_default)
#pragma acc set device_num(0)
#pragma acc set device_type(default)
#pragma acc set device_type(default) device_num(zero) default_async(1) if(one)
  CHECK_EQ(acc_get_default_async(), 1);
#pragma acc set default_async(acc_async_sync)
#pragma acc parallel loop copy(a) async
  for (int i = 0; i < 10; i++)
    a[i] = i;
  CHECK_EQ(a[9], 9);
#pragma acc set device_type(host)
  CHECK(acc_get_device_type() == acc_device_host);
#pragma acc parallel loop copy(a)
  for (int i = 0; i < 10; i++)
    a[i] += acc_on_device(acc_device_host) ? 10 : 20;
  CHECK_EQ(a[9], 19);
#pragma acc set device_type(default)
#pragma acc shutdown if(zero)
#pragma acc shutdown device_type(default) device_num(0) if(one)
#pragma acc shutdown device_type(host)
#pragma acc shutdown
#pragma acc parallel loop copy(a)
  for (int i = 0; i < 10; i++)
    a[i] = i;
  CHECK_EQ(a[9], 9);
#pragma acc enter data copyin(a)
#pragma acc shutdown
  CHECK(!acc_is_present(a, sizeof a));
  return report();
}
