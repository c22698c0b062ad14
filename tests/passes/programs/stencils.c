/* Stencils of many sizes, offsets and types: rows that are aligned and rows that are not. */
#include <stdio.h>
#include <stdlib.h>

#define N 40

static double sum_of(const char *name, const float *x, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (double)x[i] * (1 + i % 1013);
    printf("%s %.3f\n", name, sum);
    return sum;
}

/* Columns from lo to hi, without restrict. */
static void five(int n, int m, const float *a, float *b, int lo, int hi)
{
#pragma acc parallel loop collapse(2) present(a[0:n*m], b[0:n*m])
    for (int i = 1; i < n - 1; i++)
        for (int j = lo; j < hi; j++)
            b[i * m + j] = 0.25f * (a[i * m + j - 1] + a[i * m + j + 1] + a[(i - 1) * m + j]
                                    + a[(i + 1) * m + j]);
}

/* Far neighbours, the column itself as a value, three loops. */
static void seven(int n, int m, int p, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(3) present(a[0:n*m*p], b[0:n*m*p])
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++)
            for (int k = 2; k < p - 2; k++)
                b[(i * m + j) * p + k] = a[(i * m + j) * p + k - 2] + a[(i * m + j) * p + k + 1]
                    + a[(i * m + j - 2) * p + k] + a[(i * m + j + 1) * p + k]
                    + a[((i - 1) * m + j) * p + k] + a[((i + 2) * m + j) * p + k]
                    - 6.0f * a[(i * m + j) * p + k] + k;
}

/* What is written lies elsewhere in its row than what is read. */
static void shifted(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m - 3; j++)
            b[i * m + j + 3] = a[i * m + j] - 2 * a[i * m + j + 1] + a[i * m + j + 2] * (i + j);
}

/* Constant extents, rows to one side only, and sums of two types. */
static double wide[37][64];
static float grid[37][64], out[37][64];
static void fixed(float scale)
{
#pragma acc parallel loop collapse(2) copyin(wide, grid) copy(out)
    for (int i = 2; i < 35; i++)
        for (int j = 3; j < 61; j++)
            out[i][j] = scale * grid[i][j - 3] + 2 * grid[i][j - 1] + grid[i][j + 2]
                        + grid[i + 2][j + 1] + grid[i - 1][j + 1] + (float)wide[i - 2][j];
}

static void fixed_doubles(void)
{
#pragma acc parallel loop collapse(2) copy(wide) copyin(grid)
    for (int i = 1; i < 36; i++)
        for (int j = 1; j < 63; j++)
            wide[i][j] = grid[i][j - 1] + grid[i][j] + grid[i][j + 1] + grid[i - 1][j]
                         + grid[i + 1][j];
}

/* A list of rows: the loop over columns alone has lanes of its own. */
static void rows(int n, int m, const int *restrict list, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop gang present(list[0:n], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 1; j < m - 1; j++)
            b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1] + a[i * m + j] * list[i];
    }
}

int main(void)
{
    static const int sizes[][4] = {{5, 16, 1, 15}, {9, 64, 1, 63}, {10, 32, 3, 30}, {11, 32, 5, 8},
                                   {6, 40, 2, 39}, {7, 17, 1, 16}, {33, 64, 4, 60}, {12, 32, 7, 7},
                                   {12, 32, 9, 4}, {12, 36, 1, 2}, {9, 30, 1, 29}};
    static const int cubes[][3] = {{8, 8, 16}, {9, 11, 32}, {7, 6, 20}, {10, 9, 31}, {6, 7, 64}};
    long big = N * N * N;
    float *a = malloc(big * sizeof *a), *b = malloc(big * sizeof *b);
    int list[N];
    for (long i = 0; i < big; i++)
        a[i] = (float)(i * 7919 % 101) / 8;
    for (int i = 0; i < N; i++)
        list[i] = i * i % 7;
#pragma acc data copyin(a[0:big], list) create(b[0:big])
    for (int s = 0; s < 11; s++) {
        for (int shift = 0; shift < 5; shift++) {
            for (long i = 0; i < big; i++)
                b[i] = -1;
#pragma acc update device(b[0:big])
            const int *size = sizes[s];
            five(size[0], size[1], a + shift, b + shift / 2 * 2, size[2], size[3]);
            shifted(size[0], size[1], a + N * N, b + 2 * N * N + shift);
            rows(size[0], size[1], list, a + shift, b + 8 * N * N);
            if (s < 5)
                seven(cubes[s][0], cubes[s][1], cubes[s][2], a + shift, b + 10 * N * N);
#pragma acc update self(b[0:big])
            sum_of("stencils", b, big);
        }
    }
    for (int i = 0; i < 37; i++)
        for (int j = 0; j < 64; j++) {
            grid[i][j] = (float)((i * 31 + j * 17) % 29);
            wide[i][j] = out[i][j] = -2;
        }
    fixed(3);
    sum_of("fixed", &out[0][0], 37 * 64);
    fixed_doubles();
    fixed(1);
    sum_of("doubles", &out[0][0], 37 * 64);
    free(a);
    free(b);
    return 0;
}
