/* async and wait in all forms, on constructs, data, update; queues as values; routines. */
#include <openacc.h>
#include "check.h"

#define N 2000
#define Q 4

int main(void)
{
    static int a[Q][N];
    int i, q, one = 1, b[N], sum = 0;

    for (q = 0; q < Q; q++)
        for (i = 0; i < N; i++)
            a[q][i] = q;
#pragma acc enter data copyin(a) create(b) async(1)
    for (q = 0; q < Q; q++) {
#pragma acc parallel loop async(q + 10) wait(1) present(a)
        for (i = 0; i < N; i++)
            a[q][i] += i;
#pragma acc update self(a[q:1]) async(q + 10)
    }
#pragma acc wait(10, 11)
#pragma acc wait(queues: 12)
#pragma acc wait(13) if(one)
    for (q = 0; q < Q; q++)
        for (i = 0; i < N; i++)
            CHECK_EQ(a[q][i], q + i);
    for (q = 0; q < Q; q++) {
#pragma acc parallel loop async(q) present(a)
        for (i = 0; i < N; i++)
            a[q][i] *= 2;
    }
#pragma acc wait(0, 1, 2, 3) async(7)
#pragma acc parallel loop async(7) present(a, b)
    for (i = 0; i < N; i++)
        b[i] = a[0][i] + a[1][i] + a[2][i] + a[3][i];
#pragma acc exit data copyout(b) delete(a) async(7)
#pragma acc wait async
#pragma acc wait
    for (i = 0; i < N; i++)
        CHECK_EQ(b[i], 2 * (4 * i + 6));
#pragma acc parallel loop copy(b) async(acc_async_sync)
    for (i = 0; i < N; i++)
        b[i] = 1;
    CHECK_EQ(b[N - 1], 1);
    acc_set_default_async(5);
    CHECK_EQ(acc_get_default_async(), 5);
#pragma acc parallel loop copy(b) async
    for (i = 0; i < N; i++)
        b[i] += 1;
    acc_wait(5);
    CHECK(acc_async_test(5));
    CHECK_EQ(b[3], 2);
#pragma acc parallel loop copy(b) async(acc_async_noval)
    for (i = 0; i < N; i++)
        b[i] += 1;
    acc_wait(acc_async_noval);
    CHECK_EQ(b[3], 3);
#pragma acc set default_async(acc_async_default)
#pragma acc parallel loop copy(b) async(2)
    for (i = 0; i < N; i++)
        b[i] += 1;
    acc_wait_async(2, 3);
    acc_wait(3);
    CHECK_EQ(b[3], 4);
#pragma acc kernels copy(b) async(1)
    for (i = 0; i < N; i++)
        b[i] += 1;
#pragma acc serial copy(b) async(1)
    b[0] = 0;
    acc_wait_all();
    CHECK(acc_async_test_all());
    CHECK_EQ(b[0], 0);
    CHECK_EQ(b[3], 5);
#pragma acc parallel loop reduction(+:sum) async(1) copyin(b)
    for (i = 0; i < N; i++)
        sum += b[i];
#pragma acc wait(1)
    CHECK_EQ(sum, 5 * (N - 1));
#pragma acc data copy(b) async(1)
    {
#pragma acc parallel loop async(1)
        for (i = 0; i < N; i++)
            b[i] = i;
    }
#pragma acc wait(1)
    CHECK_EQ(b[77], 77);
#pragma acc parallel loop copy(b) wait(devnum: 0: queues: 1) async(2)
    for (i = 0; i < N; i++)
        b[i] += 1;
#pragma acc wait(devnum: 0: 2)
    CHECK_EQ(b[77], 78);
    return report();
}
