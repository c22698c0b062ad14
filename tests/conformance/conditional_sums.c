/* Sums and products under conditions, in order: the results have the bits of C, whichever threads choose the terms. */
#include "check.h"

#define BODY(T)                                                                          \
    T s = -0.0f, t = 0, u = 1, q = 64;                                                   \
    for (C j = 0; j < m; j++) {                                                          \
        T v = x[i * m + j];                                                              \
        if (v > 0) {                                                                     \
            if (v > 2) s += v / 3;                                                       \
            else s -= v;                                                                 \
            t -= v;                                                                      \
        } else {                                                                         \
            t -= v / 7;                                                                  \
            if (v < -2) u *= (T)0.99, q /= v;                                            \
        }                                                                                \
    }                                                                                    \
    o[4 * i] = s, o[4 * i + 1] = t, o[4 * i + 2] = u, o[4 * i + 3] = q;

#define SUMS(T, NAME)                                                                    \
    static void NAME##_loop(C n, C m, const T *restrict x, T *restrict o)                \
    {                                                                                    \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copyout(o[0:4*n])")                  \
        for (C i = 0; i < n; i++) {                                                      \
            BODY(T)                                                                      \
        }                                                                                \
    }                                                                                    \
    static void NAME##_kernels(C n, C m, const T *x, T *o)                               \
    {                                                                                    \
        _Pragma("acc kernels copyin(x[0:n*m]) copyout(o[0:4*n])")                        \
        for (C i = 0; i < n; i++) {                                                      \
            BODY(T)                                                                      \
        }                                                                                \
    }                                                                                    \
    static void NAME##_rows(C n, C m, const T *restrict x, T *restrict o)                \
    {                                                                                    \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copyout(o[0:n])")                    \
        for (C i = 0; i < n; i++) {                                                      \
            T most = -100, s = 1;                                                        \
            for (C j = 0; j < m; j++) most = x[i * m + j] > most ? x[i * m + j] : most;  \
            for (C j = 0; j < m; j++)                                                    \
                if (x[i * m + j] > 0) s += x[i * m + j] / most;                          \
            o[i] = s;                                                                    \
        }                                                                                \
    }                                                                                    \
    static void NAME##_check(C n, C m)                                                   \
    {                                                                                    \
        T *x = calloc(n * m + 1, sizeof *x), *a = calloc(4 * n, sizeof *a), *o = calloc(4 * n, sizeof *o); \
        for (C i = 0; i < n * m; i++) x[i] = (T)(i * 37 % 101) / 9 - 5;                  \
        for (C i = 0; i < n; i++) {                                                      \
            BODY(T)                                                                      \
        }                                                                                \
        NAME##_loop(n, m, x, a);                                                         \
        CHECK(!memcmp(a, o, 4 * n * sizeof *o));                                         \
        memset(a, 1, 4 * n * sizeof *a);                                                 \
        NAME##_kernels(n, m, x, a);                                                      \
        CHECK(!memcmp(a, o, 4 * n * sizeof *o));                                         \
        NAME##_rows(n, m, x, a);                                                         \
        for (C i = 0; i < n; i++) {                                                      \
            T most = -100, s = 1;                                                        \
            for (C j = 0; j < m; j++) most = x[i * m + j] > most ? x[i * m + j] : most;  \
            for (C j = 0; j < m; j++)                                                    \
                if (x[i * m + j] > 0) s += x[i * m + j] / most;                          \
            CHECK(a[i] == s);                                                            \
        }                                                                                \
        free(x), free(a), free(o);                                                       \
    }

typedef unsigned C;
SUMS(float, floats)
SUMS(double, doubles)

int main(void)
{
    const unsigned sizes[][2] = {{5, 3}, {70, 33}, {3, 1}, {7, 64}, {2, 257}, {1, 600}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        floats_check(sizes[i][0], sizes[i][1]);
        doubles_check(sizes[i][0], sizes[i][1]);
    }
    return report();
}
