/* Products and other sums as rows that are added to the result: the loop over the terms is around the one over the row. */
#include "check.h"

enum { N = 37, M = 29, L = 33 };

static float a[N][L], b[L][M], start[N][M], c[N][M], expected[N][M];

static void set(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            c[i][j] = expected[i][j] = start[i][j];
}

static void compare(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK_EQ(c[i][j], expected[i][j]);
}

static void as_written(int n, int m, int l)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            expected[i][j] *= 3;
        for (int k = 0; k < l; k++)
            for (int j = 0; j < m; j++)
                expected[i][j] += 2 * a[i][k] * b[k][j];
    }
}

static void levels(int n, int m, int l)
{
#pragma acc parallel loop gang
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 0; j < m; j++)
            c[i][j] *= 3;
#pragma acc loop seq
        for (int k = 0; k < l; k++) {
            const float term = 2 * a[i][k];
#pragma acc loop vector
            for (int j = 0; j < m; j++)
                c[i][j] += term * b[k][j];
        }
    }
}

static void kernels(int n, int m, int l)
{
#pragma acc kernels
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            c[i][j] *= 3;
        for (int k = 0; k < l; k++)
            for (int j = 0; j < m; j++)
                c[i][j] += 2 * a[i][k] * b[k][j];
    }
}

static void pointers(int n, int m, int l, const float *x, const float *y, float *z)
{
#pragma acc parallel loop copyin(x[0:N*L], y[0:L*M]) copy(z[0:N*M])
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            z[i * M + j] *= 3;
        for (int k = 0; k < l; k++)
            for (int j = 0; j < m; j++)
                z[i * M + j] += 2 * x[i * L + k] * y[k * M + j];
    }
}

/* Each row is added to itself, shifted: the loops must stay in their order. */
static void shifted(int n, int m, int l)
{
    for (int pass = 0; pass < 2; pass++) {
        float(*to)[M] = pass ? c : expected;
#pragma acc parallel loop if (pass) copy(to[0:N]) copyin(a, b)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < l; k++) {
                const float first = to[i][k % M];
#pragma acc loop independent
                for (int j = 0; j < m / 2; j++)
                    to[i][j] = b[k][j] + to[i][j + m / 2] + (j == k % M ? 0 : first);
            }
    }
}

/* Elements of the lower triangle, and one sum of three loops. */
static void triangle(int n, int l)
{
    for (int pass = 0; pass < 2; pass++) {
        float(*to)[M] = pass ? c : expected;
#pragma acc parallel loop if (pass) copy(to[0:N]) copyin(a, b)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < l; k++)
                for (int h = 0; h < 2; h++)
                    for (int j = 0; j <= i; j++)
                        to[i][j] += a[i][k] * a[j][k] + h;
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < L; k++)
            a[i][k] = (i * 7 + k) % 5 - 2;
    for (int k = 0; k < L; k++)
        for (int j = 0; j < M; j++)
            b[k][j] = (k * 3 + j) % 7 - 3;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            start[i][j] = i + j;
    const int sizes[][3] = {{N, M, L}, {16, 16, 32}, {1, M, 1}, {N, 1, L}, {N, M, 0}, {0, M, L}};
    for (int s = 0; s < 6; s++) {
        const int n = sizes[s][0], m = sizes[s][1], l = sizes[s][2];
        for (int form = 0; form < 3; form++) {
            set();
            as_written(n, m, l);
            if (form == 0)
                levels(n, m, l);
            else if (form == 1)
                kernels(n, m, l);
            else
                pointers(n, m, l, &a[0][0], &b[0][0], &c[0][0]);
            compare();
        }
        set();
        shifted(n, m, l);
        compare();
        set();
        triangle(n < M ? n : M, l);
        compare();
    }
    return report();
}
