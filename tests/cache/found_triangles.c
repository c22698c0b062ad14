/*
 * Triangles of products, above and below the diagonal, with and without it, stored twice and packed: what is
 * computed has every bit of a loop on the host, and the rest stays. Prints how many arrays differ.
 */
#include <stdio.h>
#include <string.h>
enum { N = 37, M = 34 };
static float a[N][M], b[M][N], c[N][N], w[N][N];
static double d[M][N], e[N][N], f[N][N], packed[N * (N + 1) / 2], want[N * (N + 1) / 2];
void lower(int n, int m, float (*restrict a)[m], float (*restrict c)[n])
{
#pragma acc parallel loop present(a[0:n], c[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j <= i; j++) {
            c[i][j] *= 0.5f;
            for (int k = 0; k < m; k++)
                c[i][j] += a[i][k] * a[j][k];
        }
}
void strict_lower(int n, int m, float (*restrict a)[m], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop gang vector_length(32) present(a[0:n], b[0:m], c[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < i; j++) {
            float s = c[i][j];
            for (int k = 0; k < m; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}
void covar(int m, int n, double (*restrict data)[m], double (*restrict c)[m])
{
#pragma acc parallel loop present(data[0:n], c[0:m])
    for (int j1 = 0; j1 < m - 1; j1++)
#pragma acc loop
        for (int j2 = j1 + 1; j2 < m; j2++) {
            double s = 0;
            for (int i = 0; i < n; i++)
                s += data[i][j1] * data[i][j2];
            c[j1][j2] = s;
            c[j2][j1] = s / (n - 1);
        }
}
void packed_lower(int n, int m, double (*restrict d)[n], double *restrict p)
{
#pragma acc parallel loop present(d[0:m], p[0:n * (n + 1) / 2])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                p[i * (i + 1) / 2 + j] += d[k][i] * d[k][j];
}
static void expect(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            w[i][j] *= 0.5f;
            for (int k = 0; k < M; k++) {
                w[i][j] += a[i][k] * a[j][k];
                want[i * (i + 1) / 2 + j] += d[k][i] * d[k][j];
            }
            for (int k = 0; k < M && j < i; k++)
                w[i][j] += a[i][k] * b[k][j];
        }
    for (int i = 0; i < N - 1; i++)
        for (int j = i + 1; j < N; j++) {
            double s = 0;
            for (int k = 0; k < M; k++)
                s += d[k][i] * d[k][j];
            f[i][j] = s;
            f[j][i] = s / (M - 1);
        }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < M; k++) {
            a[i][k] = (i * 7 + k * 3) % 11 - 5;
            b[k][i] = (i + k) % 5 - 2;
            d[k][i] = (i * 5 + k) % 13 - 6;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] = w[i][j] = i - j, e[i][j] = f[i][j] = 100 + i + j;
#pragma acc data copyin(a, b, d) copy(c, e, packed)
    {
        lower(N, M, a, c);
        strict_lower(N, M, a, b, c);
        covar(N, M, d, e);
        packed_lower(N, M, d, packed);
    }
    expect();
    int wrong = (memcmp(c, w, sizeof c) != 0) + (memcmp(e, f, sizeof e) != 0);
    wrong += memcmp(packed, want, sizeof want) != 0;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
