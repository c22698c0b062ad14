/* Counters and pointers that are declared before a nest and advanced in it, also where their value is kept. */
#include "check.h"

enum { N = 11, M = 7 };
static float a[N * M], b[N * M], wanted[N * M];
static int kept, out[N], seen[N];

static void reset(void)
{
    for (int e = 0; e < N * M; e++) {
        a[e] = (float)(e % 13) - 4;
        b[e] = -1;
        wanted[e] = 2 * a[e] + (float)(e % M);
    }
}

#define SAME() CHECK(memcmp(b, wanted, sizeof b) == 0); reset()

static void subscripts(int n, int m)
{
    int i, j, k, q;
    float *p, *r;
    reset();
#pragma acc parallel loop copyin(a) copy(b)
    for (i = 0; i < n; i++) {
        k = i * m;
        for (j = 0; j < m; j++) {
            b[k] = 2 * a[k] + j;
            k++;
        }
    }
    SAME();
#pragma acc kernels copyin(a) copy(b)
    for (i = 0; i < n; i++)
        for (j = 0, k = i * m; j < m; j++, k++)
            b[k] = 2 * a[k] + j;
    SAME();
#pragma acc parallel loop copyin(a) copy(b) private(p, r, j)
    for (i = 0; i < n; i++) {
        p = a + i * m;
        for (r = b + i * m, j = 0; r < b + (i + 1) * m; r++)
            *r = 2 * *p++ + j++;
    }
    SAME();
#pragma acc parallel loop gang copyin(a) copy(b)
    for (i = 0; i < n; i++) {
        k = i;
        k *= m;
#pragma acc loop vector private(q)
        for (j = 0; j < m; j++) {
            q = k;
            q += j;
            b[q] = 2 * a[q] + j;
        }
    }
    SAME();
#pragma acc serial copyin(a) copy(b)
    {
        k = 0;
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++, k++)
                b[k] = 2 * a[k] + j;
    }
    SAME();
    k = 0;
#pragma acc kernels copyin(a) copy(b, k)
    for (i = 0; i < n; i++) {
        j = 0;
        while (j < m) {
            b[k] = 2 * a[k] + j++;
            k++;
        }
    }
    CHECK_EQ(k, n * m);
    SAME();
}

static void used_later(int n, int m)
{
    int i, j, k = 5, last = -3;
#pragma acc kernels copyin(a) copyout(out)
    for (i = 0; i < n; i++) {
        k = 0;
        for (j = 0; j < m; j++)
            if (a[i * m + j] > 0)
                k++;
        out[i] = k;
    }
    kept = k;
    for (i = 0; i < n; i++) {
        seen[i] = 0;
        for (j = 0; j < m; j++)
            seen[i] += a[i * m + j] > 0;
        CHECK_EQ(out[i], seen[i]);
    }
    CHECK_EQ(kept, seen[n - 1]);
#pragma acc kernels copyin(a) copyout(out) copy(last)
    for (i = 0; i < n; i++) {
        if (a[i * m] > 0)
            last = i;
        last++;
        out[i] = last;
    }
    for (i = 0, k = -3; i < n; i++) {
        k = (a[i * m] > 0 ? i : k) + 1;
        CHECK_EQ(out[i], k);
    }
    CHECK_EQ(last, k);
    k = 9;
#pragma acc parallel loop firstprivate(k) copyout(out)
    for (i = 0; i < n; i++) {
        int t = k;
        for (j = 0; j < i; j++)
            t++;
        out[i] = t;
    }
    for (i = 0; i < n; i++)
        CHECK_EQ(out[i], 9 + i);
    k = 0;
#pragma acc parallel loop reduction(+:k) copyin(a)
    for (i = 0; i < n * m; i++)
        if (a[i] > 0)
            k++;
    for (i = 0; i < n; i++)
        k -= seen[i];
    CHECK_EQ(k, 0);
}

static void twice(int n, int m)
{
    int i, j, k;
#pragma acc parallel loop copyin(a) copy(b)
    for (i = 0; i < n; i++) {
        for (k = i * m, j = 0; j < m / 2; j++)
            b[k] = 2 * a[k] + j, k++;
        for (; j < m; j++, k++)
            b[k] = 2 * a[k] + j;
        k = m;
        while (k-- > 0)
            if (a[i * m + k] > 100)
                break;
        if (k != -1)
            b[i * m] = 0;
    }
    SAME();
}

/* A counter of the inner loop in a loop that advances one of the outer loop. */
static void several(int n, int m)
{
    int i, j, k, q, r;
#pragma acc parallel loop copyin(a) copy(b)
    for (i = 0; i < n; i++) {
        k = i * m;
        for (j = 0; j < m; j++) {
            q = i * m + j;
            q -= 2;
            b[k] = a[q + 2];
            q += 2;
            b[k++] += a[q] + j;
        }
    }
    SAME();
#pragma acc kernels copyin(a) copy(b)
    for (i = 0; i < n; i++)
        for (j = 0, k = i * m, r = -m; j < m; j++, r++, k++) {
            for (q = 0, b[k] = r + m; q < 2; q++)
                b[k] += a[k];
        }
    SAME();
}

int main(void)
{
    reset();
    several(N, M);
    subscripts(N, M);
    used_later(N, M);
    twice(N, M);
    return report();
}
