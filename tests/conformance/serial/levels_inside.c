/* Loops that name no level around loops that do: the inner loop keeps its level, and every iteration runs once. */
#include <stdio.h>
#define N 6
#define M 9

static int a[N][N][M];

static void show(const char *what)
{
    long sum = 0;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) {
                sum += (long)a[k][i][j] * (k * 7 + i * 3 + j);
                a[k][i][j] = 0;
            }
    printf("%s %ld\n", what, sum);
}

#define BODY a[k][i][j] += 100 * k + 10 * i + j

int main(int argc, char **argv)
{
    int n = N - 1 + argc, m = M - 1 + argc, k, i, j;

#pragma acc kernels copy(a)
    for (k = 0; k < n; k++)
        for (i = 0; i < n; i++) {
#pragma acc loop gang independent
            for (j = 0; j < m; j++)
                BODY;
        }
    show("kernels, gang inside");
#pragma acc kernels copy(a)
    {
#pragma acc loop seq
        for (k = 0; k < n; k++) {
#pragma acc loop independent
            for (i = 0; i < n; i++) {
#pragma acc loop vector independent
                for (j = 0; j < m; j++)
                    BODY;
            }
        }
    }
    show("seq, independent, vector");
#pragma acc kernels copy(a)
    {
#pragma acc loop seq
        for (k = 0; k < n; k++) {
#pragma acc loop independent
            for (i = 0; i < n; i++) {
#pragma acc loop worker independent
                for (j = 0; j < m; j++)
                    BODY;
            }
        }
    }
    show("seq, independent, worker");
#pragma acc parallel copy(a)
    {
#pragma acc loop
        for (k = 0; k < n; k++) {
#pragma acc loop gang
            for (i = 0; i < n; i++) {
#pragma acc loop vector
                for (j = 0; j < m; j++)
                    BODY;
            }
        }
    }
    show("free, gang, vector");
#pragma acc parallel loop copy(a)
    for (k = 0; k < n; k++) {
#pragma acc loop
        for (i = 0; i < n; i++) {
#pragma acc loop gang vector
            for (j = 0; j < m; j++)
                BODY;
        }
    }
    show("free, free, gang vector");
#pragma acc parallel loop copy(a)
    for (k = 0; k < n; k++) {
#pragma acc loop worker
        for (i = 0; i < n; i++) {
#pragma acc loop
            for (j = 0; j < m; j++)
                BODY;
        }
    }
    show("free, worker, free");
#pragma acc kernels copy(a)
    {
#pragma acc loop seq
        for (k = 0; k < n; k++) {
#pragma acc loop independent
            for (i = 0; i < n; i++) {
#pragma acc loop gang independent
                for (j = 0; j < m; j++)
                    BODY;
            }
        }
    }
    show("seq, independent, gang");
    return 0;
}
