/* Nests that load after they have stored to another array, called with arrays that are apart, one array under
   several names, and arrays between each other's elements; each beside the same code without directives. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

enum { N = 133, POOL = 40 * N };

static double device[POOL], host[POOL];
static int order[N];

#define TWICE(name, directive, ...)                                                             \
    static void name##_acc(int n, double *a, double *b, double *c, double *d)                   \
    {                                                                                           \
        _Pragma(directive) __VA_ARGS__                                                          \
    }                                                                                           \
    static void name##_host(int n, double *a, double *b, double *c, double *d) { __VA_ARGS__ }

TWICE(results, "acc parallel loop present(a[0:n], b[0:n], c[0:n], d[0:n])",
      for (int i = 0; i < n; i++) {
          b[i] = a[i] + 1;
          c[i] = a[i] * 2 + d[i];
          d[i] = a[i] - c[i];
      })

TWICE(stages, "acc parallel loop gang vector default(present)",
      for (int i = 0; i < n; i++) {
          a[i] += b[i] / 3;
          c[i] = a[i] * b[i] * 1e-3;
          b[i] -= c[i];
          d[i] = a[i] + b[i];
      })

TWICE(inner, "acc parallel loop present(a[0:4*n], b[0:4*n], c[0:4*n], d[0:4*n])",
      for (int i = 0; i < n; i++) for (int v = 0; v < 4; v++) {
          c[4 * i + v] = a[4 * i + v] + b[4 * i + 3 - v];
          d[4 * i + v] = c[4 * i + v] * 2 - a[4 * i];
      })

TWICE(sums, "acc parallel loop present(a[0:5*n], b[0:n], c[0:n])",
      for (int i = 0; i < n; i++) {
          b[i] = 1;
          for (int k = 0; k < 5; k++)
              b[i] += a[i + k * n] * 0.25;
          c[i] = b[i] + a[i];
          (void)d;
      })

TWICE(grid, "acc parallel loop collapse(2) present(a[0:n*7], b[0:n*7], c[0:n*7], d[0:n*7])",
      for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) {
          b[i * 7 + j] = a[i * 7 + j] * 0.5;
          c[i * 7 + j] = a[i * 7 + j] + d[i * 7 + j];
          d[i * 7 + j] = a[i * 7 + j];
      })

TWICE(between, "acc parallel loop present(a[0:2*n-1], b[0:2*n-1], c[0:2*n-1])",
      for (long i = 0; i < n; i++) {
          a[2 * i] = c[2 * i] + 3;
          b[2 * i] = c[2 * i] - 1;
          c[2 * i] = a[2 * i];
          (void)d;
      })

TWICE(conditions, "acc kernels loop independent present(a[0:n], b[0:n], c[0:n])",
      for (int i = 0; i < n; i++) {
          if (a[i] > 2)
              b[i] = a[i] * 0.5;
          c[i] = a[i] + b[i];
          (void)d;
      })

TWICE(gathered, "acc parallel loop copyin(order) present(a[0:n], b[0:n], c[0:n])",
      for (unsigned i = 0; i < (unsigned)n; i++) {
          b[order[i]] = a[order[i]] + 1;
          c[order[i]] = a[order[i]] * 2;
          (void)d;
      })

typedef void nest(int, double *, double *, double *, double *);

static void fill(double *pool)
{
    for (int i = 0; i < POOL; i++)
        pool[i] = 1 + (i * 37 % 101) * 0.0625;
}

static void check(const char *name, nest *acc, nest *plain, int n, int a, int b, int c, int d)
{
    fill(device);
    fill(host);
#pragma acc data copy(device)
    acc(n, device + a, device + b, device + c, device + d);
    plain(n, host + a, host + b, host + c, host + d);
    int wrong = 0;
    for (int i = 0; i < POOL; i++)
        wrong += !(fabs(device[i] - host[i]) <= 1e-9);
    if (wrong)
        printf("%s of %d, %d %d %d %d:\n", name, n, a / N, b / N, c / N, d / N);
    CHECK_EQ(wrong, 0);
}

#define CHECK_NEST(name, n, a, b, c, d) check(#name, name##_acc, name##_host, n, a, b, c, d)

struct fields {
    int n;
    double *u, *v, *w;
};

static void members(struct fields *f)
{
#pragma acc parallel loop present(f[0:1], f->u[0:f->n], f->v[0:f->n], f->w[0:f->n])
    for (int i = 0; i < f->n; i++) {
        f->u[i] = f->w[i] + 1;
        f->v[i] = f->w[i] * 2;
    }
}

static void check_members(int u, int v, int w)
{
    fill(device);
    struct fields f = { N, device + u, device + v, device + w };
#pragma acc data copy(device) copyin(f)
#pragma acc data copyin(f.u[0:N], f.v[0:N], f.w[0:N])
    members(&f);
    fill(host);
    for (int i = 0; i < N; i++) {
        host[u + i] = host[w + i] + 1;
        host[v + i] = host[w + i] * 2;
    }
    int wrong = 0;
    for (int i = 0; i < POOL; i++)
        wrong += !(fabs(device[i] - host[i]) <= 1e-9);
    CHECK_EQ(wrong, 0);
}

static double *left, *right, *middle;

static void globals(int n)
{
#pragma acc parallel loop present(left[0:n], right[0:n], middle[0:n]) async(1)
    for (int i = 0; i < n; i++) {
        left[i] = middle[i] + 1;
        right[i] = middle[i] * 2;
    }
#pragma acc wait(1)
}

static void check_globals(int l, int r, int m)
{
    fill(device);
    left = device + l, right = device + r, middle = device + m;
#pragma acc data copy(device)
    globals(N);
    fill(host);
    for (int i = 0; i < N; i++) {
        host[l + i] = host[m + i] + 1;
        host[r + i] = host[m + i] * 2;
    }
    int wrong = 0;
    for (int i = 0; i < POOL; i++)
        wrong += !(fabs(device[i] - host[i]) <= 1e-9);
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        order[i] = i * 50 % N;
    const int n = N;
    const int at[][4] = {
        { 0, n, 2 * n, 3 * n },  /* one after the other */
        { 9 * n, 3 * n, 6 * n, 0 },
        { 0, 0, n, 2 * n },  /* one array under two names */
        { 0, n, 0, 2 * n },
        { 0, n, 2 * n, 0 },
        { 0, n, n, 2 * n },
        { 0, n, 2 * n, n },
        { n, 0, 2 * n, 2 * n },
        { 0, 0, 0, 0 },
    };
    for (unsigned k = 0; k < sizeof at / sizeof *at; k++) {
        const int a = at[k][0], b = at[k][1], c = at[k][2], d = at[k][3];
        CHECK_NEST(results, n, a, b, c, d);
        CHECK_NEST(stages, n, a, b, c, d);
        CHECK_NEST(conditions, n, a, b, c, d);
        CHECK_NEST(gathered, n, a, b, c, d);
        CHECK_NEST(results, 1, a, b, c, d);
        CHECK_NEST(stages, 0, a, b, c, d);
        CHECK_NEST(inner, n, 4 * a, 4 * b, 4 * c, 4 * d);
        CHECK_NEST(grid, n, 7 * a % (28 * n), 7 * b % (28 * n), 7 * c % (28 * n), 7 * d % (28 * n));
        check_members(b, c, a);
        check_globals(b, c, a);
    }
    /* The array of a sum is one of those that it adds. */
    for (int k = 0; k < 6; k++) {
        CHECK_NEST(sums, n, 0, k * n, 6 * n, 0);
        CHECK_NEST(sums, n, 0, 6 * n, k * n, 0);
    }
    /* Elements of one array between those of another. */
    CHECK_NEST(between, n, 0, 1, 4 * n, 0);
    CHECK_NEST(between, n, 0, 4 * n, 1, 0);
    CHECK_NEST(between, n, 4 * n, 1, 0, 0);
    CHECK_NEST(between, n, 1, 0, 1, 0);
    return report();
}
