/* 5-point Jacobi relaxation of Laplace's equation: a data region around the iteration, and a
   max-reduction that decides when to stop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 128
#define M 128

static double grid[N][M], next[N][M];

int main(void)
{
    const double tolerance = 1.0e-4;
    const int limit = 1000;
    double change = 1.0;
    int iteration = 0;

    for (int j = 0; j < N; j++)
        grid[j][0] = next[j][0] = 1.0;

#pragma acc data copy(grid) create(next)
    {
#pragma acc parallel loop
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++)
                next[j][i] = grid[j][i];

        while (change > tolerance && iteration < limit) {
            change = 0.0;
#pragma acc parallel loop reduction(max:change)
            for (int j = 1; j < N - 1; j++) {
#pragma acc loop reduction(max:change)
                for (int i = 1; i < M - 1; i++) {
                    next[j][i] = 0.25 * (grid[j][i + 1] + grid[j][i - 1]
                                         + grid[j - 1][i] + grid[j + 1][i]);
                    change = fmax(change, fabs(next[j][i] - grid[j][i]));
                }
            }

#pragma acc parallel loop
            for (int j = 1; j < N - 1; j++) {
#pragma acc loop
                for (int i = 1; i < M - 1; i++)
                    grid[j][i] = next[j][i];
            }
            iteration++;
        }
    }

    /* the same in plain C */
    static double a[N][M], b[N][M];
    for (int j = 0; j < N; j++)
        a[j][0] = b[j][0] = 1.0;
    for (int it = 0; it < iteration; it++) {
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < M - 1; i++)
                b[j][i] = 0.25 * (a[j][i + 1] + a[j][i - 1] + a[j - 1][i] + a[j + 1][i]);
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < M - 1; i++)
                a[j][i] = b[j][i];
    }
    double worst = 0.0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            worst = fmax(worst, fabs(a[j][i] - grid[j][i]));

    printf("jacobi: %d iterations, last change %.6f, centre %.6f, %s\n", iteration, change,
           grid[N / 2][4], worst < 1e-12 ? "correct" : "WRONG");
    return worst >= 1e-12;
}
