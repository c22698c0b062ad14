/* Matrix multiplication: C = A B on n x n matrices stored in one block each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void matmul(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n*n], b[0:n*n]) copyout(c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 192;
    float *a = malloc((size_t)n * n * sizeof *a);
    float *b = malloc((size_t)n * n * sizeof *b);
    float *c = malloc((size_t)n * n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i * n + j] = (float)((i + j) % 7) - 3.0f;
            b[i * n + j] = (float)((i * 3 + j) % 5) * 0.5f;
        }

    matmul(n, a, b, c);

    /* every 13th row against double precision */
    double worst = 0.0, trace = 0.0;
    for (int i = 0; i < n; i += 13)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += (double)a[i * n + k] * b[k * n + j];
            double error = fabs(sum - c[i * n + j]);
            if (error > worst)
                worst = error;
        }
    for (int i = 0; i < n; i++)
        trace += c[i * n + i];
    printf("matmul: n = %d, trace = %.3f, largest error %s\n", n, trace,
           worst < 1e-3 ? "below 1e-3" : "TOO LARGE");
    free(a);
    free(b);
    free(c);
    return worst >= 1e-3;
}
