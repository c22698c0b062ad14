/* 2D heat equation with swapped pointers inside one data region. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void step(int n, double r, const double *restrict u, double *restrict v)
{
#pragma acc parallel loop collapse(2) present(u[0:n*n], v[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            v[i * n + j] = u[i * n + j]
                           + r * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1]
                                  + u[i * n + j + 1] - 4.0 * u[i * n + j]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96;
    int steps = argc > 2 ? atoi(argv[2]) : 60;
    size_t cells = (size_t)n * n;
    double *u = calloc(cells, sizeof(double));
    double *v = calloc(cells, sizeof(double));
    double *reference = calloc(cells, sizeof(double));
    double *scratch = calloc(cells, sizeof(double));
    for (int i = n / 4; i < n / 2; i++)
        for (int j = n / 4; j < n / 2; j++)
            u[i * n + j] = reference[i * n + j] = 100.0;

    double *now = u, *next = v;
#pragma acc data copy(u[0:cells]) copy(v[0:cells])
    for (int t = 0; t < steps; t++) {
        step(n, 0.2, now, next);
        double *swap = now;
        now = next;
        next = swap;
    }

    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                scratch[i * n + j] = reference[i * n + j]
                    + 0.2 * (reference[(i - 1) * n + j] + reference[(i + 1) * n + j]
                             + reference[i * n + j - 1] + reference[i * n + j + 1]
                             - 4.0 * reference[i * n + j]);
        double *swap = reference;
        reference = scratch;
        scratch = swap;
    }
    double worst = 0.0, total = 0.0;
    for (size_t k = 0; k < cells; k++) {
        worst = fmax(worst, fabs(now[k] - reference[k]));
        total += now[k];
    }
    printf("heat: n = %d, %d steps, total %.3f, %s\n", n, steps, total,
           worst < 1e-9 ? "correct" : "WRONG");
    free(u);
    free(v);
    free(reference);
    free(scratch);
    return worst >= 1e-9;
}
