/* Reductions of rows whose lengths are no multiples of the iterations that a lane runs side by side: those that do not
 * exist count for nothing, whatever the operator and the type. */
#include "check.h"

#define ROWS(T, NAME)                                                                            \
    static void NAME(int n, int m, const T *restrict x, const int *restrict at, T *restrict o)   \
    {                                                                                            \
        _Pragma("acc parallel loop copyin(x[0:n*m], at[0:m]) copyout(o[0:5*n])")                 \
        for (int i = 0; i < n; i++) {                                                            \
            T sum = 1, most = -100, least = 100, all = 1, chosen = 0;                            \
            _Pragma("acc loop reduction(+:sum) reduction(max:most)")                             \
            for (int j = 0; j < m; j++) {                                                        \
                sum += x[i * m + j];                                                             \
                most = most > x[i * m + j] ? most : x[i * m + j];                                \
            }                                                                                    \
            _Pragma("acc loop reduction(min:least)")                                             \
            for (int j = 0; j < m; j++) least = least < x[i * m + j] ? least : x[i * m + j];     \
            _Pragma("acc loop reduction(*:all)")                                                 \
            for (int j = 0; j < m; j++) all *= 1 + (j % 97 == 0) * x[i * m + j] / 64;            \
            _Pragma("acc loop reduction(+:chosen)")                                              \
            for (int j = 0; j < m; j++) chosen += x[i * m + at[j]];                              \
            o[5 * i] = sum, o[5 * i + 1] = most, o[5 * i + 2] = least, o[5 * i + 3] = all, o[5 * i + 4] = chosen; \
        }                                                                                        \
    }                                                                                            \
    static void NAME##_check(int n, int m)                                                       \
    {                                                                                            \
        T *x = calloc(n * m + 1, sizeof *x), *o = calloc(5 * n, sizeof *o);                      \
        int *at = calloc(m + 1, sizeof *at);                                                     \
        for (int i = 0; i < n * m; i++) x[i] = i * 37 % 23 - 11;                                 \
        for (int j = 0; j < m; j++) at[j] = (j * 7 + 3) % m;                                     \
        NAME(n, m, x, at, o);                                                                    \
        for (int i = 0; i < n; i++) {                                                            \
            T sum = 1, most = -100, least = 100, all = 1, chosen = 0;                            \
            for (int j = 0; j < m; j++) {                                                        \
                T v = x[i * m + j];                                                              \
                sum += v, chosen += x[i * m + at[j]];                                            \
                most = most > v ? most : v, least = least < v ? least : v;                       \
                all *= 1 + (j % 97 == 0) * v / 64;                                               \
            }                                                                                    \
            CHECK(o[5 * i] == sum && o[5 * i + 1] == most && o[5 * i + 2] == least);             \
            CHECK_NEAR(o[5 * i + 3], all);                                                       \
            CHECK(o[5 * i + 4] == chosen);                                                       \
        }                                                                                        \
        free(x), free(at), free(o);                                                              \
    }

ROWS(float, floats)
ROWS(double, doubles)
ROWS(int, ints)
ROWS(long long, longs)

int main(void)
{
    const int lengths[] = {1, 127, 128, 129, 300, 511, 512, 513, 640, 1000, 1025, 8200};
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        floats_check(2, lengths[k]), doubles_check(2, lengths[k]);
        ints_check(2, lengths[k]), longs_check(2, lengths[k]);
    }
    floats_check(8200, 5), doubles_check(4100, 9), ints_check(4100, 33), longs_check(4100, 17);
    return report();
}
