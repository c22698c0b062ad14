/* Accesses to tiles along rows (YX: lanes walk along memory) and down columns (XY), by type and layout. */

#ifndef TYPE
#define TYPE float
#endif
#define N 34

/* A window of five points; XY reads it transposed. */
void window_yx(TYPE (*restrict a)[N], TYPE (*restrict b)[N])
{
#pragma acc parallel loop collapse(2) copyin(a[0:N]) copy(b[0:N])
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
#pragma acc cache(a[i-1:3][j-1:3])
            b[i][j] = a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]; /* reads */
        }
}

void window_xy(TYPE (*restrict a)[N], TYPE (*restrict b)[N])
{
#pragma acc parallel loop collapse(2) copyin(a[0:N]) copy(b[0:N])
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
#pragma acc cache(a[j-1:3][i-1:3])
            b[i][j] = a[j][i] + a[j - 1][i] + a[j + 1][i] + a[j][i - 1] + a[j][i + 1]; /* reads */
        }
}

/* One element each, in rows of a length known only at run time, and in one dimension. */
void copy_xy(int n, TYPE (*restrict a)[n], TYPE (*restrict b)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:n]) copy(b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
#pragma acc cache(a[j:1][i:1])
            b[i][j] = a[j][i]; /* reads */
        }
}

void flat_xy(int n, TYPE *restrict a, TYPE *restrict b)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n*n]) copy(b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
#pragma acc cache(a[j*n+i:1])
            b[i * n + j] = a[j * n + i]; /* reads */
        }
}

/* The product of a matrix and a transposed one: lanes walk down the rows of both tiles of b. */
void product_xy(int n, TYPE (*restrict a)[n], TYPE (*restrict b)[n], TYPE (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:n], b[0:n]) copyout(c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            TYPE sum = 0;
            for (int k = 0; k < n; k += 16) {
#pragma acc cache(a[i:1][k:16], b[j:1][k:16])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[j][q]; /* reads */
            }
            c[i][j] = sum;
        }
}
