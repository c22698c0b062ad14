/*
 * The product c = a b of n × n matrices, as programs in the field spell it. `REAL` is the type of elements.
 * Functions whose name ends in `_order` may run in any order of terms; all others keep that of the program.
 */
#include <math.h>

#ifndef REAL
#define REAL float
#endif

#define IN const REAL *restrict
#define OUT REAL *restrict
#define NEST "acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])"
#define PRODUCT(name, A, B, C)                                                                                 \
    void name(int n, IN a, IN b, OUT c)                                                                        \
    {                                                                                                          \
        _Pragma(NEST) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)                                 \
        {                                                                                                      \
            REAL sum = 0;                                                                                      \
            for (int k = 0; k < n; k++)                                                                        \
                sum += a[A] * b[B];                                                                            \
            c[C] = sum;                                                                                        \
        }                                                                                                      \
    }

/* Transpositions, stored by rows and by columns. */
PRODUCT(rows_nn, i *n + k, k *n + j, i *n + j)
PRODUCT(rows_nt, i *n + k, j *n + k, i *n + j)
PRODUCT(rows_tn, k *n + i, k *n + j, i *n + j)
PRODUCT(rows_tt, k *n + i, j *n + k, i *n + j)
PRODUCT(columns_nn, k *n + i, j *n + k, j *n + i)
PRODUCT(columns_nt, k *n + i, k *n + j, j *n + i)
PRODUCT(columns_tn, i *n + k, j *n + k, j *n + i)
PRODUCT(columns_tt, i *n + k, k *n + j, j *n + i)

void plain_pointers(int n, REAL *a, REAL *b, REAL *c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void variable_length(int n, REAL a[n][n], REAL b[n][n], REAL c[n][n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n][0:n], b[0:n][0:n], c[0:n][0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

void in_memory(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) gang vector_length(128) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}

void tiles(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) tile(32, 32) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void workers_lanes(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) gang num_workers(8) vector_length(32) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
#pragma acc loop worker vector
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
#pragma acc loop seq
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void lanes_order(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) gang num_workers(4) vector_length(32) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
#pragma acc loop worker
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
#pragma acc loop vector reduction(+:sum)
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void old_c(int n, IN a, IN b, OUT c)
{
    int i, j, k;
    REAL sum;
#pragma acc parallel loop async(1) collapse(2) private(sum) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            sum = 0;
            for (k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void moving_pointers(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            IN p = a + i * n, *restrict q = b + j;
            REAL sum = 0;
            for (int k = 0; k < n; k++) {
                sum += *p++ * *q;
                q += n;
            }
            c[i * n + j] = sum;
        }
}

void while_pointers(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const REAL *p = a + i * n, *q = b + j, *end = p + n;
            REAL sum = 0;
            while (p < end) {
                sum += *p++ * *q;
                q += n;
            }
            c[i * n + j] = sum;
        }
}

void while_counter(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            int k = 0;
            while (k < n) {
                sum += a[i * n + k] * b[k * n + j];
                k++;
            }
            c[i * n + j] = sum;
        }
}

void counting_down(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = n - 1; i >= 0; i--)
        for (int j = n - 1; j >= 0; j--) {
            REAL sum = 0;
            for (int k = n - 1; k >= 0; k--)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void from_one(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            REAL sum = 0;
            for (int k = 1; k <= n; k++)
                sum += a[(i - 1) * n + k - 1] * b[(k - 1) * n + j - 1];
            c[(i - 1) * n + j - 1] = sum;
        }
}

void long_counters(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            REAL sum = 0;
            for (long k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void unsigned_counters(unsigned n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            REAL sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void row_pointers(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) gang present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++) {
        IN row = a + i * n;
        OUT out = c + i * n;
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += row[k] * b[k * n + j];
            out[j] = sum;
        }
    }
}

#pragma acc routine seq
static REAL dot(int n, const REAL *x, const REAL *y)
{
    REAL sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k * n];
    return sum;
}
void by_routine(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = dot(n, a + i * n, b + j);
}

void fused(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum = fma(a[i * n + k], b[k * n + j], sum);
            c[i * n + j] = sum;
        }
}

void by_kernels(int n, IN a, IN b, OUT c)
{
#pragma acc kernels async(1) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* Rows of c one after the other, each a sum of rows of b. */
void row_sums(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) gang present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
#pragma acc loop seq
        for (int k = 0; k < n; k++)
#pragma acc loop vector
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

/* Only the outermost loop has a directive. */
void outermost(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* The products of columns by rows in a numbered loop. */
void numbered(int n, IN a, IN b, OUT c)
{
#pragma acc parallel loop async(1) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int e = 0; e < n * n; e++) {
        int i = e / n, j = e % n;
        REAL sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * b[k * n + j];
        c[e] = sum;
    }
}
