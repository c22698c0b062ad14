/* Nests on unsigned counters, in which nothing wraps around, some of it does, or all; and nests written as one loop. */
#include "check.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define MOST 20000

static float a[MOST], b[MOST], got[MOST], want[MOST];

static void reset(void)
{
    for (int i = 0; i < MOST; i++) {
        a[i] = (float)(i * 7 % 13) - 6;
        b[i] = (float)(i * 5 % 11) - 5;
        got[i] = want[i] = -1;
    }
}

static int same(void)
{
    return memcmp(got, want, sizeof got) == 0;
}

/* Runs a nest on the device and serially, and compares all of the output. */
#define BOTH(DIRECTIVE, ...)                                                                                          \
    do {                                                                                                              \
        reset();                                                                                                      \
        {                                                                                                             \
            float *out = got;                                                                                         \
            _Pragma(DIRECTIVE) __VA_ARGS__                                                                            \
        }                                                                                                             \
        {                                                                                                             \
            float *out = want;                                                                                        \
            __VA_ARGS__                                                                                               \
        }                                                                                                             \
        CHECK(same());                                                                                                \
    } while (0)
#define COPY "acc parallel loop copyin(a, b) copy(out[0:MOST])"
#define COPY_2 "acc parallel loop collapse(2) copyin(a, b) copy(out[0:MOST])"

/* A stencil, a convolution, a transposition, rows added up: what is computed without sign may become signed. */
#define NESTS(SIZE, COUNT, WIDE)                                                                                      \
    static void nests_##SIZE##_##COUNT##_##WIDE(SIZE n, SIZE m)                                                       \
    {                                                                                                                 \
        if (n > 2 && m > 2)                                                                                           \
            BOTH(COPY_2, for (COUNT i = 1; i < n - 1; i++) for (COUNT j = 1; j <= m - 2; j++)                         \
                    out[(WIDE)i * m + j] = a[(WIDE)(i - 1) * m + j] + a[(WIDE)(i + 1) * m + j] -                      \
                                           a[(WIDE)i * m + j - 1] + 2 * a[(WIDE)i * m + j + 1];);                     \
        BOTH(COPY_2, for (COUNT i = 0; i < n; i++) for (COUNT j = 0; j < m; j++) {                                    \
            float sum = 0;                                                                                            \
            for (COUNT p = 0; p < 3; p++)                                                                             \
                for (COUNT q = 0; q < n % 5; q++) sum += a[((WIDE)i + p) * m + j + q] * b[(WIDE)p * n + q];           \
            out[(WIDE)i * m + j] = sum;                                                                               \
        });                                                                                                           \
        BOTH(COPY_2, for (COUNT i = 0; i < n; i++) for (COUNT j = 0; j < m; j++) out[(WIDE)j * n + i] =               \
                                                                                  a[(WIDE)i * m + j];);               \
        BOTH(COPY, for (COUNT i = 0; i < n; i++) {                                                                    \
            float sum = 0;                                                                                            \
            for (COUNT j = m; j > 0; j--) sum += a[(WIDE)i * m + j - 1];                                              \
            out[i] = sum;                                                                                             \
        });                                                                                                           \
    }
typedef unsigned int uint;
NESTS(uint, uint, uint)
NESTS(int, uint, uint)
NESTS(uint, uint, size_t)
NESTS(size_t, size_t, size_t)

/* Subscripts that wrap around, or numbers that do on the way to one. */
static void wrapping(uint n, uint big, uint one, uint none)
{
    BOTH(COPY_2, for (uint i = 0; i < n; i++) for (uint j = 0; j < n; j++) out[i * big * 2 + j + i * n] = a[i * n + j];);
    BOTH(COPY, for (uint i = 0; i < n; i++) out[i * (0u - one) + n] = a[n - i - one];);
    BOTH(COPY, for (uint i = 0; i < n; i++) out[(i - n) * (0u - one)] = a[i + none];);
    BOTH(COPY, for (uint i = 0; i < n; i++) if (i > 0) out[i - 1] = a[i - one];);
    BOTH(COPY, for (uint i = 0; i < none; i++) out[i * n] = a[i * n + one];);
    BOTH(COPY_2, for (uint i = 0; i < none; i++) for (uint j = 0; j < n - none; j++) out[i * n + j] = 3;);
    BOTH(COPY_2, for (uint i = 2147483640u + one; i < 2147483650u; i++) for (uint j = 0; j < n; j++)
                     out[(i - 2147483640u) * n + j] = a[i * one - 2147483640u + j * n];);
    BOTH(COPY_2, for (uint i = big; i < big + 5; i++) for (uint j = 0; j < n; j++) out[(i * 2) * n + j] = a[(i * 4) * n + j];);
    BOTH(COPY_2, for (uint i = 0; i < n; i++) for (uint j = 0; j < n; j++) {
        float sum = 0;
        for (uint k = 0; k < n; k++) sum += a[i * (n + big * 2) + k] * b[k * n + j + i * (big + big)];
        out[i * n + j] = sum;
    });
}

/* Nests in one loop over all elements. */
#define NUMBERED(T)                                                                                                   \
    static void numbered_##T(T n, T m, T l)                                                                           \
    {                                                                                                                 \
        T all = l * m, rest = all - 3;                                                                                \
        BOTH(COPY, for (T e = 0; e < all; e++) out[e % m * l + e / m] = a[e] + b[e % m];);                            \
        BOTH(COPY, for (T e = 0; e < rest; e++) out[e % m * l + e / m] = a[e] + 1;);                                  \
        BOTH(COPY, for (T e = 0; e < l * n * m; e++) {                                                                \
            T i = e / (n * m);                                                                                        \
            T j = e / m % n;                                                                                          \
            T k = e % m;                                                                                              \
            out[e] = a[j * m + k] + 2 * b[i] + a[e % (n * m)] + (float)e;                                             \
        });                                                                                                           \
        BOTH(COPY, for (T e = 0; e < l * 256; e++) out[e] = a[e >> 8] + b[e & 255] + a[e / 128];);                    \
        BOTH(COPY, for (T e = 0; e < 4096; e++) out[e] = a[e / 256 * 3] + b[e % 256 + e / 512];);                     \
        BOTH(COPY, for (T e = 0; e < l * m; e++) if (e % m > 2 && e / m < 4) out[e] = a[e - e / m];);                 \
    }
/* A product in two loops, and in one. */
static void products(uint n, uint m)
{
    BOTH(COPY_2, for (uint i = 0; i < n; i++) for (uint j = 0; j < m; j++) {
        float sum = 0;
        for (uint k = 0; k < n; k++) sum += a[i * n + k] * b[k * m + j];
        out[i * m + j] = sum;
    });
    BOTH(COPY, for (uint e = 0; e < n * m; e++) {
        uint i = e / m, j = e % m;
        float sum = 0;
        for (uint k = 0; k < n; k++) sum += a[i * n + k] * b[k * m + j];
        out[e] = sum;
    });
}

/* Quotients by a negative length are negative. */
static void backwards(int n, int m)
{
    BOTH(COPY, for (int e = 0; e < n * m; e++) out[e] = a[-(e / m)] + b[e % m];);
}

NUMBERED(int)
NUMBERED(uint)
NUMBERED(size_t)

int main(void)
{
    uint sizes[][2] = {{0, 5}, {3, 130}, {40, 33}};
    for (int s = 0; s < 3; s++) {
        uint n = sizes[s][0], m = sizes[s][1];
        nests_uint_uint_uint(n, m);
        nests_int_uint_uint((int)n, (int)m);
        nests_uint_uint_size_t(n, m);
        nests_size_t_size_t_size_t(n, m);
    }
    products(3, 130);
    products(40, 33);
    products(64, 128);
    wrapping(50, 1u << 31, 1, 0);
    int lengths[][3] = {{2, 7, 3}, {20, 200, 4}, {1, 130, 9}};
    for (int s = 0; s < 3; s++) {
        int n = lengths[s][0], m = lengths[s][1], l = lengths[s][2];
        numbered_int(n, m, l);
        numbered_uint((uint)n, (uint)m, (uint)l);
        numbered_size_t((size_t)n, (size_t)m, (size_t)l);
    }
    backwards(-3, -130);
    return report();
}
