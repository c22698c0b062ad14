/* Places of the greatest and least values of 32 bits: zeros of both signs, NaNs, the extreme integers, the first and the last
 * of equal values, counters of several types, in rows and in whole arrays. */
#include "check.h"
#include <float.h>
#include <limits.h>

#define SEARCH(NAME, T, C, START, TEST)                                                  \
    static void NAME##_rows(C n, C m, const T *restrict x, int *restrict at, T *restrict best)  \
    {                                                                                    \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copyout(at[0:n], best[0:n])")        \
        for (C r = 0; r < n; r++) {                                                      \
            T b = START;                                                                 \
            int place = -1;                                                              \
            for (C c = 0; c < m; c++)                                                    \
                if (x[r * m + c] TEST b) {                                               \
                    b = x[r * m + c];                                                    \
                    place = c;                                                           \
                }                                                                        \
            at[r] = place, best[r] = b;                                                  \
        }                                                                                \
    }                                                                                    \
    static void NAME##_all(C n, const T *x, int *at, T *best)                            \
    {                                                                                    \
        T b = START;                                                                     \
        int place = -1;                                                                  \
        _Pragma("acc kernels copyin(x[0:n])")                                            \
        for (C c = 0; c < n; c++)                                                        \
            if (x[c] TEST b) {                                                           \
                b = x[c];                                                                \
                place = c;                                                               \
            }                                                                            \
        *at = place, *best = b;                                                          \
    }                                                                                    \
    static void NAME##_check(C n, C m, const T *x)                                       \
    {                                                                                    \
        int *at = calloc(n + 1, sizeof *at);                                             \
        T *best = calloc(n + 1, sizeof *best);                                           \
        NAME##_rows(n, m, x, at, best);                                                  \
        for (C r = 0; r < n; r++) {                                                      \
            T b = START;                                                                 \
            int place = -1;                                                              \
            for (C c = 0; c < m; c++)                                                    \
                if (x[r * m + c] TEST b) b = x[r * m + c], place = c;                    \
            CHECK(at[r] == place && !memcmp(&best[r], &b, sizeof b));                    \
            NAME##_all(m, x + r * m, at + n, best + n);                                  \
            CHECK(at[n] == place && !memcmp(&best[n], &b, sizeof b));                    \
        }                                                                                \
        free(at), free(best);                                                            \
    }

SEARCH(greatest, float, int, -FLT_MAX, >)
SEARCH(greatest_last, float, unsigned, -INFINITY, >=)
SEARCH(least, float, long, INFINITY, <)
SEARCH(least_last, float, int, 0.0f, <=)
SEARCH(int_greatest, int, int, INT_MIN, >)
SEARCH(int_last, int, unsigned, INT_MIN, >=)
SEARCH(int_least, int, int, INT_MAX, <)
SEARCH(unsigned_greatest, unsigned, int, 0, >)
SEARCH(unsigned_least, unsigned, unsigned, UINT_MAX, <=)

int main(void)
{
    const float special[] = {0.0f, -0.0f, NAN, 1, -1, INFINITY, -INFINITY, 1e-40f, -1e-40f, FLT_MAX, -FLT_MAX, 0.0f};
    const int extreme[] = {INT_MIN, INT_MAX, 0, -1, 1, INT_MIN, 7, INT_MAX, -7, 0};
    const int sizes[][2] = {{6, 3}, {3, 40}, {2, 333}, {1, 1100}};
    for (int k = 0; k < 4; k++) {
        int n = sizes[k][0], m = sizes[k][1];
        float *x = calloc(n * m, sizeof *x);
        int *i = calloc(n * m, sizeof *i);
        for (int kind = 0; kind < 4; kind++) {
            for (int e = 0; e < n * m; e++) {
                x[e] = kind == 0 ? special[e * 7 % 12] : kind == 1 ? special[e % 3] : kind == 2 ? special[6 - e % 2 * 4] : (e * 37 % 101) / 9.0f;
                i[e] = kind == 0 ? extreme[e * 7 % 10] : kind == 1 ? INT_MIN : kind == 2 ? INT_MAX : e * 37 % 101 - 50;
            }
            greatest_check(n, m, x), greatest_last_check(n, m, x), least_check(n, m, x), least_last_check(n, m, x);
            int_greatest_check(n, m, i), int_last_check(n, m, i), int_least_check(n, m, i);
            unsigned_greatest_check(n, m, (unsigned *)i), unsigned_least_check(n, m, (unsigned *)i);
        }
        free(x), free(i);
    }
    return report();
}
