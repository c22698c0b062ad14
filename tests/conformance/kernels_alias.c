/* kernels and loop auto: arrays that may overlap, and do; rows that may; loops in order around others. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

#define N 60
#define SIZE 4000

static double memory[SIZE], expected[SIZE], other[SIZE];

static void add(double *a, double *b, double *c, int n)
{
#pragma acc kernels
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static void stencil(double *a, double *c, int n, int m)
{
#pragma acc parallel loop auto
    for (int i = 1; i < n - 1; i++)
#pragma acc loop auto
        for (int j = 1; j < m - 1; j++)
            c[i * m + j] = a[(i - 1) * m + j] + a[i * m + j + 1] - c[i * m + j];
}

static void gather(double *a, double *c, int *index, int n)
{
#pragma acc kernels loop copyin(a[0:n], index[0:n]) copy(c[0:n])
    for (int i = 0; i < n; i++)
        c[i] = a[index[i]];
}

/* Rows of n elements at a distance of ld, which may be shorter. */
static void rows(double *a, int n, int ld)
{
#pragma acc kernels
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * ld + j] = 0.5 * a[i * ld + j] + i + j;
}

static void reversed(double *a, int n)
{
#pragma acc kernels
    for (int i = 0; i < n / 2; i++) {
        double first = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = first;
    }
}

static void eliminate(double *a, int n)
{
#pragma acc kernels
    for (int k = 0; k < n; k++) {
        double pivot = a[k * n + k];
        for (int i = k + 1; i < n; i++)
            a[i * n + k] /= pivot;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

struct pair {
    int n;
    double *x, *y;
};

static double members(struct pair *p)
{
    double most = -1, sum = 0;

#pragma acc kernels present(p[0:1], p->x[0:p->n], p->y[0:p->n])
    {
        for (int i = 0; i < p->n; i++)
            p->y[i] = 2 * p->x[i];
        for (int i = 0; i < p->n; i++)
            if (p->y[i] > most)
                most = p->y[i];
        for (int i = 0; i < p->n; i++)
            sum += p->y[i];
    }
    return most + sum;
}

static double filled(double *a, double *b, int n)
{
    double window[3], last[2] = {1, 2};

#pragma acc kernels
    {
        for (int i = 1; i < n - 1; i++) {
            for (int k = 0; k < 3; k++)
                window[k] = b[i + k - 1];
            a[i] = window[0] * window[2] - window[1];
        }
        for (int i = 0; i < n; i++) {
            a[i] += last[0];
            last[0] = last[1];
            last[1] = b[i];
        }
    }
    return last[0];
}

/* Bounds that are another number on the device than on the host. */
static double steps(void)
{
    double sum = 0;
    int n = 10, counts[40] = {0};

#pragma acc data copy(n, counts)
    {
#pragma acc serial
        n = 20;
#pragma acc kernels
        for (int t = 0; t < n; t++)
            for (int i = 0; i < n; i++)
                counts[i] += 1;
    }
    for (int i = 0; i < 40; i++)
        sum += counts[i];
    return sum;
}

/* The same on the host: what a call of the function makes of `expected` where it lies in `memory`. */
static void begin(void)
{
    for (int i = 0; i < SIZE; i++)
        memory[i] = expected[i] = (i * 37 % 101) * 0.25 + 1;
#pragma acc update device(memory)
}

static int same(void)
{
#pragma acc update self(memory)
    for (int i = 0; i < SIZE; i++)
        if (!(fabs(memory[i] - expected[i]) <= 1e-9 * (1 + fabs(expected[i]))))
            return 0;
    return 1;
}

static void test_add(int a, int b, int c)
{
    begin();
    add(memory + a, memory + b, memory + c, N);
    for (int i = 0; i < N; i++)
        expected[c + i] = expected[a + i] + expected[b + i];
    CHECK(same());
}

static void test_stencil(int a, int c, int m)
{
    begin();
    stencil(memory + a, memory + c, 20, m);
    for (int i = 1; i < 19; i++)
        for (int j = 1; j < m - 1; j++)
            expected[c + i * m + j] =
                expected[a + (i - 1) * m + j] + expected[a + i * m + j + 1] - expected[c + i * m + j];
    CHECK(same());
}

static void test_rows(int a, int ld)
{
    begin();
    rows(memory + a, 40, ld);
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            expected[a + i * ld + j] = 0.5 * expected[a + i * ld + j] + i + j;
    CHECK(same());
}

static void test_gather(int a, int c)
{
    static int index[N];

    for (int i = 0; i < N; i++)
        index[i] = i * 7 % N;
    begin();
    gather(memory + a, memory + c, index, N);
    for (int i = 0; i < N; i++)
        expected[c + i] = expected[a + index[i]];
    CHECK(same());
}

static void test_members(int x, int y)
{
    struct pair p = {N, memory + x, memory + y};
    double most = -1, sum = 0, found;

    begin();
#pragma acc data copyin(p) copy(p.x[0:N], p.y[0:N])
    found = members(&p);
    for (int i = 0; i < N; i++)
        expected[y + i] = 2 * expected[x + i];
    for (int i = 0; i < N; i++) {
        sum += expected[y + i];
        if (expected[y + i] > most)
            most = expected[y + i];
    }
    CHECK_NEAR(found, most + sum);
    CHECK(same());
}

int main(void)
{
    int i, j, k, n = 24;
    double found;

    for (i = 0; i < SIZE; i++)
        other[i] = i % 13;
#pragma acc enter data create(memory) copyin(other)
    test_add(0, 100, 200);
    test_add(200, 100, 200);
    test_add(0, 0, 0);
    test_add(0, 100, 1);
    test_add(1, 100, 0);
    test_add(0, 100, N - 1);
    test_add(0, 100, N);
    test_add(N, 100, 0);
    test_stencil(0, 1000, 30);
    test_stencil(0, 0, 30);
    test_stencil(0, 1, 30);
    test_stencil(30, 0, 30);
    test_stencil(0, 45, 30);
    test_rows(0, 40);
    test_rows(0, 50);
    test_rows(0, 39);
    test_rows(0, 1);
    test_rows(0, 0);
    test_rows(2000, -40);
    test_rows(2000, -20);
    test_gather(0, 100);
    test_gather(0, 30);
    test_gather(0, 0);
    test_members(0, 100);
    test_members(0, 7);
    test_members(7, 0);
    test_members(5, 5);

    CHECK_EQ(steps(), 400);
    begin();
    reversed(memory + 3, 51);
    for (i = 0; i < 51; i++)
        expected[3 + i] = ((53 - i) * 37 % 101) * 0.25 + 1;
    CHECK(same());

    begin();
    for (i = 0; i < n; i++)
        memory[i * n + i] = expected[i * n + i] = 400 + i;
#pragma acc update device(memory)
    eliminate(memory, n);
    for (k = 0; k < n; k++) {
        for (i = k + 1; i < n; i++)
            expected[i * n + k] /= expected[k * n + k];
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                expected[i * n + j] -= expected[i * n + k] * expected[k * n + j];
    }
    CHECK(same());

    begin();
    found = filled(memory, other, N);
    for (i = 1; i < N - 1; i++)
        expected[i] = other[i - 1] * other[i + 1] - other[i];
    for (i = 0; i < N; i++)
        expected[i] += i == 0 ? 1 : i == 1 ? 2 : other[i - 2];
    CHECK_EQ(found, other[N - 2]);
    CHECK(same());
#pragma acc exit data delete(memory, other)
    return report();
}
