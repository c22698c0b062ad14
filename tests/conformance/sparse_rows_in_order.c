/*
 * Sums over rows of sparse matrices whose order is kept: rows of few and many terms, without terms, whose beginnings
 * do not rise, of several types and spellings. The bits are those of the same loops on the host.
 */
#include <stdio.h>
#include <string.h>
enum { N = 700, TERMS = 1 << 15 };
static int begin[N + 1], column[TERMS], whole[TERMS], sums[N], want_sums[N];
static long wide[N + 1];
static float a[TERMS], x[TERMS], y[N], want[N];
static double d[TERMS], z[N], want_z[N];

#define PRAGMA(text) _Pragma(#text)
#define MATVEC(name, directive, T, INDEX, value, BEFORE, AFTER)                                                 \
    static void name(int n, const INDEX *begin, const int *column, const T *a, const T *x, T *y)                \
    {                                                                                                           \
        _Pragma(directive) for (int i = 0; i < n; i++)                                                          \
        {                                                                                                       \
            T s = BEFORE;                                                                                       \
            for (INDEX k = begin[i]; k < begin[i + 1]; k++)                                                     \
                s += value;                                                                                     \
            AFTER;                                                                                              \
        }                                                                                                       \
    }
#define BOTH(name, ...)                                                                                         \
    MATVEC(name, "acc parallel loop present(begin, column, a, x, y)", __VA_ARGS__)                              \
    MATVEC(name##_host, "GCC ivdep", __VA_ARGS__)
BOTH(floats, float, int, a[k] - x[column[k]], 0, y[i] = s)
BOTH(doubles, double, long, a[k] + x[column[k] % 7], y[i], y[i] = s)
BOTH(integers, int, int, (column[k] & 1 ? a[k] : 3 * x[k]), i, if (s > 5) y[i] = s)
BOTH(with_row, float, int, a[k] + i, 0, y[i] = s)
BOTH(strided, float, int, a[(k * 5) % 1024], 0, y[i] = s)

/* No rows: nothing is read. */
static void dense(int n, int m, const float *a, float *y)
{
#pragma acc parallel loop present(a, y)
    for (int i = 0; i < n; i++) {
        float s = y[i];
        for (int k = 0; k < m; k++)
            s += a[i * m + k];
        y[i] = s;
    }
}

static void fill(int kind)
{
    int k = kind == 3 ? 12000 : 0;
    for (int i = 0; i <= N; i++) {
        begin[i] = k;
        wide[i] = k;
        if (kind == 0)
            k += i % 5 == 0 ? 0 : i % 37;
        else if (kind == 1)
            k += i == 300 ? 20000 : i % 3;
        else if (kind == 2)
            k += i % 7 == 3 ? -60 + (i < 100) * 60 : 31;
        else
            k -= i % 17;
    }
}

static int check(void)
{
    int wrong = 0;
#pragma acc data copyin(begin, column, a, x, d, whole, wide) copy(y, z, sums)
    {
#define RUN(name, n, b, v, r, out, w)                                                                           \
    memset(out, 7, sizeof out);                                                                                 \
    memset(w, 7, sizeof w);                                                                                     \
    PRAGMA(acc update device(out)) name(n, b, column, v, r, out);                                       \
    name##_host(n, b, column, v, r, w);                                                                         \
    PRAGMA(acc update self(out)) wrong += memcmp(out, w, sizeof w) != 0;
        RUN(floats, N, begin, a, x, y, want)
        RUN(floats, 1, begin, a, x, y, want)
        RUN(floats, 0, begin, a, x, y, want)
        RUN(floats, 257, begin, a, x, y, want)
        RUN(doubles, N, wide, d, d, z, want_z)
        RUN(integers, N - 1, begin, whole, whole, sums, want_sums)
        RUN(with_row, N, begin, a, x, y, want)
        RUN(strided, N, begin, a, x, y, want)
        dense(0, 40, a, y);
    }
    return wrong;
}

int main(void)
{
    int wrong = 0;
    for (int k = 0; k < TERMS; k++) {
        column[k] = (k * 31 + k / 5) % TERMS;
        whole[k] = k % 97 - 40;
        a[k] = 1.0f / (k % 23 + 3);
        x[k] = 1.0f / (k % 29 + 2);
        d[k] = 1.0 / (k % 31 + 1);
    }
    for (int kind = 0; kind < 4; kind++) {
        fill(kind);
        wrong += check();
    }
    printf("%d wrong\n", wrong);
    return wrong;
}
