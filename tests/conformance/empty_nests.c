/* Nests without iterations touch nothing: the sections that the compiler infers are empty, whatever their bounds. */
#include "check.h"
#include <stdlib.h>

enum { N = 40 };
static double whole[N];

static void first(int n, int m, double *a)
{
#pragma acc parallel loop default(present)
    for (int i = 2; i < n; i++)
        a[m * i] += 1;
}

static void stepped(int n, double *a)
{
#pragma acc kernels default(present)
    for (int i = 2; i < n; i += 3)
        a[i] += a[i - 1] + a[i + 2];
}

static void down(long n, long m, double *a)
{
#pragma acc parallel loop default(present)
    for (long i = n - 1; i >= 3; i--)
        a[m * i] += a[n - 1 - i];
}

static void sums(int n, double *restrict a, const double *b)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 5; j++)
            a[i] += b[i + j];
}

static void inner(unsigned n, unsigned m, double *a)
{
#pragma acc parallel loop gang default(present)
    for (unsigned i = 0; i < n; i++)
#pragma acc loop vector
        for (unsigned j = 2; j < m; j++)
            a[i * m + j] += 1;
}

static int changed(void)
{
    int found = 0;
    for (int i = 0; i < N; i++)
        found += whole[i] != i;
    return found;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        whole[i] = i;
#pragma acc data copy(whole)
    for (int n = -1; n <= 1; n++) {
        first(n, 4, whole), first(n, -4, whole);
        stepped(n, whole);
        down(n, 4, whole), down(n, -4, whole);
        if (n <= 0)
            sums(n, whole, whole + 30);
        inner(n > 0, n > 0, whole);
    }
    CHECK_EQ(changed(), 0);

    /* Nor need anything be present. */
    for (int n = 0; n < 4; n++) {
        double *some = malloc((n + 1) * sizeof(double));
#pragma acc data copyout(some[0:n])
#pragma acc parallel loop default(present)
        for (int i = 0; i < n; i++)
            some[i] = i;
#pragma acc data copy(some[0:n])
        {
            stepped(0, some);
            sums(0, some, some);
        }
        for (int i = 0; i < n; i++)
            CHECK_EQ((int)some[i], i);
        free(some);
    }
    return report();
}
