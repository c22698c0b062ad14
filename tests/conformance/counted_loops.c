/* Loops in other words: while loops that count, and plain loops inside of parallel ones. */
#include "check.h"
#define N 40
#define M 24

/* Every way of ending a loop that counts; the last value is wanted, and some loops never turn. */
static void counters(int n, int first)
{
    int out[N][12], want[N][12];
    double data[N + 2], *end = data + n;
    for (int i = 0; i < N + 2; i++)
        data[i] = i + 1;
#define TURNS(OUT)                                                                                                    \
    {                                                                                                                 \
        int k, s, t = 0;                                                                                              \
        double sum = 0;                                                                                               \
        for (s = 0, k = first; k < i;) s += k++;                                                                      \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = first; k <= i;) { s += k; k += 3; }                                                           \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = i; k > first;) { s += k; k -= 2; }                                                            \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = i; k >= first;) { s += k; k = k - 1; }                                                        \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = 0; k != i;) { k++; s += k; }                                                                  \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = i; k != 0;) { s += k; k--; }                                                                  \
        OUT[t++] = s * 100 + k;                                                                                       \
        for (s = 0, k = first; i > k;) { s += 2; k += 5; }                                                            \
        OUT[t++] = s * 100 + k;                                                                                       \
        unsigned u = 3, ui = i;                                                                                       \
        for (s = 0; u < ui;) s += u++;                                                                                \
        OUT[t++] = s * 100 + (int)u;                                                                                  \
        unsigned char b = 250;                                                                                        \
        for (s = 0; b != i % 8;) { s += b; b++; }                                                                     \
        OUT[t++] = s * 100 + b;                                                                                       \
        double *p = data, *q = data + (i < n ? i : n);                                                                        \
        while (p < q) sum += *p++;                                                                                    \
        OUT[t++] = (int)sum * 100 + (int)(p - data);                                                                  \
        for (sum = 0, p = q; p != end; p++) sum += *p;                                                                \
        OUT[t++] = (int)sum * 100 + (int)(p - data);                                                                  \
        for (sum = 0, p = q; p < end; p += 2) sum += p[0];                                                            \
        OUT[t++] = (int)sum * 100 + (int)(p - data);                                                                  \
    }
#pragma acc parallel loop copyout(out) copyin(data)
    for (int i = 0; i < N; i++) {
        double *end = data + n;
        TURNS(out[i])
    }
    for (int i = 0; i < N; i++)
        TURNS(want[i])
    for (int i = 0; i < N; i++)
        for (int t = 0; t < 12; t++)
            CHECK_EQ(out[i][t], want[i][t]);
}

/* Only the outermost loop has a directive. */
static void nests(int n, int m)
{
    static double a[N][M], b[N][M], c[M][N], sums[N];
    int count = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            a[i][j] = c[j][i] = i * M + j, b[i][j] = -1;
#pragma acc parallel loop copyin(a) copy(b)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = 2 * a[i][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK_EQ(b[i][j], i < n && j < m ? 2 * a[i][j] : -1);
    /* Iterations of the inner loop depend on one another, add up, or walk along what others read. */
#pragma acc parallel loop copy(b, sums) copyin(a)
    for (int i = 0; i < N; i++)
        for (int j = 1; j < M; j++)
            b[i][j] = b[i][j - 1] + a[i][j];
    for (int i = 0; i < N; i++)
        for (int j = 1; j < M; j++)
            CHECK_EQ(b[i][j], b[i][j - 1] + a[i][j]);
#pragma acc parallel loop copyout(sums) copyin(a)
    for (int i = 0; i < N; i++) {
        sums[i] = 0;
        for (int j = 0; j < M; j++)
            sums[i] += a[i][j];
    }
#pragma acc parallel loop reduction(+:count)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < m; j++)
            count += j;
    CHECK_EQ(count, N * (m * (m - 1) / 2));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += a[i][j];
        CHECK_EQ(sums[i], sum);
    }
    /* What an iteration reads before its loop, three loops, a scalar that each iteration sets, triangles. */
#pragma acc parallel loop gang copyin(a, c) copyout(b)
    for (int i = 0; i < N; i++) {
        double first = a[i][0];
        for (int j = 0; j < M; j++) {
            double t = c[j][i];
            if (t > first)
                t += first;
            b[i][j] = t;
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK_EQ(b[i][j], c[j][i] + (c[j][i] > a[i][0] ? a[i][0] : 0));
    static int cube[8][9][10];
#pragma acc parallel loop copyout(cube)
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < 10; k++)
                cube[i][j][k] = i * 100 + j * 10 + k;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < 10; k++)
                CHECK_EQ(cube[i][j][k], i * 100 + j * 10 + k);
    int last = -1;
#pragma acc parallel loop copy(b) private(last)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            last = i * j;
            b[i][j] = last;
        }
#pragma acc parallel loop copy(b)
    for (int i = 0; i < M; i++)
        for (int j = 0; j <= i; j++)
            b[i][j] += 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK_EQ(b[i][j], i * j + (i < M && j <= i));
}

/* Pointers that may overlap: rows one apart, and arrays that are one. */
static void overlapping(int n, int m, double *x, double *y)
{
#pragma acc parallel loop copy(x[0:n * m]) copyin(y[0:n * m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i * m + j] = y[i * m + j] + 1;
}

/* Loops that clear the lowest bit in each turn, of all widths, with what is left afterwards. */
static void bits(void)
{
    unsigned long long v[] = {0, 1, 0x80000000, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef};
    enum { COUNT = sizeof v / sizeof *v };
    int a[COUNT], b[COUNT], c[COUNT], d[COUNT];
#pragma acc parallel loop copyin(v) copyout(a, b, c, d)
    for (int i = 0; i < COUNT; i++) {
        unsigned long long x = v[i];
        unsigned y = (unsigned)v[i];
        int z = (int)v[i], n = 10;
        unsigned char u = (unsigned char)v[i];
        a[i] = b[i] = d[i] = 0;
        while (x) {
            x &= x - 1;
            a[i]++;
        }
        int m = 0;
        for (; 0 < y; y = (y - 1) & y)
            m++;
        b[i] = m + (int)y;
        while (z != 0) {
            z &= (int)((unsigned)z - 1);
            n -= 2;
        }
        c[i] = n + z;
        for (; u; u &= u - 1)
            d[i] += 3;
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(a[i], __builtin_popcountll(v[i]));
        CHECK_EQ(b[i], __builtin_popcount((unsigned)v[i]));
        CHECK_EQ(c[i], 10 - 2 * __builtin_popcount((unsigned)v[i]));
        CHECK_EQ(d[i], 3 * __builtin_popcount((unsigned char)v[i]));
    }
}

int main(void)
{
    bits();
    counters(N, 2);
    counters(17 < N ? N - 5 : N, 5);
    nests(N, M);
    nests(7, 3);
    nests(0, M);
    nests(N, 0);
    static double x[N * M], y[N * M];
    for (int i = 0; i < N * M; i++)
        y[i] = i;
    overlapping(N, M, x, y);
    overlapping(N, M, x, x);
    for (int i = 0; i < N * M; i++)
        CHECK_EQ(x[i], i + 2);
    return report();
}
