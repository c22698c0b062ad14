/* Pointers and counters that loops move by equal steps, up and down, through nests, with values wanted after. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 7
#define M 9

struct pair { int x, y; };
static double a[N * M], b[N * M], want[N * M];
static struct pair pairs[N];

static void walk_nest(int n, int m, double *restrict to, const double *restrict from)
{
#pragma acc kernels copy(to[0:N*M]) copyin(from[0:N*M])
    {
        double *p = to;
        const double *q = from;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                *p++ = 2 * *q++ + i;
    }
}

static void triangle(int n, double *restrict to)
{
#pragma acc kernels copy(to[0:N*M])
    {
        double *p = to;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++)
                *p++ = 10 * i + j;
        }
    }
}

static void backwards(int n, double *restrict to, int step)
{
#pragma acc kernels copy(to[0:N*M])
    {
        double *p = to + n - 1;
        int k = 3;
        unsigned u = 4;
        long wide = -5;
        for (int i = 2; i < n + 2; i++) {
            *p-- = k + 1000.0 * u + wide;
            k += 3;
            u -= 2;
            wide += step;
        }
        to[n] = p - to + k + wide;
    }
}

static void none_runs(int n, int m, double *restrict to)
{
#pragma acc kernels copy(to[0:N*M])
    {
        double *p = to;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++)
                *p++ = 1;
            *p = 5;
        }
        *p += 3;
    }
}

static void in_steps(int n, double *restrict to)
{
#pragma acc kernels copy(to[0:N*M])
    {
        double *p = to;
        int k = 1;
        for (int i = 1; i < n; i += 2) {
            p[0] = i;
            p[1] = k;
            p += 2;
            k += 3;
        }
    }
}

static void members(int n)
{
#pragma acc kernels copy(pairs)
    {
        struct pair *p = pairs;
        for (int i = 0; i < n; i++, p++) {
            p->x = i;
            p->y = -i;
        }
    }
}

static void rows(int n, int m, double to[n][m])
{
#pragma acc parallel loop copy(to[0:n][0:m])
    for (int i = 0; i < n; i++) {
        double *p = to[i];
        int weight = 1;
        double sum = 0;
        for (int j = 0; j < m; j++) {
            sum += weight * *p;
            *p++ = sum;
            weight += i;
        }
        to[i][0] = p - to[i] + weight;
    }
}

static void show(const char *name)
{
    double sum = 0;
    for (int i = 0; i < N * M; i++)
        sum += (i + 1) * a[i];
    printf("%s %g %g %g\n", name, sum, a[0], a[N * M - 1]);
    for (int i = 0; i < N * M; i++)
        a[i] = i % 5;
}

int main(void)
{
    for (int i = 0; i < N * M; i++)
        b[i] = i % 7;
    show("start");
    walk_nest(N, M, a, b), show("nest");
    walk_nest(N, 0, a, b), show("nothing");
    walk_nest(N, -3, a, b), show("negative");
    triangle(N, a), show("triangle");
    backwards(N, a, 11), show("backwards");
    none_runs(3, 0, a), show("no columns");
    none_runs(3, -2, a), show("fewer");
    none_runs(3, 4, a), show("some");
    in_steps(N, a), show("steps");
    members(N);
    printf("members %d %d\n", pairs[3].x, pairs[N - 1].y);
    rows(N, M, (double(*)[M])a), show("rows");
    return 0;
}
