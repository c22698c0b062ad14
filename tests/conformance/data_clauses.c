/* data: every clause, sections, modifiers, nesting of counters, host values stay host values. */
#include <openacc.h>
#include "check.h"

#define N 64

static void basic(void)
{
    int a[N], b[N], c[N], d[N], i;

    for (i = 0; i < N; i++)
        a[i] = i, b[i] = -1, c[i] = 5, d[i] = 8;
#pragma acc data copyin(a) copyout(b) copy(c) create(d)
    {
        CHECK(acc_is_present(a, sizeof a));
        CHECK(acc_is_present(d, sizeof d));
#pragma acc parallel loop
        for (i = 0; i < N; i++) {
            d[i] = a[i] * 2;
            a[i] = 0;
        }
#pragma acc parallel loop present(a, b, c, d)
        for (i = 0; i < N; i++) {
            b[i] = d[i] + a[i];
            c[i] += d[i];
        }
        if (separate_memory()) {
            CHECK_EQ(b[3], -1);
            CHECK_EQ(c[3], 5);
        }
    }
    CHECK(!acc_is_present(a, sizeof a));
    for (i = 0; i < N; i++) {
        CHECK_EQ(a[i], i);
        CHECK_EQ(b[i], 2 * i);
        CHECK_EQ(c[i], 5 + 2 * i);
        CHECK_EQ(d[i], 8);
    }
}

static void sections(int n)
{
    int *p = malloc(n * sizeof(int)), m[8][8], i, j, (*rows)[8] = m;
    double x[N];

    for (i = 0; i < n; i++)
        p[i] = i;
    for (i = 0; i < 8; i++)
        for (j = 0; j < 8; j++)
            m[i][j] = 10 * i + j;
#pragma acc data copy(p[10:20])
    {
        CHECK(acc_is_present(p + 10, 20 * sizeof(int)));
        CHECK(!acc_is_present(p, 10 * sizeof(int)));
#pragma acc parallel loop present(p[15:5])
        for (i = 15; i < 20; i++)
            p[i] = -p[i];
#pragma acc parallel loop copy(p[10:n / 4 - 5])
        for (i = 10; i < 15; i++)
            p[i] += 1000;
    }
    CHECK_EQ(p[9], 9);
    CHECK_EQ(p[10], 1010);
    CHECK_EQ(p[15], -15);
    CHECK_EQ(p[20], 20);
#pragma acc parallel loop copy(m[2:3][0:8]) collapse(2)
    for (i = 2; i < 5; i++)
        for (j = 0; j < 8; j++)
            m[i][j]++;
    CHECK_EQ(m[1][7], 17);
    CHECK_EQ(m[2][0], 21);
    CHECK_EQ(m[4][7], 48);
    CHECK_EQ(m[5][0], 50);
#pragma acc parallel loop copy(rows[0:8])
    for (i = 0; i < 8; i++)
        rows[i][i] = -1;
    CHECK_EQ(m[7][7], -1);
    x[0] = 3;
    x[1] = x[63] = 4;
#pragma acc data copyin(x[:2], x[63:])
    {
        x[0] = x[63] = 0;
#pragma acc update self(x[:1])
#pragma acc update self(x[63:1])
    }
    CHECK_NEAR(x[0], 3);
    CHECK_NEAR(x[63], 4);
    free(p);
}

static void modifiers(void)
{
    int a[N], b[N], i;

    for (i = 0; i < N; i++)
        a[i] = b[i] = i;
#pragma acc data copyout(zero: a) create(zero: b)
    {
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] += b[i] + 1;
    }
    CHECK_EQ(a[5], 1);
#pragma acc data copy(a)
    {
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] = i;
        a[7] = 70;
#pragma acc parallel loop copy(alwaysout: a)
        for (i = 0; i < N; i++)
            a[i] += 1;
        CHECK_EQ(a[7], 8);
        a[7] = 100;
#pragma acc data copyin(always: a)
        ;
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] += 1;
#pragma acc parallel copy(always: a)
        a[0] = 55;
        CHECK_EQ(a[7], 100);
        CHECK_EQ(a[0], 55);
    }
    CHECK_EQ(a[6], 7);
#pragma acc data copyin(readonly: a) copyout(b)
#pragma acc parallel loop
    for (i = 0; i < N; i++)
        b[i] = a[i];
    CHECK_EQ(b[7], 100);
}

static void conditional(int yes)
{
    int a[N], i;

    for (i = 0; i < N; i++)
        a[i] = i;
#pragma acc data copy(a) if(!yes)
    CHECK(!acc_is_present(a, sizeof a) || !separate_memory());
#pragma acc data copy(a) if(yes)
    CHECK(acc_is_present(a, sizeof a));
#pragma acc parallel loop no_create(a) if(0)
    for (i = 0; i < N; i++)
        a[i]++;
#pragma acc data copy(a)
#pragma acc parallel loop no_create(a)
    for (i = 0; i < N; i++)
        a[i]++;
    CHECK_EQ(a[1], 3);
#pragma acc data copy(a) default(present) async(3)
    {
#pragma acc parallel loop async(3)
        for (i = 0; i < N; i++)
            a[i]++;
    }
#pragma acc wait(3)
    CHECK_EQ(a[1], 4);
}

static void device_pointers(void)
{
    float *d = acc_malloc(N * sizeof(float)), h[N];
    int i;

#pragma acc parallel loop deviceptr(d)
    for (i = 0; i < N; i++)
        d[i] = i * 0.5f;
#pragma acc data deviceptr(d)
    {
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            d[i] += 1;
    }
    acc_memcpy_from_device(h, d, sizeof h);
    CHECK_NEAR(h[9], 5.5);
    acc_free(d);
}

static void scalars(void)
{
    int s = 1, t = 2, i, k = 0;
    double x = 0.5;

#pragma acc data copy(s) copyin(t)
    {
#pragma acc parallel present(s) num_gangs(1)
        s = s + t;
#pragma acc update self(s)
        CHECK_EQ(s, 3);
#pragma acc serial
        s += 10;
    }
    CHECK_EQ(s, 13);
#pragma acc parallel num_gangs(1)
    k = 77; /* implicitly firstprivate */
    CHECK_EQ(k, 0);
#pragma acc kernels
    k = 78; /* implicitly copy */
    CHECK_EQ(k, 78);
#pragma acc parallel loop copy(x)
    for (i = 0; i < 1; i++)
        x += i + 1;
    CHECK_NEAR(x, 1.5);
}

int main(void)
{
    basic();
    sections(100);
    modifiers();
    conditional(1);
    device_pointers();
    scalars();
    return report();
}
