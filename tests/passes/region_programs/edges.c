#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <openacc.h>
#define N 32
static double g[N];
double *gp;
/* zero-trip with an invalid pointer */
static void zero(int steps, double *x, int n)
{
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop copy(x[0:n])
        for (int i = 0; i < n; i++) x[i] += 1;
#pragma acc parallel loop copy(x[0:n])
        for (int i = 0; i < n; i++) x[i] *= 2;
    }
}
/* the caller holds a part only */
static void part(double *x, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop copy(x[0:N / 2])
        for (int i = 0; i < N / 2; i++) x[i] += 1;
#pragma acc parallel loop copy(x[N / 2:N / 2])
        for (int i = N / 2; i < N; i++) x[i] += 2;
    }
}
/* two names of one array */
static void same(double *x, double *y, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop copyin(x[0:N]) copy(g)
        for (int i = 0; i < N; i++) g[i] += x[i];
#pragma acc parallel loop copy(y[0:N])
        for (int i = 0; i < N; i++) y[i] += 1;
    }
}
/* global pointer, while with a call */
static double half(double v) { return v * 0.5; }
static int global(void)
{
    double e = 100;
    int k = 0;
    while (sqrt(e) > 1) {
#pragma acc parallel loop
        for (int i = 0; i < N; i++) gp[i] += i;
#pragma acc parallel loop reduction(max : e)
        for (int i = 0; i < N; i++) gp[i] *= 0.5;
        e = half(e);
        k++;
    }
    return k;
}
static void create(double *x, int steps)
{
    double *tmp = malloc(N * sizeof *tmp);
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop copyin(x[0:N]) create(tmp[0:N])
        for (int i = 0; i < N; i++) { tmp[i] = x[i]; }
#pragma acc parallel loop copyout(x[0:N])
        for (int i = 0; i < N; i++) x[i] = i + t;
    }
    free(tmp);
}
/* an array that takes no part in the region may be a wider part of one that does */
static void once(double *x, double *y)
{
#pragma acc parallel loop copy(x[6:N - 6])
    for (int i = 6; i < N; i++) x[i] += 1;
#pragma acc parallel loop copy(y[0:N])
    for (int i = 0; i < N; i++) y[i] *= 0.5;
#pragma acc parallel loop copy(x[6:N - 6])
    for (int i = 6; i < N; i++) x[i] += 2;
}
int main(int argc, char **argv)
{
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = i, y[i] = -i;
    zero(argc - 1, (double *)8, 1 << 30);
    zero(2, x, N);
#pragma acc enter data copyin(x[0:N / 2])
    part(x, 3);
#pragma acc exit data copyout(x[0:N / 2])
    part(x, 3);
    same(x, x, 2);
    same(x, y, 2);
    gp = y;
    int k = global();
    create(x, 3);
    once(x, y);
    once(x, x);
    double s = 0;
    for (int i = 0; i < N; i++) s += x[i] * (i + 1) + y[i] + g[i] * 3;
    printf("%d %.10g %d\n", k, s, acc_is_present(x, 8));
    return 0;
}
