/* Nests that read down columns, which CPU threads do in tiles where columns are long or their rows are a power of two apart. */
#include <stdlib.h>

#include "../check.h"

enum { MOST = 300 * 1100 };

/* Each kind has rows x columns results; a is columns x rows. */
#define KINDS(T)                                                                                         \
    static void plain_##T(int rows, int columns, const T *a, T *b)                                       \
    {                                                                                                    \
        _Pragma("acc parallel loop collapse(2) copyin(a[0:rows*columns]) copy(b[0:rows*columns])")       \
        for (int i = 0; i < rows; i++)                                                                   \
            for (int j = 0; j < columns; j++)                                                            \
                b[i * columns + j] = a[j * rows + i];                                                    \
    }                                                                                                    \
    static void stores_##T(long rows, long columns, const T *a, T *b)                                    \
    {                                                                                                    \
        _Pragma("acc parallel loop gang copyin(a[0:rows*columns]) copy(b[0:rows*columns])")              \
        for (long j = 0; j < columns; j++) {                                                             \
            _Pragma("acc loop vector")                                                                   \
            for (long i = 0; i < rows; i++)                                                              \
                b[i * columns + j] = a[j * rows + i];                                                    \
        }                                                                                                \
    }                                                                                                    \
    static void tiled_##T(int rows, int columns, const T a[columns][rows], T b[rows][columns])           \
    {                                                                                                    \
        _Pragma("acc parallel loop tile(8,32) copyin(a[0:columns]) copy(b[0:rows])")                     \
        for (int i = 0; i < rows; i++)                                                                   \
            for (int j = 0; j < columns; j++)                                                            \
                b[i][j] = a[j][i];                                                                       \
    }                                                                                                    \
    static void sized_##T(unsigned rows, unsigned columns, const T *a, T *b)                             \
    {                                                                                                    \
        unsigned i, j;                                                                                   \
        _Pragma("acc parallel num_gangs(7) num_workers(4) copyin(a[0:rows*columns]) copy(b[0:rows*columns])") \
        _Pragma("acc loop gang worker")                                                                  \
        for (i = 0; i < rows; i++) {                                                                     \
            _Pragma("acc loop vector")                                                                   \
            for (j = 0; j < columns; j++)                                                                \
                b[i * columns + j] = a[j * rows + i];                                                    \
        }                                                                                                \
    }                                                                                                    \
    static void backwards_##T(int rows, int columns, const T *a, T *b)                                   \
    {                                                                                                    \
        _Pragma("acc kernels loop independent collapse(2) copyin(a[0:rows*columns]) copy(b[0:rows*columns])") \
        for (int i = rows - 1; i >= 0; i--)                                                              \
            for (int j = columns - 1; j >= 0; j--)                                                       \
                b[i * columns + j] = a[j * rows + i];                                                    \
    }                                                                                                    \
    static void chosen_##T(int rows, int columns, const T *a, T *b)                                      \
    {                                                                                                    \
        _Pragma("acc parallel loop collapse(2) copyin(a[0:rows*columns]) copy(b[0:rows*columns])")       \
        for (int i = 0; i < rows; i++)                                                                   \
            for (int j = 0; j < columns; j++)                                                            \
                if (a[j * rows + i] != b[i * columns + j])                                               \
                    b[i * columns + j] = a[j * rows + i];                                                \
    }                                                                                                    \
    static void check_##T(int rows, int columns)                                                         \
    {                                                                                                    \
        static T a[MOST], b[MOST];                                                                       \
        for (int kind = 0; kind < 6; kind++) {                                                           \
            for (int i = 0; i < rows * columns; i++)                                                     \
                a[i] = (T)(i % 120 + 1), b[i] = (T)(i % 3);                                              \
            switch (kind) {                                                                              \
            case 0: plain_##T(rows, columns, a, b); break;                                               \
            case 1: stores_##T(rows, columns, a, b); break;                                              \
            case 2: tiled_##T(rows, columns, (const T(*)[rows])a, (T(*)[columns])b); break;              \
            case 3: sized_##T(rows, columns, a, b); break;                                               \
            case 4: backwards_##T(rows, columns, a, b); break;                                           \
            default: chosen_##T(rows, columns, a, b);                                                    \
            }                                                                                            \
            int wrong = 0;                                                                               \
            for (int i = 0; i < rows; i++)                                                               \
                for (int j = 0; j < columns; j++)                                                        \
                    wrong += b[i * columns + j] != a[j * rows + i];                                      \
            CHECK_EQ(wrong, 0);                                                                          \
        }                                                                                                \
    }

KINDS(double)
KINDS(float)
KINDS(short)
KINDS(char)

enum { EDGE = 1040 };

/* Several arrays, a part of each, steps, and results that are read in place. */
static void mixed(int n, const double *a, const float *c, double *b)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n*n], c[0:n*n]) copy(b[0:n*n])
    for (int i = 3; i < n - 2; i += 2)
        for (int j = 1; j < n - 7; j += 3) {
            const double across = a[j * n + i] - a[(j + 1) * n + i + 1];
            b[i * n + j] = 2 * b[i * n + j] + across * c[j * n + i] + a[i * n + j];
        }
}

static void check_mixed(void)
{
    static double a[EDGE * EDGE], b[EDGE * EDGE];
    static float c[EDGE * EDGE];
    const int n = EDGE;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 91, b[i] = i % 7, c[i] = i % 5;
    mixed(n, a, c, b);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double expected = (i * n + j) % 7;
            if (i >= 3 && i < n - 2 && (i - 3) % 2 == 0 && j >= 1 && j < n - 7 && (j - 1) % 3 == 0)
                expected = 2 * expected + (a[j * n + i] - a[(j + 1) * n + i + 1]) * c[j * n + i]
                           + a[i * n + j];
            wrong += b[i * n + j] != expected;
        }
    CHECK_EQ(wrong, 0);
}

/* Three loops: the first and the last exchanged, or the last two. */
static void cubes(int n, int m, int l, const float *a, float *first, float *second)
{
#pragma acc parallel loop collapse(3) copyin(a[0:n*m*l]) copy(first[0:n*m*l])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                first[(i * m + j) * l + k] = a[(k * m + j) * n + i];
#pragma acc parallel loop gang copyin(a[0:n*m*l]) copy(second[0:n*m*l])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < m; j++) {
#pragma acc loop vector
            for (int k = 0; k < l; k++)
                second[(i * m + j) * l + k] = a[(i * l + k) * m + j];
        }
    }
}

static void check_cubes(int n, int m, int l)
{
    static float a[MOST], first[MOST], second[MOST];
    for (int i = 0; i < n * m * l; i++)
        a[i] = i % 1013, first[i] = second[i] = -1;
    cubes(n, m, l, a, first, second);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                wrong += first[(i * m + j) * l + k] != a[(k * m + j) * n + i]
                         || second[(i * m + j) * l + k] != a[(i * l + k) * m + j];
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    static const int shapes[][2] = {{256, 256}, {256, 300}, {40, 1030}, {1030, 40}, {33, 1024}, {1, 1100}, {129, 257}};
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        check_double(shapes[s][0], shapes[s][1]);
        check_float(shapes[s][0], shapes[s][1]);
        check_short(shapes[s][0], shapes[s][1]);
        check_char(shapes[s][0], shapes[s][1]);
    }
    check_mixed();
    check_cubes(7, 5, 1030);
    check_cubes(64, 4, 300);
    check_cubes(3, 256, 256);
    check_cubes(256, 1, 257);
    return report();
}
