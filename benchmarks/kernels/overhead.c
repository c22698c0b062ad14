/* What a launch costs: empty kernels on present data, and a small Jacobi iteration. */
#include <math.h>

void empty_async(int n, float *restrict x)
{
    for (int i = 0; i < n; i++) {
#pragma acc parallel async(1) present(x[0:64]) num_gangs(1) vector_length(32)
        {
        }
    }
#pragma acc wait(1)
}

void empty_sync(int n, float *restrict x)
{
    for (int i = 0; i < n; i++) {
#pragma acc parallel present(x[0:64]) num_gangs(1) vector_length(32)
        {
        }
    }
}

/* Two arrays that swap roles; the largest change comes back after every step. */
float jacobi(int n, int steps, float *restrict a, float *restrict b)
{
    float change = 0.0f;
    for (int s = 0; s < steps; s++) {
        change = 0.0f;
#pragma acc parallel loop collapse(2) reduction(max:change) present(a[0:n*n], b[0:n*n])
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float next = 0.25f * (a[i * n + j - 1] + a[i * n + j + 1]
                                      + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
                change = fmaxf(change, fabsf(next - a[i * n + j]));
                b[i * n + j] = next;
            }
        float *t = a;
        a = b;
        b = t;
    }
    return change;
}
