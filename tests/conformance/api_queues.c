/* The acc_* routines with queues, properties, device types, and their effects on counters. */
#include "check.h"
#include <openacc.h>
#define N 64
static void devices(void) {
  acc_device_t t = acc_get_device_type();
  CHECK(t != acc_device_none);
  CHECK_EQ(acc_get_num_devices(acc_device_none), 0);
  CHECK(acc_get_num_devices(acc_device_host) >= 1);
  CHECK(acc_get_num_devices(acc_device_default) >= 1);
  CHECK(acc_get_num_devices(acc_device_current) >= 1);
  CHECK(acc_get_num_devices(acc_device_radeon) == 0);
  acc_set_device_type(acc_device_default);
  CHECK(acc_get_device_type() == t);
  acc_set_device_type(acc_device_host);
  CHECK(acc_get_device_type() == acc_device_host);
  acc_set_device_type(t);
  CHECK(acc_get_device_type() == t);
  if (acc_get_num_devices(acc_device_not_host) > 0) {
    acc_set_device_type(acc_device_not_host);
    CHECK(acc_get_device_type() != acc_device_host);
    CHECK(acc_get_device_type() != acc_device_not_host);
  }
  acc_set_device_type(acc_device_current);
  for (int i = 0; i < acc_get_num_devices(t); i++) {
    acc_set_device_num(i, t);
    CHECK_EQ(acc_get_device_num(t), i);
  }
  acc_set_device_num(0, t);
  CHECK_EQ(acc_get_device_num(acc_device_current), 0);
  CHECK_EQ(acc_get_device_num(acc_device_default), 0);
  acc_init(t);
  acc_init(acc_device_default);
  acc_init_device(0, t);
  acc_init(acc_device_host);
  size_t mem = acc_get_property(0, t, acc_property_memory), fr = acc_get_property(0, t,
      acc_property_free_memory);
  CHECK(mem > 0);
  CHECK(fr > 0);
  CHECK(fr <= mem);
  size_t sh = acc_get_property(0, t, acc_property_shared_memory_support);
  CHECK(sh == 0 || sh == 1);

  CHECK(acc_get_property_string(0, acc_device_current, acc_property_name) != 0);
  CHECK(acc_get_property_string(0, t, acc_property_driver) != 0);
  CHECK(acc_get_property_string(0, t, acc_property_vendor) != 0);
  CHECK(acc_get_property(0, t, acc_property_name) == 0);
  CHECK(acc_get_property_string(0, t, acc_property_memory) == NULL);
  enum acc_device_t same = t;
  (void) same;
}

static void on_device(void) {
  int r[8];
  acc_device_t t = acc_get_device_type();
  CHECK(acc_on_device(acc_device_host));
  CHECK(!acc_on_device(acc_device_not_host));
  CHECK(!acc_on_device(acc_device_nvidia));
#pragma acc parallel num_gangs(1) copyout(r)
  {
    r[0] = acc_on_device(acc_device_none);
    r[1] = acc_on_device(acc_device_host);
    r[2] = acc_on_device(acc_device_not_host);
    r[3] = acc_on_device(acc_device_nvidia);
    r[4] = acc_on_device(acc_device_radeon);
    r[7] = acc_on_device(t);
  }
  CHECK_EQ(!!r[1], t == acc_device_host);
  CHECK_EQ(!!r[2], t != acc_device_host);
  CHECK_EQ(!!r[3], t == acc_device_nvidia);
  CHECK_EQ(!!r[4], 0);
  CHECK_EQ(!!r[7], 1);
#pragma acc serial copyout(r) self
  {
    r[1] = acc_on_device(acc_device_host);
    r[2] = acc_on_device(acc_device_not_host);
  }
  CHECK(r[1]);
  CHECK(!r[2]);
#pragma acc serial copyout(r) if(0)
  {
    r[1] = acc_on_device(acc_device_host);
    r[2] = acc_on_device(acc_device_not_host);
  }
  CHECK(r[1]);
  CHECK(!r[2]);
}

static void queues(void) {
  int *a = malloc(N * sizeof(int)), *b = malloc(N*sizeof(int));
  int i;
  int dev = acc_get_device_num(acc_get_device_type());
  for (i = 0; i < N; i++)
    a[i] = i, b[i] = 0;
  acc_copyin_async(a, N * sizeof(int), 1);
  acc_create_async(b, N * sizeof(int), 2);
  acc_wait_async(1, 2);
#pragma acc parallel loop present(a[0:N], b[0:N]) async(2)
  for (i = 0; i < N; i++)
    b[i] = a[i] + 1;
  acc_update_self_async(b, N * sizeof(int), 2);
  acc_wait_device(2, dev);
  CHECK(acc_async_test(2));
  CHECK(acc_async_test_device(2, dev));
  for (i = 0; i < N; i++)
    CHECK_EQ(b[i], i + 1);
  for (i = 0; i < N; i++)
    a[i] = 10 * i;
  acc_update_device_async(a, N * sizeof(int), 3);
  acc_wait_device_async(3, 4, dev);
#pragma acc parallel loop present(a[0:N], b[0:N]) async(4)
  for (i = 0; i < N; i++)
    b[i] = a[i] + 1;
  acc_wait_all_async(5);
  acc_copyout_async(b, N * sizeof(int), 5);
  acc_wait(5);
  CHECK(!acc_is_present(b, 4));
  for (i = 0; i < N; i++)
    CHECK_EQ(b[i], 10 * i + 1);
  acc_delete_async(a, N * sizeof(int), 6);
  acc_wait_all_device_async(7, dev);
  acc_wait_all_device(dev);
  CHECK(acc_async_test_all());
  CHECK(acc_async_test_all_device(dev));
  CHECK(!acc_is_present(a, 4));
  acc_copyin(a, N*4);
  acc_copyin(a, N*4);
  acc_copyout_finalize(a, N*4);
  CHECK(!acc_is_present(a, 4));
  acc_copyin(a, N*4);
  acc_copyin(a, N*4);
  acc_copyout_finalize_async(a, N*4, 1);
  acc_wait(1);
  CHECK(!acc_is_present(a, 4));
  acc_copyin(a, N*4);
  acc_copyin(a, N*4);
  acc_delete_finalize_async(a, N*4, 1);
  acc_wait(1);
  CHECK(!acc_is_present(a, 4));
  acc_copyin(a, N*4);
  acc_copyin(a, N*4);
  acc_delete_finalize(a, N*4);
  CHECK(!acc_is_present(a, 4));
  /* wait any */
  int q[3] = {11, 12, 13};
  int x[3] = {0,0,0};
  for (i = 0; i < 3; i++) {
    int *p = &x[i];
#pragma acc parallel copy(p[0:1]) async(q[i]) num_gangs(1)
    p[0] = i + 1;
  }
  int w = acc_wait_any(3, q);
  CHECK(w >= 0 && w < 3);
  w = acc_wait_any_device(3, q, dev);
  CHECK(w >= 0 && w < 3);
  acc_wait_all();
  CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3);
  CHECK(acc_wait_any(0, q) < 0);
  int def = acc_get_default_async();
  acc_set_default_async(acc_async_sync);
  CHECK_EQ(acc_get_default_async(), acc_async_sync);
  acc_set_default_async(acc_async_default);
  CHECK(acc_get_default_async() == def || acc_get_default_async() == acc_async_default);
  acc_set_default_async(9);
  CHECK_EQ(acc_get_default_async(), 9);
  acc_set_default_async(def);
  /* never used queue */
  CHECK(acc_async_test(77));
  acc_wait(77);
  acc_wait_async(78, 79);
  CHECK(acc_async_test(acc_async_sync));
  acc_wait(acc_async_sync);
  acc_wait(acc_async_default);
  free(a);
  free(b);
}

static void memory(void) {
  int h[N], back[N], i;
  int *d1 = acc_malloc(N*4), *d2 = acc_malloc(N*4);
  CHECK(d1 && d2);
  for (i = 0; i < N; i++)
    h[i] = i;
  acc_memcpy_to_device_async(d1, h, N*4, 1);
  acc_memcpy_device_async(d2, d1, N*4, 1);
  acc_memcpy_from_device_async(back, d2, N*4, 1);
  acc_wait(1);
  CHECK(memcmp(h, back, sizeof h) == 0);
  acc_memcpy_to_device(d1 + 1, h, 4);
  acc_memcpy_from_device(back, d1, 8);
  CHECK_EQ(back[1], 0);
#pragma acc parallel loop deviceptr(d1, d2)
  for (i = 0; i < N; i++) {
    d1[i] = i;
    d2[i] = d1[i] * 2;
  }
  acc_map_data(back, d2, N*4);
  CHECK(acc_is_present(back, N*4));
  CHECK(acc_deviceptr(back) == d2);
  CHECK(acc_hostptr(d2) == back);
  CHECK(acc_deviceptr(back + 3) == d2 + 3);
  acc_copyin(back, N*4);
  acc_delete(back, N*4);
  CHECK(acc_is_present(back, N*4));
#pragma acc parallel loop copy(back)
  for (i = 0; i < N; i++)
    back[i] += 1;
#pragma acc update self(back)
  CHECK_EQ(back[5], 11);
#pragma acc exit data delete(back)
  CHECK(acc_is_present(back, N*4));
  acc_unmap_data(back);
  CHECK(!acc_is_present(back, N*4));
  CHECK(acc_deviceptr(back) == NULL);
  CHECK(acc_hostptr(d2) == NULL);
  acc_free(d1);
  acc_free(d2);
  acc_free(NULL);
  /* d2d by host addresses */
  int src[N], dst[N];
  for (i = 0; i < N; i++)
    src[i] = i, dst[i] = -1;
  acc_copyin(src, sizeof src);
  acc_create(dst, sizeof dst);
  int dev = acc_get_device_num(acc_get_device_type());
  acc_memcpy_d2d(dst, src, sizeof src, dev, dev);
  acc_update_self(dst, sizeof dst);
  if (separate_memory())
    CHECK_EQ(dst[7], 7);
  acc_memcpy_d2d_async(dst, src, sizeof src, dev, dev, 2);
  acc_wait(2);
  acc_delete(src, sizeof src);
  acc_delete(dst, sizeof dst);
  /* attach */
  struct {
    int *p;
    int n;
  } s;
  int data[8] = {1,2,3,4,5,6,7,8};
  s.p = data;
  s.n = 8;
  acc_copyin(&s, sizeof s);
  acc_copyin(data, sizeof data);
  acc_attach((void**)&s.p);
  acc_attach_async((void**)&s.p, 1);
  acc_wait(1);
#pragma acc parallel loop present(s)
  for (i = 0; i < 8; i++)
    s.p[i] *= 2;
  acc_detach((void**)&s.p);
#pragma acc parallel loop present(s)
  for (i = 0; i < 8; i++)
    s.p[i] *= 2;
  acc_detach_async((void**)&s.p, 1);
  acc_wait(1);
  acc_attach((void**)&s.p);
  acc_attach((void**)&s.p);
  acc_detach_finalize((void**)&s.p);
  acc_attach((void**)&s.p);
  acc_detach_finalize_async((void**)&s.p, 2);
  acc_wait(2);
  acc_copyout(data, sizeof data);
  acc_copyout(&s, sizeof s);
  CHECK_EQ(data[3], 16);
  CHECK(s.p == data);
  /* sub-range */
  acc_copyin(h, sizeof h);
  CHECK(acc_is_present(h + 10, 40));
  CHECK(!acc_is_present(h + 60, 40));
  CHECK(acc_is_present(h, 0));
  h[3] = 99;
  acc_update_device(h + 3, 4);
  h[3] = 0;
  acc_update_self(h + 3, 4);
  CHECK_EQ(h[3], 99);
  acc_pcopyin(h, sizeof h);
  acc_present_or_copyin(h, sizeof h);
  acc_pcreate(h, 4);
  acc_present_or_create(h, 4);
  acc_delete_finalize(h, sizeof h);
  CHECK(!acc_is_present(h, 4));
  acc_delete(h, sizeof h);
  acc_copyout(h, sizeof h);
  CHECK(acc_deviceptr(h) == NULL);
  void *p1 = acc_create(h, sizeof h), *p2 = acc_create(h, sizeof h);
  CHECK(p1 == p2);
  CHECK(p1 == acc_deviceptr(h));
  acc_delete(h, sizeof h);
  acc_delete(h, sizeof h);
  CHECK(!acc_is_present(h, 4));
}

int main(void) {
  devices();
  on_device();
  queues();
  memory();
  acc_shutdown_device(0, acc_get_device_type());
  acc_shutdown(acc_get_device_type());
  return report();
}
