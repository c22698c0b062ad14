/*
 * Products, and triangles of them, beside statements of the outer loop, in arrays that might overlap: each nest
 * computes the bits of the same nest on the host. Prints how many differ.
 */
#include <stdio.h>
#include <string.h>
enum { M = 37, T = 34 };
static double d[T * M], a[M * T], c[M * M], v[M], want_c[M * M], want_v[M], want_d[T * M];

#define SUM(x, y) for (int k = 0; k < t; k++) { s += (x) * (y); }
#define NEST(name, directive, inner, before, low, high, body, after)                                           \
    static void name(int m, int t, const double *a, const double *d, double *c, double *v)                     \
    {                                                                                                          \
        _Pragma(directive) for (int i = 0; i < m; i++)                                                         \
        {                                                                                                      \
            before;                                                                                            \
            _Pragma(inner) for (int j = low; j < high; j++)                                                    \
            {                                                                                                  \
                body;                                                                                          \
            }                                                                                                  \
            after;                                                                                             \
        }                                                                                                      \
    }
#define BOTH(name, inner, ...)                                                                                 \
    NEST(name, "acc parallel loop default(present)", inner, __VA_ARGS__)                                       \
    NEST(name##_host, "GCC ivdep", "GCC ivdep", __VA_ARGS__)

#define IN_MEMORY                                                                                              \
    c[i * m + j] = 0;                                                                                          \
    for (int k = 0; k < t; k++)                                                                                \
        c[i * m + j] += d[k * m + i] * d[k * m + j];                                                           \
    c[j * m + i] = c[i * m + j]
#define IN_SCALAR                                                                                              \
    double s = 0;                                                                                              \
    SUM(a[i * t + k], d[k * m + j]) c[i * m + j] = s
#define LOOP "acc loop"
BOTH(correlation, LOOP, c[i * m + i] = 1, i + 1, m, IN_MEMORY, )
BOTH(outermost, "GCC ivdep", c[i * m + i] = 1, i + 1, m, IN_MEMORY, )
BOTH(covariance, LOOP, , i, m, IN_MEMORY; c[i * m + j] /= t - 1; c[j * m + i] = c[i * m + j], v[i] += 2)
BOTH(lower, LOOP, v[i] *= 2, 0, i, IN_MEMORY, c[i * m + i] = v[i])
BOTH(two_arrays, LOOP, v[i] *= 2, 0, i + 1, for (int k = 0; k < t; k++) c[i * m + j] += a[i * t + k] * d[k * m + j], )
BOTH(rectangle, LOOP, double w = v[i]; if (i % 3) v[i] = 3 - w, 0, m, IN_SCALAR, )
BOTH(reads, LOOP, double w = a[i * t]; v[i] = w, 0, m, double s = w; SUM(a[i * t + k], d[k * m + j]) c[i * m + j] = s, )
BOTH(changed, LOOP, double w = v[i]; v[i] = i, 0, m, double s = w; SUM(a[i * t + k], d[k * m + j]) c[i * m + j] = s, )
BOTH(last, LOOP, double w[2]; w[0] = i; w[1] = v[i] + 2, 0, m, IN_SCALAR + w[1], v[i] = c[i * m + i] + w[0])

typedef void nest(int, int, const double *, const double *, double *, double *);
static int differs(nest *tested, nest *host, int m, int t, int alias)
{
    for (int i = 0; i < T * M; i++) {
        d[i] = (i * 7 + i / M) % 11 - 3;
        a[i] = (i * 5 + i / T) % 13 - 4;
    }
    for (int i = 0; i < M * M; i++)
        c[i] = i % 5;
    for (int i = 0; i < M; i++)
        v[i] = i + 1;
    memcpy(want_c, c, sizeof c);
    memcpy(want_v, v, sizeof v);
    memcpy(want_d, d, sizeof d);
    host(m, t, a, alias ? want_d : d, alias ? want_d : want_c, want_v);
#pragma acc data copyin(a) copy(d, c, v)
    {
        tested(m, t, a, d, alias ? d : c, v);
    }
    return memcmp(c, want_c, sizeof c) || memcmp(v, want_v, sizeof v) || (alias && memcmp(d, want_d, sizeof d));
}

int main(void)
{
    int wrong = 0;
#define CHECK(name) wrong += differs(name, name##_host, M, T, 0) + differs(name, name##_host, 3, 33, 0)
    CHECK(correlation);
    CHECK(outermost);
    CHECK(covariance);
    CHECK(lower);
    CHECK(two_arrays);
    CHECK(rectangle);
    CHECK(reads);
    CHECK(changed);
    CHECK(last);
    /* One row: the only element may be one that it reads. */
    wrong += differs(covariance, covariance_host, 1, 33, 1);
    printf("%d wrong\n", wrong);
    return 0;
}
