/*
 * Products in many spellings, each compared with a plain loop on the host; prints what differs. With ALL, all of
 * them; else loops in the other order around a loop that reduces, and sums kept in memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40 };
static float fa[N][N], fb[N][N], fc[N][N];

#define AT(p, i, j) (p)[(long)(i) * ld + (j)]

/* c = op(a) op(b), serially: strides of rows and columns of both. */
static void expect(int m, int n, int t, const float *a, long ai, long ak, const float *b, long bk,
                   long bj, float *c, long ld)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[i * ai + k * ak] * b[k * bk + j * bj];
            AT(c, i, j) = sum;
        }
}

static int failures;
static void compare(const char *name, int m, int n, const float *c, const float *want, long ld)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (fabsf(AT(c, i, j) - AT(want, i, j)) > 1e-3f * (1 + fabsf(AT(want, i, j)))) {
                printf("%s: [%d][%d] is %g instead of %g\n", name, i, j, AT(c, i, j), AT(want, i, j));
                failures++;
                return;
            }
}

void updates(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:m*t], b[0:t*n]) copy(c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < t; k++)
                c[i * n + j] += a[i * t + k] * b[k * n + j];
}

/* Pointers that might overlap: they cannot where loops have several iterations, which all read the factors. */
void plain(int m, int n, int t, long ld, const float *a, const float *b, float *c)
{
#pragma acc parallel loop gang present(a[0:m*t], b[0:t*n], c[0:(m-1)*ld+n])
    for (int i = 0; i < m; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            c[i * ld + j] *= 0.5f;
            for (int k = 0; k < t; k++)
                c[i * ld + j] += a[i * t + k] * b[k * n + j];
        }
}

void overlapping(void)
{
    enum { M = 21, T = 34 };
    static float a[M * T], b[T], want[M * T];
    for (int i = 0; i < M * T; i++)
        a[i] = want[i] = (float)(i % 7) - 3.0f;
    for (int k = 0; k < T; k++)
        b[k] = (float)(k % 3) + 0.25f;
    for (int i = 0; i < M; i++) {
        float *row = want + i * T;
        row[T - 1] *= 0.5f;
        for (int k = 0; k < T; k++)
            row[T - 1] += row[k] * b[k];
    }
#pragma acc data copy(a) copyin(b)
    plain(M, 1, T, T, a, b, a + T - 1);
    compare("overlapping", M, T, a, want, T);
}

void columns(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop gang num_workers(4) copyin(a[0:m*t], b[0:t*n]) copyout(c[0:m*n])
    for (int j = 0; j < n; j++)
#pragma acc loop worker
        for (int i = 0; i < m; i++) {
            float sum = 0.0f;
#pragma acc loop vector reduction(+:sum)
            for (int k = 0; k < t; k++)
                sum += a[k * m + i] * b[j * t + k];
            c[i * n + j] = sum;
        }
}

#ifdef ALL
void nn(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:m*t], b[0:t*n]) copyout(c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[i * t + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void tn(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop gang copyin(a[0:m*t], b[0:t*n]) copyout(c[0:m*n])
    for (int i = 0; i < m; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[k * m + i] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void nt(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop copyin(a[0:m*t], b[0:t*n]) copyout(c[0:m*n])
    for (int i = 0; i < m; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
#pragma acc loop reduction(+:sum)
            for (int k = 0; k < t; k++)
                sum += a[i * t + k] * b[j * t + k];
            c[i * n + j] = sum;
        }
    }
}

void tt(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc kernels loop independent copyin(a[0:m*t], b[0:t*n]) copyout(c[0:m*n])
    for (int i = 0; i < m; i++)
#pragma acc loop independent
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[k * m + i] * b[j * t + k];
            c[i * n + j] = sum;
        }
}

void vla(int m, int n, int t, float (*restrict a)[t], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop tile(8, 32) copyin(a[0:m], b[0:t]) copyout(c[0:m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k <= t - 1; k++)
                sum = sum + a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

void fixed(void)
{
#pragma acc parallel loop collapse(2) copyin(fa, fb) copyout(fc)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < N; k++)
                sum += fa[i][k] * fb[k][j];
            fc[i][j] = sum;
        }
}

void flat(const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:N*N], b[0:N*N]) copyout(c[0:N*N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 32; k++)
                sum += a[i * N + k + 2] * b[(k + 2) * N + j];
            c[i * N + j] = sum;
        }
}

void batched(int s, int m, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(3) copyin(a[0:s*m*t], b[0:s*t*m]) copyout(c[0:s*m*m])
    for (int q = 0; q < s; q++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                float sum = 0.0f;
                for (int k = 0; k < t; k++)
                    sum += a[(q * m + i) * t + k] * b[(q * t + k) * m + j];
                c[(q * m + i) * m + j] = sum;
            }
}

void squares(int m, int t, const float *restrict a, const float *restrict w, float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:m*t], w[0:t]) copyout(c[0:m*m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f, norm = 0.0f;
            for (int k = 0; k < t; k++) {
                float d = a[i * t + k] - a[j * t + k];
                sum += w[k] * d * d;
                norm += w[k];
            }
            c[i * m + j] = sum / (norm + 1.0f);
        }
}

void lower(int m, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop copyin(a[0:m*t], b[0:t*m]) copy(c[0:m*m])
    for (int i = 0; i < m; i++)
#pragma acc loop
        for (int j = 0; j <= i; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[i * t + k] * b[k * m + j];
            c[i * m + j] = sum;
        }
}

#endif

static float *some(int n, int seed)
{
    float *p = malloc(n * sizeof *p);
    for (int i = 0; i < n; i++)
        p[i] = (float)((i * 37 + seed * 11) % 23) / 23.0f - 0.4f;
    return p;
}

static void sizes(int m, int n, int t)
{
    float *a = some(m * t, 1), *b = some(t * n, 2), *c = some(m * n, 3), *want = some(m * n, 4);
    expect(m, n, t, a, t, 1, b, n, 1, want, n);
    for (int i = 0; i < m * n; i++)
        c[i] = 0.0f;
    updates(m, n, t, a, b, c);
    compare("updates", m, n, c, want, n);
    for (int i = 0; i < m * n; i++)
        c[i] = 0.0f;
#pragma acc data copyin(a[0:m*t], b[0:t*n]) copy(c[0:m*n])
    plain(m, n, t, n, a, b, c);
    compare("plain", m, n, c, want, n);
#ifdef ALL
    nn(m, n, t, a, b, c);
    compare("nn", m, n, c, want, n);
    vla(m, n, t, (float(*)[t])a, (float(*)[n])b, (float(*)[n])c);
    compare("vla", m, n, c, want, n);
    expect(m, n, t, a, 1, m, b, n, 1, want, n);
    tn(m, n, t, a, b, c);
    compare("tn", m, n, c, want, n);
    expect(m, n, t, a, t, 1, b, 1, t, want, n);
    nt(m, n, t, a, b, c);
    compare("nt", m, n, c, want, n);
#endif
    expect(m, n, t, a, 1, m, b, 1, t, want, n);
    columns(m, n, t, a, b, c);
    compare("columns", m, n, c, want, n);
#ifdef ALL
    tt(m, n, t, a, b, c);
    compare("tt", m, n, c, want, n);
#endif
    free(a), free(b), free(c), free(want);
}

#ifdef ALL
static void others(void)
{
    float *a = some(3 * N * N, 5), *b = some(3 * N * N, 6), *c = some(3 * N * N, 7), *want = some(3 * N * N, 8);
    for (int i = 0; i < N * N; i++)
        fa[i / N][i % N] = a[i], fb[i / N][i % N] = b[i];
    fixed();
    expect(N, N, N, a, N, 1, b, N, 1, want, N);
    compare("fixed", N, N, &fc[0][0], want, N);
    flat(a, b, c);
    expect(N, N, 32, a + 2, N, 1, b + 2 * N, N, 1, want, N);
    compare("flat", N, N, c, want, N);
    batched(3, 19, 34, a, b, c);
    for (int s = 0; s < 3; s++)
        expect(19, 19, 34, a + s * 19 * 34, 34, 1, b + s * 34 * 19, 19, 1, want + s * 19 * 19, 19);
    compare("batched", 3 * 19, 19, c, want, 19);
    squares(21, 37, a, b, c);
    for (int i = 0; i < 21; i++)
        for (int j = 0; j < 21; j++) {
            float sum = 0.0f, norm = 0.0f;
            for (int k = 0; k < 37; k++) {
                float d = a[i * 37 + k] - a[j * 37 + k];
                sum += b[k] * d * d, norm += b[k];
            }
            want[i * 21 + j] = sum / (norm + 1.0f);
        }
    compare("squares", 21, 21, c, want, 21);
    for (int i = 0; i < 21 * 21; i++)
        c[i] = want[i] = 1.0f;
    lower(21, 37, a, b, c);
    for (int i = 0; i < 21; i++)
        for (int j = 0; j <= i; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 37; k++)
                sum += a[i * 37 + k] * b[k * 21 + j];
            want[i * 21 + j] = sum;
        }
    compare("lower", 21, 21, c, want, 21);
    free(a), free(b), free(c), free(want);
}
#endif

int main(void)
{
    sizes(37, 50, 35);
    sizes(20, 33, 48);
    sizes(5, 3, 7);
    sizes(18, 17, 0);
    overlapping();
#ifdef ALL
    others();
#endif
    printf("%d wrong\n", failures);
    return failures != 0;
}
