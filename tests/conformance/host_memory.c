/* Data regions that the host target may leave in the program's memory (2.6.5, 2.7), and those that it may not. */
#include "check.h"

enum { N = 20000 };

static double kept[N];

/* Two arrays, whose names the host exchanges in the region. */
static void steps(int n, double *a, double *b, int count)
{
#pragma acc data copy(a[0:n], b[0:n])
    for (int t = 0; t < count; t++) {
        double *old = a;
#pragma acc parallel loop present(a[0:n], b[0:n])
        for (int i = 0; i < n; i++)
            b[i] = 0.5 * (a[i] + a[(i + 1) % n]);
        a = b;
        b = old;
    }
}

/* What constructs write to a copyin variable stays on the device, whatever pointer they write through. */
static void written(int n, double *a, double *b, double *out)
{
#pragma acc data copyin(a[0:n]) copyout(out[0:n])
    {
#pragma acc parallel loop present(b[0:n])
        for (int i = 0; i < n; i++)
            b[i] = 7 * i;
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            out[i] = a[i];
    }
}

/* The host sees neither what constructs have written, nor do they see what it writes. */
static double looked_at(int n, double *a)
{
    double seen;
#pragma acc data copy(a[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            a[i] = 3;
        seen = a[n / 2];
        a[n / 2] = 5;
    }
    return seen;
}

static void chain(int n, const double *a, const double *b, double *sum, double *product, double *scaled)
{
#pragma acc data copyin(a[0:n], b[0:n]) copyout(sum[0:n], product[0:n]) copy(scaled[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            sum[i] = a[i] + b[i];
#pragma acc kernels loop
        for (int i = 0; i < n; i++)
            product[i] = sum[i] * b[i];
#pragma acc data present(sum[0:n]) copyin(kept[0:n])
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            scaled[i] += kept[i] * sum[i];
    }
}

int main(void)
{
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c);
    double *d = malloc(N * sizeof *d), *e = malloc(N * sizeof *e);
    const int separate = separate_memory();
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = 1, e[i] = 2 * i, kept[i] = i % 3;
    chain(N, a, b, c, d, e);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(c[i], i + 1);
        CHECK_EQ(d[i], i + 1);
        CHECK_EQ(e[i], 2 * i + (i % 3) * (i + 1));
        CHECK_EQ(a[i], i);
    }
    written(N, a, a, c);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(c[i], 7 * i);
        CHECK_EQ(a[i], separate ? i : 7 * i);
    }
    CHECK_EQ(looked_at(N, b), separate ? 1 : 3);
    CHECK_EQ(b[N / 2], separate ? 3 : 5);
    for (int i = 0; i < N; i++)
        a[i] = 0, b[i] = i % 2 ? 4 : 0;
    steps(N, b, a, 1);
    CHECK_EQ(a[17], 2);
    CHECK_EQ(b[17], 4);
    steps(N, b, a, 2);
    CHECK_EQ(a[17], 2);
    CHECK_EQ(b[17], 2);
    free(a), free(b), free(c), free(d), free(e);
    return report();
}
