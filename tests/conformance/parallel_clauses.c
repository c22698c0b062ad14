/* Every clause of parallel: sizes, private, firstprivate, reduction, if, self, default, async, wait. */
#include "check.h"

#define N 1000

static void sizes(void)
{
    int gangs[3] = {0, 0, 0}, a[N], i, n = 7;

#pragma acc parallel num_gangs(n) num_workers(2) vector_length(32) copy(gangs)
    {
#pragma acc atomic
        gangs[0]++;
#pragma acc atomic update
        gangs[1] += 2;
    }
    CHECK(gangs[0] >= 1 && gangs[0] <= 7);
    CHECK_EQ(gangs[1], 2 * gangs[0]);

#pragma acc parallel loop num_gangs(3) num_workers(4) vector_length(64) copyout(a)
    for (i = 0; i < N; i++)
        a[i] = 3 * i;
    for (i = 0; i < N; i++)
        CHECK_EQ(a[i], 3 * i);

#pragma acc parallel num_gangs(2, 3) copy(gangs)
    {
#pragma acc atomic
        gangs[2]++;
    }
    CHECK(gangs[2] >= 1 && gangs[2] <= 6);
}

static void privates(void)
{
    int i, k, tmp = 5, first = 11, buffer[4], seed[3] = {1, 2, 3}, out[N];

#pragma acc parallel private(tmp, buffer) firstprivate(first, seed) copyout(out) num_gangs(5)
    {
        tmp = first * 2;
        seed[1] += 10;
#pragma acc loop gang private(buffer, k)
        for (i = 0; i < N; i++) {
            for (k = 0; k < 4; k++)
                buffer[k] = i + k;
            out[i] = buffer[0] + buffer[3] + tmp + seed[0] + seed[1] + seed[2];
        }
    }
    for (i = 0; i < N; i++)
        CHECK_EQ(out[i], 2 * i + 3 + 22 + 1 + 12 + 3);
    CHECK_EQ(tmp, 5);
    CHECK_EQ(first, 11);
    CHECK_EQ(seed[1], 2);
}

static void conditions(void)
{
    int a[10], i, on = 1, off = 0;

    for (i = 0; i < 10; i++)
        a[i] = i;
#pragma acc parallel loop if(off) copyin(a)
    for (i = 0; i < 10; i++)
        a[i] += 1;
    CHECK_EQ(a[9], 10);
#pragma acc parallel loop if(on) copy(a)
    for (i = 0; i < 10; i++)
        a[i] += 1;
    CHECK_EQ(a[9], 11);
#pragma acc parallel loop self copyin(a)
    for (i = 0; i < 10; i++)
        a[i] += 1;
    CHECK_EQ(a[9], 12);
#pragma acc parallel loop self(off) copy(a)
    for (i = 0; i < 10; i++)
        a[i] += 1;
    CHECK_EQ(a[9], 13);
#pragma acc parallel loop self(on) if(on)
    for (i = 0; i < 10; i++)
        a[i] += 1;
    CHECK_EQ(a[0], 5);
}

static void defaults(void)
{
    int a[10], b[10], i, n = 10, factor = 3;

    for (i = 0; i < n; i++)
        a[i] = i;
#pragma acc parallel loop default(none) copyin(a, n, factor) copyout(b)
    for (i = 0; i < n; i++)
        b[i] = a[i] * factor;
    CHECK_EQ(b[9], 27);
#pragma acc data copy(b)
#pragma acc parallel loop default(present)
    for (i = 0; i < n; i++)
        b[i] = b[i] * factor;
    CHECK_EQ(b[9], 81);
}

static void reductions(void)
{
    int sum = 100, gangs = 0, i;
    double big = -1;

#pragma acc parallel reduction(+:gangs) num_gangs(4)
    gangs++;
    CHECK(gangs >= 1 && gangs <= 4);
#pragma acc parallel loop reduction(+:sum) reduction(max:big)
    for (i = 0; i < N; i++) {
        sum += i;
        big = fmax(big, i * 0.5);
    }
    CHECK_EQ(sum, 100 + N * (N - 1) / 2);
    CHECK_NEAR(big, (N - 1) * 0.5);
}

static void queues(void)
{
    int a[N], b[N], i;

    for (i = 0; i < N; i++)
        a[i] = b[i] = i;
#pragma acc data copy(a, b)
    {
#pragma acc parallel loop async(1)
        for (i = 0; i < N; i++)
            a[i] *= 2;
#pragma acc parallel loop async(2)
        for (i = 0; i < N; i++)
            b[i] *= 3;
#pragma acc parallel loop wait(1, 2) async(3)
        for (i = 0; i < N; i++)
            a[i] += b[i];
#pragma acc parallel loop async wait(3)
        for (i = 0; i < N; i++)
            a[i] += 1;
#pragma acc parallel loop wait
        for (i = 0; i < N; i++)
            a[i] += 1;
    }
    for (i = 0; i < N; i++)
        CHECK_EQ(a[i], 5 * i + 2);
}

int main(void)
{
    sizes();
    privates();
    conditions();
    defaults();
    reductions();
    queues();
    return report();
}
