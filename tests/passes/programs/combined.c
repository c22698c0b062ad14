/* Sums over subscripts that combine the variables of two loops: sizes around groups of four and eight, bounds
   that are not multiples of those, arrays that do not start at multiples of 16 bytes. All sums are exact. */
#include <stdio.h>

static void products(int n, int m, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copyout(c[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += a[j] * b[i ^ j];
        c[i] = sum;
    }
}

static void masks(int l, int n, int k, int m, const double *restrict a, const double *restrict b,
                  double *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (int i = l; i < n; i++) {
        double s = 1.0, t = 0.0;
        for (int j = k; j < m; j++) {
            s += a[j] * b[i | j];
            t += b[(i & j) + 1];
        }
        c[i] = s * 2 + t + i;
    }
}

static void correlation(int l, int n, int k, int m, const int *restrict a, const int *restrict b, int *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (int i = l; i < n; i++) {
        int s = i;
        for (int j = k; j < m; j++)
            s += a[j] * b[i + j];
        c[i] = s;
    }
}

static void unsigned_counters(unsigned n, unsigned m, const unsigned *restrict a, const long long *restrict b,
                              long long *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (unsigned i = 0; i < n; i++) {
        long long s = i, t = 7;
        for (unsigned j = 0; j < m; j++) {
            s += a[j] * b[2 * (i ^ j) + 1];
            t += b[(i ^ j) >> 1] ^ (i ^ j);
        }
        c[i] = s ^ t;
    }
}

static void not_aligned(int n, int m, const short *restrict a, const short *restrict b, int *restrict c)
{
#pragma acc parallel loop present(a[0:m], b[0:2048]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < m; j++)
            s += a[j] * b[i ^ j ^ 5];
        c[i] = s;
    }
}

static void two_loops(int n, int m, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        float before = c[i], first = 0.0f, second = before;
        for (int j = 0; j < m; j++)
            first += a[j] * b[i ^ j];
        if (first > 10.0f)
            c[i] = first;
        for (int j = 1; j < m - 1; j++)
            second += a[j] * b[i + 3000 - j] + a[j - 1];
        c[i] = c[i] + second;
    }
}

static void shared_sums(int n, int m, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        double s = c[i], t = 2.0;
#pragma acc loop reduction(+:s)
        for (int j = 0; j < m; j++)
            s += a[j] * b[i ^ j];
#pragma acc loop vector reduction(+:s,t)
        for (int j = 2; j < m; j++) {
            s += b[i + j];
            t += a[j] * b[i | j];
        }
        c[i] = s - t;
    }
#pragma acc parallel loop gang copyin(a[0:m], b[0:4096]) copy(c[0:n])
    for (int i = 0; i < n; i++) {
        double most = c[i], s = 0.0;
#pragma acc loop vector reduction(max:most) reduction(+:s)
        for (int j = 0; j < m; j++) {
            most = most > b[i ^ j] ? most : b[i ^ j];
            s += a[j] * b[i ^ j];
        }
        c[i] += most + s;
    }
}

static float fa[4096], fb[4096], fc[4096];
static double da[4096], db[4096], dc[4096];
static int ia[4096], ib[4096], ic[4096];
static unsigned ua[4096];
static long long lb[4096], lc[4096];
static short sa[4096], sb[4096];

static unsigned long long mix(unsigned long long h, long long x)
{
    return (h ^ (unsigned long long)x) * 1099511628211ull;
}

int main(void)
{
    static const int sizes[][2] = {{0, 5},   {5, 0},     {1, 1},    {3, 5},     {4, 4},     {8, 9},
                                   {64, 64}, {127, 129}, {130, 40}, {255, 511}, {16, 1000}, {700, 17}};
    for (int i = 0; i < 4096; i++) {
        fa[i] = (i * 37) % 19 - 9;
        fb[i] = (i * 53) % 17 - 8;
        da[i] = fa[i];
        db[i] = fb[i] * 3;
        ia[i] = i % 83 - 20;
        ib[i] = i % 1009;
        ua[i] = i * 2654435761u % 100003;
        lb[i] = (long long)i * i * 977 - 5;
        sa[i] = i % 200 - 77;
        sb[i] = i * 7 % 301;
    }
    for (int k = 0; k < 12; k++) {
        int n = sizes[k][0], m = sizes[k][1];
        unsigned long long h = 1469598103934665603ull;
        for (int i = 0; i < n; i++)
            fc[i] = dc[i] = ic[i] = lc[i] = 0;
        products(n, m, fa, fb, fc);
        for (int i = 0; i < n; i++)
            h = mix(h, fc[i] * 4);
        masks(k % 5, n, k % 3, m, da, db, dc);
        for (int i = 0; i < n; i++)
            h = mix(h, dc[i] * 4);
        correlation(k % 6, n, (k * 7) % 9, m, ia, ib, ic);
        for (int i = 0; i < n; i++)
            h = mix(h, ic[i]);
        unsigned_counters(n, m, ua, lb, lc);
        for (int i = 0; i < n; i++)
            h = mix(h, lc[i]);
#pragma acc data copyin(sa, sb)
        not_aligned(n, m, sa + 1, sb + 3, ic);
        for (int i = 0; i < n; i++)
            h = mix(h, ic[i]);
        for (int i = 0; i < n; i++)
            fc[i] = i % 7;
        two_loops(n, m, fa, fb, fc);
        for (int i = 0; i < n; i++)
            h = mix(h, fc[i] * 4);
        for (int i = 0; i < n; i++)
            dc[i] = i % 5;
        shared_sums(n, m, da, db, dc);
        for (int i = 0; i < n; i++)
            h = mix(h, dc[i] * 4);
        printf("%d %d %llx\n", n, m, h);
    }
    return 0;
}
