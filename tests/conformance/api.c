/* The acc_* routines of openacc.h, and init, shutdown, set. */
#include <openacc.h>
#include "check.h"

#define N 100

int main(void)
{
    int a[N], b[N], i, *d;
    struct { int *p; } holder;
    acc_device_t type;

    CHECK_EQ(_OPENACC, 202506);
#pragma acc init
    type = acc_get_device_type();
    CHECK(acc_get_num_devices(type) >= 1);
    acc_set_device_num(0, type);
    CHECK_EQ(acc_get_device_num(type), 0);
#pragma acc set device_num(0)
    CHECK(acc_get_property(0, type, acc_property_memory) > 0);
    CHECK(acc_get_property_string(0, type, acc_property_name) != NULL);
    CHECK(strlen(acc_get_property_string(0, type, acc_property_vendor)) > 0);
    CHECK(acc_on_device(acc_device_host));
    for (i = 0; i < N; i++)
        a[i] = i, b[i] = 0;

    CHECK(acc_copyin(a, sizeof a) != NULL);
    CHECK(acc_is_present(a, sizeof a));
    CHECK(acc_is_present(a + 3, 4));
    CHECK(!acc_is_present(b, sizeof b));
    d = acc_deviceptr(a);
    CHECK(acc_hostptr(d + 5) == a + 5);
    CHECK(acc_create(b, sizeof b) != NULL);
#pragma acc parallel loop present(a, b)
    for (i = 0; i < N; i++)
        b[i] = a[i] * 2;
    acc_update_self(b, sizeof b);
    CHECK_EQ(b[7], 14);
    b[7] = 1000;
    acc_update_device(b + 7, sizeof(int));
    b[7] = 0;
    acc_copyout(b, sizeof b);
    CHECK_EQ(b[7], 1000);
    CHECK(!acc_is_present(b, sizeof b));
    acc_copyin(a, sizeof a);
    acc_delete(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    acc_delete_finalize(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a));

    d = acc_malloc(N * sizeof(int));
    acc_memcpy_to_device(d, a, sizeof a);
    acc_map_data(a, d, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
#pragma acc parallel loop present(a)
    for (i = 0; i < N; i++)
        a[i] += 1;
    acc_unmap_data(a);
    acc_memcpy_from_device(b, d, sizeof b);
    CHECK_EQ(b[50], 51);
    acc_memcpy_device(d, d + N / 2, N / 2 * sizeof(int));
    acc_memcpy_from_device_async(b, d, sizeof b, 1);
    acc_wait(1);
    CHECK_EQ(b[0], N / 2 + 1);
    acc_free(d);

    holder.p = a;
    acc_copyin(a, sizeof a);
    acc_copyin(&holder, sizeof holder);
    acc_attach((void **)&holder.p);
#pragma acc parallel loop present(holder)
    for (i = 0; i < N; i++)
        holder.p[i] = 3 * i;
    acc_detach((void **)&holder.p);
    acc_delete(&holder, sizeof holder);
    acc_copyout_async(a, sizeof a, 4);
    acc_wait_all();
    CHECK_EQ(a[33], 99);
    CHECK(acc_wait_any(0, NULL) <= 0);
    {
        int device = 0;
#pragma acc parallel copy(device) num_gangs(1)
        device = acc_on_device(acc_device_host) ? 2 : 1;
        CHECK(device == 1 || device == 2);
    }
#pragma acc shutdown
#pragma acc parallel loop copy(a)
    for (i = 0; i < N; i++)
        a[i] += 1;
    CHECK_EQ(a[33], 100);
    return report();
}
