// Parameters declared as arrays in data clauses: C passes pointers, the declaration says how much data there is.
#include "check.h"

#define N 24
#define M 10

static void constant(double a[N][M], double b[N], int c[])
{
#pragma acc data copyin(a) copyout(b) copy(c[0:N])
    {
#pragma acc parallel loop present(a, b, c)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < M; j++)
                sum += a[i][j];
            b[i] = sum;
            c[i] += i;
        }
    }
}

static void variable(int n, int m, const float a[n][m], float b[static n + 1], float c[restrict n][m])
{
    int length = n;
    n = -1; // the lengths are those of the call
#pragma acc data copyin(a) create(c)
    {
#pragma acc parallel loop collapse(2) present(a, c)
        for (int i = 0; i < length; i++)
            for (int j = 0; j < m; j++)
                c[i][j] = 2 * a[i][j];
#pragma acc parallel loop copy(b) present(c)
        for (int i = 0; i <= length; i++)
            b[i] += i < length ? c[i][m - 1] : 1;
    }
}

static void updates(int n, int a[n])
{
#pragma acc enter data copyin(a)
#pragma acc parallel loop present(a)
    for (int i = 0; i < n; i++)
        a[i] += 1;
#pragma acc update self(a)
    CHECK_EQ(a[n - 1], n);
    for (int i = 0; i < n; i++)
        a[i] = 7;
#pragma acc update device(a)
#pragma acc parallel loop present(a)
    for (int i = 0; i < n; i++)
        a[i] *= 2;
#pragma acc exit data copyout(a)
}

int main(void)
{
    static double a[N][M], b[N];
    static float s[N][M], t[N + 1], u[N][M];
    int c[N], d[N];
    for (int i = 0; i < N; i++) {
        c[i] = d[i] = i;
        t[i] = 1;
        for (int j = 0; j < M; j++)
            a[i][j] = s[i][j] = i * j;
    }
    t[N] = 3;
    constant(a, b, c);
    variable(N, M, s, t, u);
    updates(N, d);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(b[i], 45.0 * i);
        CHECK_EQ(c[i], 2 * i);
        CHECK_NEAR(t[i], 1 + 18.0 * i);
        CHECK_EQ(d[i], 14);
    }
    CHECK_NEAR(t[N], 4);
    return report();
}
