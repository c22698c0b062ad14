/* Global pointers to device memory (declare deviceptr), in constructs of all kinds and other functions. */
#include "check.h"
#include <openacc.h>

#define N 40

long *e;
static double *rows;
#pragma acc declare deviceptr(e, rows)

static void add(void)
{
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
        e[i] += 10;
#pragma acc kernels
    for (int i = 0; i < N; i++)
        e[i] += 20;
#pragma acc serial
    e[3] += 1;
}

static void fill(int n)
{
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N; j++)
            rows[i * N + j] = e[j] + i;
}

int main(void)
{
    static long h[N];
    static double r[3 * N];
    for (int i = 0; i < N; i++)
        h[i] = i;
    rows = acc_malloc(sizeof r);
#pragma acc data copy(h)
    {
#pragma acc host_data use_device(h)
        e = h;
        add();
        fill(3);
    }
    acc_memcpy_from_device(r, rows, sizeof r);
    acc_free(rows);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(h[i], i + 30 + (i == 3));
        for (int k = 0; k < 3; k++)
            CHECK(r[k * N + i] == h[i] + k);
    }
    return report();
}
