/* Several loops along a row, of which some add up floats: the sums have the same bits as in C, whichever lanes
 * compute the terms, in rows of any length, and whether the sums are declared in the region or outside. */
#include "check.h"

#define ROWS(T, NAME)                                                                             \
    static void NAME##_scaled(int n, int m, const T *restrict x, T *restrict y, T *restrict s) {  \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], s[0:n])")                      \
        for (int r = 0; r < n; r++) {                                                             \
            T most = -100, sum = 0.5;                                                             \
            for (int c = 0; c < m; c++) most = x[r * m + c] > most ? x[r * m + c] : most;         \
            for (int c = 0; c < m; c++) {                                                         \
                y[r * m + c] = x[r * m + c] - most;                                               \
                sum += y[r * m + c];                                                              \
            }                                                                                     \
            for (int c = 0; c < m; c++) y[r * m + c] /= sum;                                      \
            s[r] = sum;                                                                           \
        }                                                                                         \
    }                                                                                             \
    static void NAME##_outside(int n, int m, const T *restrict x, T *restrict y, T *restrict s) { \
        T sum, other, product;                                                                    \
        int count;                                                                                \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], s[0:n])")                      \
        for (int r = 0; r < n; r++) {                                                             \
            const T *row = x + r * m;                                                             \
            sum = 3, other = 0, product = 1, count = 0;                                           \
            for (int c = 0; c < m; c++) {                                                         \
                sum += row[c];                                                                    \
                count += row[c] > 0;                                                              \
            }                                                                                     \
            for (int c = m - 1; c >= 0; c--) {                                                    \
                other -= row[c] / (c + 1);                                                        \
                product *= 1 - row[c] / 64;                                                       \
            }                                                                                     \
            for (int c = 0; c < m; c++) y[r * m + c] = row[c] - product;                          \
            s[r] = (sum + count) / (1 + other);                                                   \
        }                                                                                         \
    }                                                                                             \
    static void NAME##_elements(int n, int m, const T *restrict x, T *restrict s, T *restrict t) {  \
        _Pragma("acc parallel loop copyin(x[0:n*m]) copy(s[0:n], t[0:n])")                        \
        for (int r = 0; r < n; r++) {                                                             \
            s[r] = 1;                                                                             \
            for (int c = 0; c < m; c++) s[r] += x[r * m + c];                                     \
            t[r] = -1;                                                                            \
            for (int c = 0; c < m; c++) t[r] += x[r * m + c] / s[r];                              \
        }                                                                                         \
    }                                                                                             \
    static void NAME##_expected(int n, int m, const T *x, T *y, T *s, T *z, T *t) {               \
        for (int r = 0; r < n; r++) {                                                             \
            T most = -100, sum = 0.5, other = 0, product = 1;                                     \
            int count = 0;                                                                        \
            for (int c = 0; c < m; c++) most = x[r * m + c] > most ? x[r * m + c] : most;         \
            for (int c = 0; c < m; c++) sum += y[r * m + c] = x[r * m + c] - most;                \
            for (int c = 0; c < m; c++) y[r * m + c] /= sum;                                      \
            s[r] = sum, sum = 3;                                                                  \
            for (int c = 0; c < m; c++) sum += x[r * m + c], count += x[r * m + c] > 0;           \
            for (int c = m - 1; c >= 0; c--)                                                      \
                other -= x[r * m + c] / (c + 1), product *= 1 - x[r * m + c] / 64;                \
            for (int c = 0; c < m; c++) z[r * m + c] = x[r * m + c] - product;                    \
            t[r] = (sum + count) / (1 + other);                                                   \
        }                                                                                         \
    }                                                                                             \
    static void NAME##_check(int n, int m) {                                                      \
        T *v = calloc(5 * n * m + 4 * n + 1, sizeof(T)), *s = v + 5 * n * m;                      \
        for (int i = 0; i < n * m; i++) v[i] = (i * 37 % 101) / (T)9 - 5;                         \
        T *a = v + n * m, *b = a + n * m, *c = b + n * m, *d = c + n * m;                         \
        NAME##_scaled(n, m, v, a, s);                                                             \
        NAME##_outside(n, m, v, c, s + 2 * n);                                                    \
        NAME##_expected(n, m, v, b, s + n, d, s + 3 * n);                                         \
        T *sums = calloc(2 * n, sizeof(T));                                                       \
        NAME##_elements(n, m, v, sums, sums + n);                                                 \
        for (int r = 0; r < n; r++) {                                                             \
            T sum = 1, quotients = -1;                                                            \
            for (int i = 0; i < m; i++) sum += v[r * m + i];                                      \
            for (int i = 0; i < m; i++) quotients += v[r * m + i] / sum;                          \
            CHECK(sums[r] == sum && sums[n + r] == quotients);                                    \
        }                                                                                         \
        free(sums);                                                                               \
        CHECK(!memcmp(a, b, n * m * sizeof(T)));                                                  \
        CHECK(!memcmp(c, d, n * m * sizeof(T)));                                                  \
        CHECK(!memcmp(s, s + n, n * sizeof(T)));                                                  \
        CHECK(!memcmp(s + 2 * n, s + 3 * n, n * sizeof(T)));                                      \
        free(v);                                                                                  \
    }

ROWS(float, floats)
ROWS(double, doubles)

int main(void) {
    /* a thread, 4 lanes, 8 lanes and a warp for each row; pieces that are not full, one more than full, empty */
    const int sizes[][2] = {{5, 3}, {8200, 6}, {4100, 18}, {3, 1}, {7, 31}, {2, 257}, {1, 300}, {9, 0}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        floats_check(sizes[i][0], sizes[i][1]);
        doubles_check(sizes[i][0], sizes[i][1]);
    }
    return report();
}
