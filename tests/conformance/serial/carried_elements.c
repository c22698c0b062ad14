/* Loops under `loop` whose iterations need each other through elements: they run in order, with a warning. */
#include <stdio.h>

#define N 12

static int a[N][N], flat[N * N], p[N], w[N], out[N][N], t[N][N];
static struct { int first, values[3]; } s;

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        p[i] = 1 + i % 3;
        for (int j = 0; j < N; j++)
            a[i][j] = flat[i * N + j] = (i * 5 + j * 3) % 7 - 2;
    }
}

static void show(const char *what)
{
    long sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = (sum * 31 + a[i][j] + 3 * flat[i * N + j] + 7 * out[i][j] + 11 * t[i][j] + p[i] + w[j])
                  % 100003;
    printf("%s %ld\n", what, sum);
    fill();
}

/* Columns below the diagonal are made of rows above it. */
static void triangle(int n)
{
    int i, j, k, x;
#pragma acc data copy(a, p)
#pragma acc parallel
    {
#pragma acc loop
        for (i = 0; i < n; i++) {
            x = a[i][i];
#pragma acc loop
            for (j = 0; j <= i - 1; j++)
                x = x - a[i][j] % 10;
            p[i] = x % 5;
            for (j = i + 1; j < n; j++) {
                x = a[i][j];
#pragma acc loop
                for (k = 0; k <= i - 1; k++)
                    x = x - a[j][k] * a[i][k] % 10;
                a[j][i] = (x + p[i]) % 50;
            }
        }
    }
}

static void flat_triangle(int n)
{
#pragma acc parallel loop copy(flat, p)
    for (int i = 0; i < n; i++) {
        int x = flat[i * n + i];
        for (int j = 0; j < i; j++)
            x -= flat[i * n + j] % 10;
        p[i] = x;
        for (int j = i + 1; j < n; j++)
            flat[j * n + i] = (flat[i * n + j] + x) % 50;
    }
}

static void backward(int n)
{
#pragma acc parallel loop copyin(a) copy(p)
    for (int i = n - 1; i >= 0; i--) {
        int sum = p[i];
        for (int j = i + 1; j < n; j++)
            sum -= a[i][j] * p[j];
        p[i] = sum % 50;
    }
}

/* What is kept in elements that do not depend on the loop. */
static void kept(int n, int *r)
{
#pragma acc parallel copyin(a) copy(t, out)
#pragma acc loop
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < n; j++) {
            t[i][0] = a[i][j] * 2;
            out[i][j] = t[i][0] + 1;
        }
    show("element");
#pragma acc parallel loop copyin(a) copy(w, out)
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            w[k] = a[i][k] + i;
        for (int k = 0; k < n; k++)
            out[i][k] = w[n - 1 - k];
    }
    show("row");
#pragma acc parallel loop copyin(a) copy(s, p)
    for (int i = 0; i < n; i++) {
        s.first = a[i][1];
        s.values[2] = s.first + a[i][2];
        p[i] = s.values[2] - s.first;
    }
    printf("%d %d\n", s.first, s.values[2]);
    show("members");
#pragma acc parallel loop copyin(a) copy(r[0:1], p)
    for (int i = 0; i < n; i++) {
        *r = a[i][3];
        p[i] = *r * *r;
    }
    show("pointer");
#pragma acc parallel loop copyin(a) copy(w)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[j] = a[i][j] - i;
    show("last");
}

int main(void)
{
    int r = 0;
    fill();
    triangle(N);
    show("triangle");
    flat_triangle(N);
    show("flat");
    backward(N);
    show("backward");
    kept(N, &r);
    printf("%d\n", r);
    return 0;
}
