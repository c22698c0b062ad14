/* routine gang, worker, vector, seq, by name, with bind; implicit routines; orphaned loops. */
#include "check.h"

#define N 64

#pragma acc routine seq
static int square(int x) { return x * x; }

static double poly(double x, int order)
{
    double r = 1;
    while (order-- > 0)
        r = r * x + 1;
    return r;
}

static int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

#pragma acc routine vector
static void scale(int n, float *row, float by)
{
    int i;
#pragma acc loop vector
    for (i = 0; i < n; i++)
        row[i] *= by;
}

#pragma acc routine vector
static float dot(int n, const float *a, const float *b)
{
    float s = 0;
    int i;
#pragma acc loop vector reduction(+:s)
    for (i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

#pragma acc routine worker
static void rows(int n, float (*m)[N], float by)
{
    int i, j;
#pragma acc loop worker
    for (i = 0; i < n; i++)
#pragma acc loop vector
        for (j = 0; j < N; j++)
            m[i][j] += by;
}

#pragma acc routine gang
static void fill(int n, int *a)
{
    int i;
#pragma acc loop gang vector
    for (i = 0; i < n; i++)
        a[i] = square(i) + 1;
}

static void by_name(int *a, int i);
#pragma acc routine(by_name) seq
static void by_name(int *a, int i) { a[i] = -i; }

#pragma acc routine seq nohost
static void device_only(int *a, int i) { a[i] += 5; }

typedef struct { double re, im; } Complex;

static Complex mul(Complex a, Complex b)
{
    Complex r = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return r;
}

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
#pragma acc declare copyin(table)

#pragma acc routine seq
int lookup(int i) { return table[i & 7]; }

int main(void)
{
    int a[N], i, j;
    float m[8][N], s[8];
    double x[N];
    Complex z[N];

#pragma acc parallel loop copyout(a)
    for (i = 0; i < N; i++)
        a[i] = square(i);
    CHECK_EQ(a[9], 81);
#pragma acc parallel loop copyout(x)
    for (i = 0; i < N; i++)
        x[i] = poly(i * 0.01, 5);
    CHECK_NEAR(x[50], poly(0.5, 5));
#pragma acc parallel loop copyout(a[0:12])
    for (i = 0; i < 12; i++)
        a[i] = factorial(i);
    CHECK_EQ(a[11], 39916800);

    for (i = 0; i < 8; i++)
        for (j = 0; j < N; j++)
            m[i][j] = i + j;
#pragma acc parallel loop gang copy(m) copyout(s) vector_length(32)
    for (i = 0; i < 8; i++) {
        scale(N, m[i], 2);
        s[i] = dot(N, m[i], m[i]);
    }
    for (i = 0; i < 8; i++) {
        float want = 0;
        for (j = 0; j < N; j++)
            want += 4.0f * (i + j) * (i + j);
        CHECK_NEAR(s[i], want);
        CHECK_NEAR(m[i][7], 2 * (i + 7));
    }
#pragma acc parallel num_gangs(1) num_workers(4) vector_length(32) copy(m)
    rows(8, m, 1);
    CHECK_NEAR(m[7][63], 141);
#pragma acc parallel copyout(a)
    fill(N, a);
    CHECK_EQ(a[63], 63 * 63 + 1);
#pragma acc parallel loop copyout(a)
    for (i = 0; i < N; i++)
        by_name(a, i);
#pragma acc parallel loop copy(a)
    for (i = 0; i < N; i++)
        device_only(a, i);
    CHECK_EQ(a[10], -5);
#pragma acc parallel loop copyout(z)
    for (i = 0; i < N; i++) {
        Complex u = {i, 1}, v = {0, 1};
        z[i] = mul(u, v);
    }
    CHECK_NEAR(z[5].re, -1);
    CHECK_NEAR(z[5].im, 5);
#pragma acc parallel loop copy(a)
    for (i = 0; i < N / 2; i++) {
        int t = 1;
        swap(&a[2 * i], &a[2 * i + 1]);
        swap(&a[2 * i], &t);
        a[2 * i] += t;
    }
    CHECK_EQ(a[10], 1 + -11 + 5);
    CHECK_EQ(a[11], -10 + 5);
#pragma acc parallel loop copyout(a)
    for (i = 0; i < N; i++)
        a[i] = lookup(i);
    CHECK_EQ(a[13], 9);
    CHECK_EQ(lookup(2), 4);
    return report();
}
