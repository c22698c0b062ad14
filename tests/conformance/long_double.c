/* long double in device code: the host's format in memory, computed as double on a GPU (C17 6.2.5). */
#include "check.h"
#include <float.h>
struct point { int n; long double x; char c; };
static const long double table[4] = {1, 0.5L, 0.25L, -3};
long double shared_value = 2.5L;
#pragma acc declare copyin(table, shared_value)
#pragma acc routine seq
static long double poly(long double x, int n) { long double r = 0; for (int i = 0; i < n; i++) r = r * x + table[i % 4]; return r; }
static int same(long double a, long double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}
int main(void)
{
    /* what a copy makes of each value: the value itself, or the nearest double */
    long double in[40], out[40];
    double edge[] = {0.0, -0.0, 1, -1, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_MIN / 3, 4.9e-324, -4.9e-324, INFINITY, -INFINITY, 3.14159, 1e-310, 2, 0.1};
    int n = 0;
    for (int i = 0; i < 16; i++) in[n++] = edge[i];
    long double one = 1;
    for (int k = 0; k < 2; k++) {
    long double ulp = ldexpl(one, k ? -1074 : -52);
    long double base = k ? 0 : 1;
    in[n++] = base + ulp / 2;
    in[n++] = base + ulp / 2 + ulp / 256;
    in[n++] = base + ulp * 1.5L;
    in[n++] = base + ulp / 4;
    in[n++] = base + ulp * 2.5L; }
    in[n++] = ldexpl(one, 1024);
    in[n++] = -ldexpl(1.5L, 16000);
    in[n++] = ldexpl(one, -16400);
    in[n++] = ldexpl(one, 1024) - ldexpl(one, 970);
    in[n++] = ldexpl(one, -1022) - ldexpl(one, -1075);
    in[n++] = -ldexpl(one / 3, -1030);
    in[n++] = ldexpl(one, 1024) - ldexpl(one, 969);
    in[n++] = one / 3;
    in[n++] = NAN;
    #pragma acc parallel loop copyin(in) copyout(out)
    for (int i = 0; i < n; i++) out[i] = in[i];
    for (int i = 0; i < n; i++) {
        CHECK(same(out[i], in[i]) || same(out[i], (double) in[i]));
    }
    struct point p[10], tot = {0, 0, 0};
    for (int i = 0; i < 10; i++) p[i] = (struct point){i, i / 4.0L, 'a'};
    long double f = 1.5L, scale[3] = {1, 2, 3}, prod = 1, most = -1, least = 1e30L;
    #pragma acc parallel loop copy(p) firstprivate(f) firstprivate(scale) reduction(*:prod) reduction(max:most) reduction(min:least)
    for (int i = 0; i < 10; i++) { p[i].x = p[i].x * f + scale[i % 3]; p[i].n++;
        prod *= i % 3 ? 1 : 2; most = fmaxl(most, p[i].x); least = p[i].x < least ? p[i].x : least; }
    for (int i = 0; i < 10; i++) CHECK(p[i].x == i * 0.375L + i % 3 + 1 && p[i].n == i + 1 && p[i].c == 'a');
    CHECK(prod == 16 && most == 8 * .375L + 3 && least == 1);
    #pragma acc parallel loop reduction(+:tot)
    for (int i = 0; i < 1000; i++) { tot.x += 0.25L; tot.n++; }
    CHECK(tot.x == 250 && tot.n == 1000);
    long double m[20][30], row[20], all = 0;
    #pragma acc parallel loop gang copyout(m, row) reduction(+:all)
    for (int i = 0; i < 20; i++) {
      long double s = 0;
      #pragma acc loop vector reduction(+:s)
      for (int j = 0; j < 30; j++) { m[i][j] = i + j * 0.5L; s += m[i][j]; }
      row[i] = s; all += s; }
    for (int i = 0; i < 20; i++) CHECK(row[i] == i * 30 + 217.5L);
    CHECK(all == 190 * 30 + 217.5L * 20);
    long double y[16];
    #pragma acc parallel loop copyout(y)
    for (int i = 0; i < 16; i++) y[i] = poly(0.5L, i) + powl(2, i) * shared_value + (i > 3 ? sinl(0) : cosl(0)) + (float) fabsl(-i);
    for (int i = 0; i < 16; i++) { long double w = poly(0.5L, i) + powl(2, i) * 2.5L + (i > 3 ? 0 : 1) + i; CHECK(fabsl(y[i] - w) < 1e-9L); }
    long double arr[4] = {0};
    #pragma acc parallel loop reduction(+:arr)
    for (int i = 0; i < 100; i++) arr[i % 4] += i;
    CHECK(arr[0] == 1200 && arr[3] == 1275);
    int t = 0; unsigned long long u = 0; _Bool b = 0;
    #pragma acc parallel loop reduction(+:t, u) reduction(||:b) copyin(in)
    for (int i = 0; i < 5; i++) {
        long double v = in[2] * 3.75L; t += (int) v; u += (unsigned long long) v; b = b || v == 1;
        while (v > 1) { v /= 2; t++; }
        switch (i) { case 3: v = 4; case 2: t += v == 4; break; default: t += isnan(v) + isinf(v); }
    }
    CHECK(t == 15 + 10 + 1 && u == 15 && !b);
    return report();
}
