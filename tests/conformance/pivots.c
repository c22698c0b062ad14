/* Loops that all read the row and the column of one of their iterations, which updates them as well. */
#include "check.h"

#define N 21

static int seed;

static int next(void)
{
    seed = (seed * 7919 + 104729) & 0xffff;
    return seed % 100;
}

/* Values below zero change the pivot's row and column while they are read. */
static void shortest(int n, int *d, int *from)
{
#pragma acc kernels copy(d[0:n*n], from[0:n*n])
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j]) {
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
                    from[i * n + j] = from[k * n + j];
                }
}

/* A thread would take each row. */
static void rows(int n, double **r)
{
    int i, j, k;
#pragma acc data copy(r[0:n][0:n])
    for (k = 0; k < n; k++) {
#pragma acc parallel loop private(j) present(r[0:n][0:n])
        for (i = 0; i < n; i++)
            if (i != k)
                for (j = 0; j < n; j++)
                    r[i][j] = r[i][j] * .5 + r[i][k] * r[k][j] * .01;
    }
}

int main(void)
{
    for (int n = 1; n <= N; n += n < 2 ? 1 : 19) {
        int *d = malloc(n * n * sizeof *d), *from = malloc(n * n * sizeof *from);
        int *e = malloc(n * n * sizeof *d), *home = malloc(n * n * sizeof *from);
        double *v = malloc(n * n * sizeof *v), **r = malloc(n * sizeof *r), *w = malloc(n * n * sizeof *w);
        for (int i = 0; i < n * n; i++) {
            d[i] = e[i] = next() - (n < 3 ? 50 : 2);
            from[i] = home[i] = i;
            v[i] = w[i] = next();
            r[i / n] = v + i / n * n;
        }
        shortest(n, d, from);
        rows(n, r);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    int through = (int)((unsigned)e[i * n + k] + (unsigned)e[k * n + j]);
                    if (through < e[i * n + j])
                        e[i * n + j] = through, home[i * n + j] = home[k * n + j];
                    if (i != k)
                        w[i * n + j] = w[i * n + j] * .5 + w[i * n + k] * w[k * n + j] * .01;
                }
        for (int i = 0; i < n * n; i++) {
            CHECK_EQ(d[i], e[i]);
            CHECK_EQ(from[i], home[i]);
            CHECK_NEAR(v[i], w[i]);
        }
    }
    return report();
}
