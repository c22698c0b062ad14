/* Lengths of rows that the construct itself computes, in types wider than the counter; scalars that a loop sets
   and an inner loop reduces in branches, with counters declared at the top. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

enum { N = 1400, ROWS = 25 };
static long long total = 1500;
static struct shape { int n; size_t width; } shape = {3, 150};
static int a[N], b[N];

#define SAME(first, second)                                       \
    for (int e_ = 0; e_ < N; e_++) {                              \
        long long e = e_;                                         \
        CHECK(a[e] == (int)(first) && b[e] == (int)(second));     \
    }

static void lengths(int n, size_t width, int m, long k, short s)
{
    int e;
#pragma acc parallel copyout(a, b)
    {
#pragma acc loop
        for (int i = 0; i < n; i++) a[i] = i % (width - 2);
#pragma acc loop gang vector
        for (unsigned i = 0; i < N; i++) b[i] = i / (m + 149L) * 3 + i % (m + 149L);
    }
    SAME(e % 198, e / 150 * 3 + e % 150)
#pragma acc kernels copyout(a, b)
    {
#pragma acc loop independent
        for (e = 0; e < n; e++) {
            const long d = k * 2;
            a[e] = e / (d * 2) * 5 + e / d % 2 + e % d;
        }
#pragma acc loop independent
        for (size_t i = 0; i < N; i++) b[i] = i / ((int)(total / 10) + 1);
    }
    SAME(e / 600 * 5 + e / 300 % 2 + e % 300, e / 151)
#pragma acc parallel loop copyout(a) copy(b)
    for (short i = 0; i < (short)n; i++) {
        a[i] = i % (shape.width - m);
        b[i] += i / (s + 131LL);
    }
    SAME(e % 149, e / 151 + e / 131)
}

static void inner(const int *restrict x, long *restrict least, int *restrict most, int m)
{
    long s = 3;
    int i, j;
#pragma acc kernels copyin(x[0:N]) copyout(least[0:ROWS], most[0:ROWS])
    {
#pragma acc loop
        for (i = 0; i < ROWS; i++) {
            s = 2;
#pragma acc loop reduction(min:s)
            for (j = 0; j < 23; j++) {
                if (s > x[i * 1 + j * 7]) s = x[i * 1 + j * 7];
            }
            least[i] = s;
        }
#pragma acc loop independent private(s)
        for (i = 0; i < ROWS; i++) {
            s = -1;
            for (j = 0; j < m; j++) {
                if (x[i + j * m] > s && x[i] != 0) {
                    if (j * m > 4) s = x[i + j * m] * 2;
                }
            }
            most[i] = s;
        }
    }
}

static void reduced(void)
{
    long least[ROWS];
    int most[ROWS];
    for (int e = 0; e < N; e++) a[e] = e * 37 % 101 - 20;
    inner(a, least, most, 13);
    for (int i = 0; i < ROWS; i++) {
        long low = 2, high = -1;
        for (int j = 0; j < 23; j++)
            if (low > a[i + j * 7]) low = a[i + j * 7];
        for (int j = 0; j < 13; j++)
            if (a[i + j * 13] > high && a[i] != 0 && j * 13 > 4) high = a[i + j * 13] * 2;
        CHECK_EQ(least[i], low);
        CHECK_EQ(most[i], high);
    }
}

int main(void)
{
    lengths(N, 200, 1, 150, 0);
    reduced();
    return report();
}
