/* declare: every clause at file scope and in functions; globals and externs in device code. */
#include <openacc.h>
#include "check.h"

#define N 30

float weights[N];
#pragma acc declare create(weights)
static int offset = 5;
#pragma acc declare copyin(offset)
double scratch[N];
#pragma acc declare device_resident(scratch)
static struct { int n; double scale; } config = {N, 1.5};
#pragma acc declare copyin(config)
static int plain[N], scalar_global = 3;
extern int external_global;
int external_global = 9;
static int *pointer_global;

#pragma acc routine seq
static float weighted(int i) { return weights[i] * (float)config.scale + offset; }

static double local_declares(int n, const double *in)
{
    double tmp[N], out[N], total = 0;
    int i;
#pragma acc declare create(tmp) copyout(out)
#pragma acc parallel loop copyin(in[0:n])
    for (i = 0; i < n; i++) {
        tmp[i] = in[i] * 2;
        out[i] = tmp[i] + 1;
    }
#pragma acc update self(out)
    for (i = 0; i < n; i++)
        total += out[i];
    return total;
}

static int shared[N];

static int present_array(void)
{
    extern int external_global;
    int i, sum = 0, local[N];
#pragma acc declare create(local)
#pragma acc parallel loop present(shared, local)
    for (i = 0; i < N; i++)
        local[i] = shared[i] * external_global;
#pragma acc parallel loop reduction(+:sum)
    for (i = 0; i < N; i++)
        sum += local[i];
    return sum;
}

int main(void)
{
    int i, sum = 0;
    float out[N];
    double in[N];

    for (i = 0; i < N; i++)
        weights[i] = i, in[i] = i, plain[i] = i;
#pragma acc update device(weights)
#pragma acc parallel loop copyout(out)
    for (i = 0; i < N; i++)
        out[i] = weighted(i);
    for (i = 0; i < N; i++)
        CHECK_NEAR(out[i], 1.5 * i + 5);
    offset = 50;
    config.scale = 2;
#pragma acc update device(offset, config)
#pragma acc parallel loop copyout(out)
    for (i = 0; i < N; i++)
        out[i] = weighted(i);
    CHECK_NEAR(out[10], 70);
#pragma acc parallel loop
    for (i = 0; i < N; i++)
        scratch[i] = i * 2;
#pragma acc parallel loop copyout(out)
    for (i = 0; i < N; i++)
        out[i] = (float)scratch[i];
    CHECK_NEAR(out[11], 22);
    CHECK_NEAR(local_declares(N, in), N * (N - 1) + N);
    CHECK_NEAR(local_declares(N, in), N * (N - 1) + N);
    CHECK(acc_is_present(weights, sizeof weights));
    /* globals without declare: implicit attributes */
#pragma acc parallel loop
    for (i = 0; i < N; i++)
        plain[i] += scalar_global + external_global;
    CHECK_EQ(plain[4], 16);
#pragma acc parallel loop reduction(+:scalar_global)
    for (i = 0; i < N; i++)
        scalar_global += plain[i];
    CHECK_EQ(scalar_global, 3 + N * (N - 1) / 2 + 12 * N);
    pointer_global = malloc(N * sizeof(int));
#pragma acc parallel loop copyout(pointer_global[0:N])
    for (i = 0; i < N; i++)
        pointer_global[i] = i;
#pragma acc enter data copyin(pointer_global[0:N])
#pragma acc parallel loop present(pointer_global) reduction(+:sum)
    for (i = 0; i < N; i++)
        sum += pointer_global[i];
#pragma acc exit data delete(pointer_global[0:N])
    CHECK_EQ(sum, N * (N - 1) / 2);
    for (i = 0; i < N; i++)
        shared[i] = 2;
#pragma acc data copyin(shared)
    CHECK_EQ(present_array(), 18 * N);
    free(pointer_global);
    return report();
}
