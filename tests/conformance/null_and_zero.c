/* Null pointers, zero bytes and unknown devices in routines and clauses: no action. */
#include "check.h"
#include <openacc.h>
int main(void) {
  int a[10] = {0};
  int q[3] = {acc_async_sync, 5, acc_async_noval};
  int *np = NULL;
  CHECK(acc_malloc(0) == NULL);
  acc_free(NULL);
  acc_copyin(a, 0);
  acc_create(a, 0);
  acc_delete(a, 0);
  acc_copyout(a, 0);
  CHECK(acc_deviceptr(NULL) == NULL);
  CHECK(acc_hostptr(NULL) == NULL);
  CHECK(acc_deviceptr(a) == NULL);
  acc_attach(NULL);
  acc_detach(NULL);
  acc_attach((void **)&np);
  acc_detach((void **)&np);
  acc_memcpy_to_device(NULL, NULL, 0);
  acc_memcpy_from_device(NULL, NULL, 0);
  acc_memcpy_device(NULL, NULL, 0);
  int w = acc_wait_any(3, q);
  CHECK(w >= 0 && w < 3);
  acc_copyin(NULL, 40);
  acc_delete(NULL, 40);
  acc_copyout(NULL, 4);
  acc_create(NULL, 4);
  acc_update_device(a, 0);
  acc_update_self(a, 0);
  CHECK_EQ(acc_get_num_devices((acc_device_t)77), 0);
  CHECK(acc_get_property(0, acc_device_none, acc_property_memory) == 0);
  CHECK(acc_get_property_string(0, acc_device_radeon, acc_property_name) == NULL);
  acc_wait(acc_async_default);
  CHECK(acc_async_test(acc_async_default));
  CHECK(acc_async_test(acc_async_noval));
  acc_wait_async(acc_async_sync, 3);
  acc_wait_async(3, acc_async_sync);
  acc_wait_async(3, 3);
  acc_wait_all_async(acc_async_noval);
  CHECK_EQ(acc_get_device_num(acc_device_radeon), 0);
  acc_init(acc_device_current);
  acc_shutdown(acc_device_current);
  acc_shutdown(acc_device_default);
  acc_shutdown(acc_device_host);
  acc_init(acc_device_default);
#pragma acc parallel loop copy(np[0:0])
  for (int i = 0; i < 0; i++)
    np[i] = 0;
#pragma acc data copy(np[0:10])
  {
  }
#pragma acc enter data copyin(a[0:0]) create(a[3:0])
#pragma acc exit data delete(a[0:0])
#pragma acc update self(a[2:0]) if_present
  for (int v = 0; v < 3; v++) {
#pragma acc parallel loop copy(a[v:v*2])
    for (int i = v; i < 3 * v; i++)
      a[i] += 1;
  }
  CHECK_EQ(a[1], 1);
  CHECK_EQ(a[2], 2);
  CHECK_EQ(a[5], 1);
  return report();
}
