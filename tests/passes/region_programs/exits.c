/* Loops left by break, a loop in a branch, a reduction that ends the loop, a host that looks in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 40
double u[N][N], v[N][N];

static int relax(double tolerance, int most)
{
    int it;
    for (it = 0; it < most; it++) {
        double change = 0;
#pragma acc parallel loop collapse(2) reduction(max : change)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                change = fmax(change, fabs(v[i][j] - u[i][j]));
            }
#pragma acc parallel loop collapse(2)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
        if (change < tolerance) break;
        if (it % 10 == 9) printf("%d %.6f\n", it, change);
    }
    return it;
}

static double look(double *x, int n, int steps)
{
    double seen = 0;
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) x[i] += t;
        seen += x[t % n]; /* the host looks: nothing may be held */
#pragma acc parallel loop
        for (int i = 0; i < n; i++) x[i] *= 0.5;
    }
    return seen;
}

static void sometimes(double *x, int n, int steps)
{
    int t = 0;
    if (steps > 0)
        for (;;) {
#pragma acc parallel loop copy(x[0:n])
            for (int i = 0; i < n; i++) x[i] += 1;
            if (t % 2) {
#pragma acc parallel loop copy(x[1:n - 1])
                for (int i = 1; i < n; i++) x[i] *= 0.5;
            }
            if (++t >= steps) break;
        }
}

static void dropped(double *x, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma acc parallel loop copyin(x[0:n])
        for (int i = 0; i < n; i++) x[i] = 7; /* the device's copy only */
    }
}

int main(void)
{
    double x[N];
    for (int i = 0; i < N; i++) x[i] = i, u[0][i] = v[0][i] = 1;
    printf("%d\n", relax(1e-3, 200));
    printf("%.6f\n", look(x, N, 4));
    sometimes(x, N, 3);
    sometimes(x, N, 0);
    dropped(x, N, 2);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += u[i][j] + x[i];
    printf("%.6f\n", sum);
    return 0;
}
