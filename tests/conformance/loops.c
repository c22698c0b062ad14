/* loop: collapse, tile, seq, auto, independent, levels, private, every way a C loop can count. */
#include "check.h"

#define N 120

static void counting(void)
{
    int a[N], b[N], i, j, n = N;
    unsigned u;
    long l;
    short s;
    unsigned char c;
    size_t z;
    char *p, text[N];
    float *q, values[N];

    memset(a, 0, sizeof a);
#pragma acc parallel loop copy(a)
    for (i = n - 1; i >= 0; i--)
        a[i] = i;
#pragma acc parallel loop copy(a)
    for (i = 0; i != n; ++i)
        a[i] += 1;
#pragma acc parallel loop copy(a)
    for (u = 5; u <= 10u; u += 2)
        a[u] = 1000 + u;
#pragma acc parallel loop copy(a)
    for (l = 100; l > 50; l -= 7)
        a[l] = -(int)l;
#pragma acc parallel loop copy(a)
    for (s = 0; s < 3; s++)
        a[s] = s * 7;
#pragma acc parallel loop copy(a)
    for (c = 200; c < 210; c = c + 5)
        a[c - 180] = c;
#pragma acc parallel loop copy(a)
    for (z = N - 1; z >= N - 3; z--)
        a[z] = 5;
    for (j = 0; j < N; j++) {
        int want = j + 1;
        if (j == 5 || j == 7 || j == 9)
            want = 1000 + j;
        if (j > 50 && j <= 100 && (100 - j) % 7 == 0)
            want = -j;
        if (j < 3)
            want = j * 7;
        if (j == 20 || j == 25)
            want = j + 180;
        if (j >= N - 3)
            want = 5;
        CHECK_EQ(a[j], want);
    }
#pragma acc parallel loop copyout(text)
    for (p = text; p < text + N; p++)
        *p = (char)(p - text);
    CHECK_EQ(text[77], 77);
#pragma acc parallel loop copyout(values)
    for (q = values + N - 1; q >= values; q -= 1)
        *q = 2.5f;
    CHECK_NEAR(values[0], 2.5);
    /* no iteration */
#pragma acc parallel loop copy(a)
    for (i = 10; i < 5; i++)
        a[0] = -99;
    CHECK_EQ(a[0], 0);
#pragma acc parallel loop copy(b)
    for (i = -5; i < 5; i++)
        b[i + 5] = i;
    CHECK_EQ(b[0], -5);
}

static void shapes(void)
{
    static int m[12][13][14];
    int i, j, k, total;

    memset(m, 0, sizeof m);
#pragma acc parallel loop collapse(3) copy(m)
    for (i = 0; i < 12; i++)
        for (j = 1; j < 13; j += 2)
            for (k = 13; k >= 0; k--)
                m[i][j][k]++;
#pragma acc parallel loop collapse(2) copy(m)
    for (i = 0; i < 12; i++)
        for (j = 0; j < 13; j++) {
            int t = i * j;
            for (k = 0; k < 14; k++)
                m[i][j][k] += t;
        }
#pragma acc parallel loop tile(4, 5) copy(m)
    for (i = 0; i < 12; i++)
        for (j = 0; j < 13; j++)
            m[i][j][0] += 100;
#pragma acc parallel loop gang worker tile(2, 2, *) copy(m)
    for (i = 0; i < 12; i++)
        for (j = 0; j < 13; j++)
            for (k = 0; k < 14; k++)
                m[i][j][k] += 1000;
#pragma acc parallel loop collapse(force: 2) copy(m)
    for (i = 0; i < 12; i++) {
        int twice = 2 * i;
        for (j = 0; j < 13; j++)
            m[i][j][1] += twice;
    }
    for (i = 0; i < 12; i++)
        for (j = 0; j < 13; j++)
            for (k = 0; k < 14; k++) {
                total = j % 2 + i * j + (k == 0) * 100 + 1000 + (k == 1) * 2 * i;
                CHECK_EQ(m[i][j][k], total);
            }
}

static void levels(void)
{
    static int m[6][20][40];
    int i, j, k, sum[6];

#pragma acc parallel copyout(m) num_gangs(4) num_workers(4) vector_length(32)
    {
#pragma acc loop gang
        for (i = 0; i < 6; i++) {
#pragma acc loop worker
            for (j = 0; j < 20; j++) {
#pragma acc loop vector
                for (k = 0; k < 40; k++)
                    m[i][j][k] = i + j + k;
            }
        }
    }
#pragma acc parallel loop gang(static: 2) copy(m)
    for (i = 0; i < 6; i++)
#pragma acc loop worker vector collapse(2)
        for (j = 0; j < 20; j++)
            for (k = 0; k < 40; k++)
                m[i][j][k] *= 2;
#pragma acc parallel loop gang(static: *) worker copy(m)
    for (i = 0; i < 6; i++)
#pragma acc loop seq
        for (j = 0; j < 20; j++)
#pragma acc loop vector
            for (k = 0; k < 40; k++)
                m[i][j][k] += 1;
#pragma acc parallel loop gang worker vector copyout(sum) copyin(m)
    for (i = 0; i < 6; i++) {
        sum[i] = 0;
#pragma acc loop seq
        for (j = 0; j < 20; j++)
#pragma acc loop seq
            for (k = 0; k < 40; k++)
                sum[i] += m[i][j][k];
    }
    for (i = 0; i < 6; i++)
        CHECK_EQ(sum[i], 2 * (800 * i + 190 * 40 + 780 * 20) + 800);
#pragma acc parallel num_gangs(2, 3) copy(m)
    {
#pragma acc loop gang(dim: 2)
        for (i = 0; i < 6; i++) {
#pragma acc loop gang(dim: 1)
            for (j = 0; j < 20; j++)
#pragma acc loop vector
                for (k = 0; k < 40; k++)
                    m[i][j][k]++;
        }
    }
    for (i = 0; i < 6; i++)
        for (j = 0; j < 20; j++)
            for (k = 0; k < 40; k++)
                CHECK_EQ(m[i][j][k], 2 * (i + j + k) + 2);
}

static void private_variables(void)
{
    int i, j, k, t, out[N], row[8], hist[N][4];
    double x;
    struct point { int x, y; } pt;

    t = 42;
#pragma acc parallel loop private(t, x) copyout(out)
    for (i = 0; i < N; i++) {
        t = i;
        x = t * 0.5;
        t = t + (int)x;
        out[i] = t;
    }
    CHECK_EQ(t, 42);
    for (i = 0; i < N; i++)
        CHECK_EQ(out[i], i + i / 2);
#pragma acc parallel loop gang private(row) copyout(out)
    for (i = 0; i < N; i++) {
#pragma acc loop vector
        for (j = 0; j < 8; j++)
            row[j] = i * j;
        t = 0;
        out[i] = 0;
#pragma acc loop seq
        for (j = 0; j < 8; j++)
            out[i] += row[j];
    }
    for (i = 0; i < N; i++)
        CHECK_EQ(out[i], 28 * i);
#pragma acc parallel loop private(row[0:4], pt, k) copyout(hist)
    for (i = 0; i < N; i++) {
        for (k = 0; k < 4; k++)
            row[k] = i + k;
        pt.x = row[0];
        pt.y = row[3];
        for (k = 0; k < 4; k++)
            hist[i][k] = row[k] * pt.y - pt.x;
    }
    for (i = 0; i < N; i++)
        for (k = 0; k < 4; k++)
            CHECK_EQ(hist[i][k], (i + k) * (i + 3) - i);
    {
        int n = 5;
        double work[n];
#pragma acc parallel loop private(work) copyout(out)
        for (i = 0; i < N; i++) {
            for (k = 0; k < n; k++)
                work[k] = i * k;
            out[i] = (int)(work[n - 1] + work[1]);
        }
        for (i = 0; i < N; i++)
            CHECK_EQ(out[i], 5 * i);
    }
}

static void orders(void)
{
    int a[N], b[N], i, j, tri[30][30];

    for (i = 0; i < N; i++)
        a[i] = i, b[i] = 0;
#pragma acc parallel loop auto copy(a)
    for (i = 1; i < N; i++)
        a[i] = a[i] + a[i - 1];
    CHECK_EQ(a[N - 1], N * (N - 1) / 2);
#pragma acc parallel loop seq copy(b)
    for (i = 1; i < N; i++)
        b[i] = b[i - 1] + 2;
    CHECK_EQ(b[N - 1], 2 * (N - 1));
#pragma acc parallel loop independent copy(b)
    for (i = 0; i < N; i++)
        b[i]++;
    CHECK_EQ(b[N - 1], 2 * (N - 1) + 1);
    memset(tri, 0, sizeof tri);
#pragma acc parallel loop copy(tri)
    for (i = 0; i < 30; i++)
#pragma acc loop
        for (j = 0; j <= i; j++)
            tri[i][j] = i - j;
#pragma acc parallel loop gang copy(tri)
    for (i = 0; i < 30; i++)
#pragma acc loop vector
        for (j = i + 1; j < 30; j++)
            tri[i][j] = -1;
    for (i = 0; i < 30; i++)
        for (j = 0; j < 30; j++)
            CHECK_EQ(tri[i][j], j <= i ? i - j : -1);
}

int main(void)
{
    counting();
    shapes();
    levels();
    private_variables();
    orders();
    return report();
}
