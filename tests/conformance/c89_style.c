/* Variables declared at the function's top and used only inside a construct, as C89 programs do. */
#include "check.h"

#define N 300
#define M 40

static double a[N][M], b[N][M], x[N], y[N];
static int counts[N];

int main(void)
{
    int i, j, k, t, sum, best;
    double d, mean, scale = 0.5, row[4];

    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            a[i][j] = (i * 7 + j * 3) % 19;

    /* inner counters and temporaries without a private clause */
#pragma acc parallel loop copyin(a) copyout(b)
    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++) {
            d = a[i][j] * scale;
            b[i][j] = d * d;
        }
    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            CHECK_NEAR(b[i][j], 0.25 * a[i][j] * a[i][j]);

#pragma acc parallel loop copyout(x)
    for (i = 0; i < N; i++) {
        mean = 0;
        for (j = 0; j < M; j++)
            mean += a[i][j];
        mean /= M;
        x[i] = 0;
        for (k = 0; k < M; k++) {
            d = a[i][k] - mean;
            x[i] += d * d;
        }
    }
    for (i = 0; i < N; i++) {
        double m = 0, v = 0;
        for (j = 0; j < M; j++)
            m += a[i][j] / M;
        for (j = 0; j < M; j++)
            v += (a[i][j] - m) * (a[i][j] - m);
        CHECK_NEAR(x[i], v);
    }

    /* the same, in kernels */
#pragma acc kernels
    {
        for (i = 0; i < N; i++) {
            t = i * 3;
            if (t % 2)
                t = t + 1;
            counts[i] = t;
        }
        for (i = 0; i < N; i++) {
            d = 0;
            for (j = 0; j < M; j++)
                d += a[i][j];
            y[i] = d;
        }
    }
    for (i = 0; i < N; i++) {
        double want = 0;
        for (j = 0; j < M; j++)
            want += a[i][j];
        CHECK_NEAR(y[i], want);
        CHECK_EQ(counts[i], i * 3 + (i % 2));
    }

    /* nested directives, the inner sum in a variable of the function */
#pragma acc parallel loop gang private(sum, best) copyout(counts)
    for (i = 0; i < N; i++) {
        sum = 0;
        best = -1;
#pragma acc loop vector reduction(+:sum) reduction(max:best)
        for (j = 0; j < M; j++) {
            sum += (int)a[i][j];
            best = (int)a[i][j] > best ? (int)a[i][j] : best;
        }
        counts[i] = sum * 100 + best;
    }
    for (i = 0; i < N; i++) {
        int s = 0, m = -1;
        for (j = 0; j < M; j++) {
            s += (int)a[i][j];
            m = (int)a[i][j] > m ? (int)a[i][j] : m;
        }
        CHECK_EQ(counts[i], s * 100 + m);
    }

    /* a small array of the function as scratch memory of every iteration */
#pragma acc parallel loop private(row) copyout(y)
    for (i = 0; i < N; i++) {
        for (k = 0; k < 4; k++)
            row[k] = a[i][k] + k;
        y[i] = row[0] * row[1] - row[2] * row[3];
    }
    for (i = 0; i < N; i++)
        CHECK_NEAR(y[i], a[i][0] * (a[i][1] + 1) - (a[i][2] + 2) * (a[i][3] + 3));

    /* while loops on a temporary of the function */
#pragma acc parallel loop copyout(counts)
    for (i = 0; i < N; i++) {
        t = i + 1;
        k = 0;
        while (t > 1) {
            t = t / 2;
            k++;
        }
        counts[i] = k;
    }
    for (i = 0, k = 0; i < N; i++) {
        if (i + 1 >= 2 << k)
            k++;
        CHECK_EQ(counts[i], k);
    }
    return report();
}
