/* Accesses at constant distances in one iteration, some of which reach an element that another has stored: in
   arrays that are apart, and in one array under several names. Each beside the same code without directives. */
#include "check.h"

enum { N = 251, POOL = 12 * N };

static double device[POOL], host[POOL];
static float little[3 * N], reference[3 * N];

#define TWICE(name, directive, ...)                                                             \
    static void name##_acc(int n, int s, double *a, double *b, double *c)                       \
    {                                                                                           \
        _Pragma(directive) __VA_ARGS__                                                          \
    }                                                                                           \
    static void name##_host(int n, int s, double *a, double *b, double *c) { __VA_ARGS__ }

TWICE(crossed, "acc parallel loop present(a[0:2*n], b[0:2*n])",
      for (int i = 0; i < n; i++) {
          a[2 * i + s] = b[2 * i] + b[2 * i + 1];
          b[2 * i] = a[2 * i + 1 - s] + a[2 * i + s];
          b[2 * i + 1] = a[2 * i] - a[2 * i + 1];
          (void)c;
      })

TWICE(pairs, "acc parallel loop present(a[0:2*n], b[0:2*n])",
      for (int i = 0; i < n; i++) {
          a[2 * i] = b[2 * i + s] + 1;
          a[2 * i + 1] = b[2 * i + 1 - s] * 3 + b[2 * i + s];
          (void)c;
      })

TWICE(behind, "acc parallel loop present(a[0:2*n], b[0:2*n], c[0:2*n])",
      for (int i = 0; i < n; i++) {
          double t = a[2 * i + 1];
          a[2 * i] = t * 2;
          b[2 * i] = 5;
          c[2 * i] = a[2 * i] + t + s;
      })

TWICE(late, "acc parallel loop present(a[0:2*n], b[0:2*n], c[0:2*n])",
      for (int i = 0; i < n; i++) {
          a[2 * i] = c[2 * i];
          b[2 * i] = 5;
          a[2 * i] += 3 + s;
          b[2 * i + 1] = a[2 * i];
          a[2 * i + 1] = c[2 * i + 1] + a[2 * i];
      })

TWICE(chosen, "acc parallel loop present(a[0:4*n], b[0:4*n])",
      for (int i = 0; i < n; i++) {
          double t = a[4 * i] + a[4 * i + 2];
          a[4 * i + s] = 2 * t;
          b[4 * i] = a[4 * i + 1] + a[4 * i + 3];
          b[4 * i + 1] = a[4 * i];
          (void)c;
      })

TWICE(chain, "acc parallel loop present(a[0:4*n], b[0:4*n])",
      for (int i = 0; i < n; i++) {
          for (int k = 1; k < 4; k++)
              a[4 * i + k] += a[4 * i + k - 1] * 0.5;
          b[4 * i] = a[4 * i + 3] + s;
          (void)c;
      })

TWICE(turned, "acc parallel loop gang present(a[0:3*n], b[0:3*n])",
      for (int i = 0; i < n; i++) {
          for (int k = 0; k < 3; k++)
              a[3 * i + k] = b[3 * i + 2 - k] * 2 + s;
          (void)c;
      })

/* A loop of several blocks of lanes around a sequential one. */
TWICE(lanes, "acc parallel loop gang vector present(a[0:4*n], b[0:4*n], c[0:4*n])",
      for (int i = 0; i < n; i++) {
          for (int k = 0; k < n; k++) {
              a[2 * i] += c[2 * i + 1] * 1e-3;
              b[2 * i] = a[2 * i];
              a[2 * i + 1] = a[2 * i] + b[2 * i + s];
          }
      })

struct number {
    double re, im;
};

static void squares(int n, struct number *x, const struct number *y)
{
#pragma acc parallel loop present(x[0:n], y[0:n])
    for (int i = 0; i < n; i++) {
        x[i].re = y[i].re * y[i].re - y[i].im * y[i].im;
        x[i].im = 2 * y[i].re * y[i].im;
    }
}

static void reversed(int n, float *a, const float *b)
{
#pragma acc parallel loop present(a[0:3*n], b[0:3*n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            a[3 * i + k] = b[3 * i + 2 - k] * 2;
}

static void fill(double *pool)
{
    for (int i = 0; i < POOL; i++)
        pool[i] = 1 + (i * 37 % 101) * 0.0625;
}

static int differences(void)
{
    int wrong = 0;
    for (int i = 0; i < POOL; i++)
        wrong += !(fabs(device[i] - host[i]) <= 1e-9 * fabs(host[i]));
    return wrong;
}

typedef void nest(int, int, double *, double *, double *);

static void check(const char *name, nest *acc, nest *plain, int choices)
{
    static const int at[][3] = { { 0, 4, 8 }, { 8, 0, 4 }, { 0, 0, 4 }, { 0, 4, 0 }, { 4, 0, 0 }, { 0, 0, 0 } };
    for (unsigned k = 0; k < sizeof at / sizeof *at; k++)
        for (int s = 0; s < choices; s++) {
            const int a = at[k][0] * N, b = at[k][1] * N, c = at[k][2] * N;
            fill(device);
            fill(host);
#pragma acc data copy(device)
            acc(N, s, device + a, device + b, device + c);
            plain(N, s, host + a, host + b, host + c);
            const int wrong = differences();
            if (wrong)
                printf("%s %d, %d %d %d: ", name, s, a / N, b / N, c / N);
            CHECK_EQ(wrong, 0);
        }
}

#define CHECK_NEST(name, choices) check(#name, name##_acc, name##_host, choices)

int main(void)
{
    CHECK_NEST(crossed, 2);
    CHECK_NEST(pairs, 2);
    CHECK_NEST(behind, 1);
    CHECK_NEST(late, 1);
    CHECK_NEST(chosen, 4);
    CHECK_NEST(chain, 1);
    CHECK_NEST(turned, 1);
    CHECK_NEST(lanes, 2);
    for (int from = 0; from <= 2 * N; from += 2 * N) {
        fill(device);
        fill(host);
#pragma acc data copy(device)
        squares(N, (struct number *)device, (struct number *)(device + from));
        struct number *x = (struct number *)host, *y = (struct number *)(host + from);
        for (int i = 0; i < N; i++) {
            x[i].re = y[i].re * y[i].re - y[i].im * y[i].im;
            x[i].im = 2 * y[i].re * y[i].im;
        }
        CHECK_EQ(differences(), 0);
    }
    for (int i = 0; i < 3 * N; i++)
        little[i] = reference[i] = (float)(i % 17);
#pragma acc data copy(little)
    reversed(N, little, little);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            reference[3 * i + k] = reference[3 * i + 2 - k] * 2;
    for (int i = 0; i < 3 * N; i++)
        CHECK_NEAR(little[i], reference[i]);
    return report();
}
