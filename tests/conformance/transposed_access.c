/* Nests that read or write across memory: tiles in shared memory must not change what is computed. */
#include "check.h"

static void transpose(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n*m]) copyout(b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] = a[j * n + i];
}

static void outward(int n, int m, const double *restrict a, double *restrict b)
{
#pragma acc parallel loop copyin(a[0:n*m]) copyout(b[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < m; j++)
            b[j * n + i] = 2 * a[i * m + j];
}

/* Two loads across memory and one along it, strides and offsets, an update in place. */
static void mixed(int n, int m, const float *restrict a, const double *restrict b,
                  const float *restrict d, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n*m], b[0:n*m], d[0:n]) copy(c[0:n*m])
    for (int i = 2; i < n; i += 3)
        for (int j = 1; j < m - 1; j++)
            c[i * m + j] += a[i * m + j] + (float)b[(j + 1) * n + i] * d[i] + a[j * n + i] * 0.5f;
}

static void check(int n, int m)
{
    float *a = malloc(n * m * sizeof *a), *b = malloc(n * m * sizeof *b);
    float *c = malloc(n * m * sizeof *c), *d = malloc(n * sizeof *d);
    double *x = malloc(n * m * sizeof *x), *y = malloc(n * m * sizeof *y);
    int wrong = 0;
    for (int i = 0; i < n * m; i++) {
        a[i] = i % 1001;
        x[i] = 3 * (i % 997) + 1;
        c[i] = i % 7;
    }
    for (int i = 0; i < n; i++)
        d[i] = 0.25f * i;
    transpose(n, m, a, b);
    outward(n, m, x, y);
    mixed(n, m, a, x, d, c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float e = (i * m + j) % 7;
            if (i >= 2 && (i - 2) % 3 == 0 && j >= 1 && j < m - 1)
                e += a[i * m + j] + (float)x[(j + 1) * n + i] * d[i] + a[j * n + i] * 0.5f;
            wrong += b[i * m + j] != a[j * n + i];
            wrong += y[j * n + i] != 2 * x[i * m + j];
            wrong += fabsf(c[i * m + j] - e) > 1e-5f * (1 + fabsf(e));
        }
    CHECK_EQ(wrong, 0);
    free(a), free(b), free(c), free(d), free(x), free(y);
}

/* Columns of a matrix of fixed shape, shorter than a tile one way. */
static void fixed(void)
{
    static int a[40][9], b[9][40];
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 9; j++)
            a[i][j] = 100 * i + j;
#pragma acc parallel loop collapse(2) copyin(a) copyout(b)
    for (int j = 0; j < 9; j++)
        for (int i = 0; i < 40; i++)
            b[j][i] = a[i][j];
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 9; j++)
            CHECK_EQ(b[j][i], 100 * i + j);
}

int main(void)
{
    int sizes[][2] = {{1, 1}, {31, 33}, {32, 64}, {67, 100}, {3, 200}, {130, 65}};
    for (int t = 0; t < 6; t++)
        check(sizes[t][0], sizes[t][1]);
    fixed();
    return report();
}
