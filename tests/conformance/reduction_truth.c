/*
 * Reductions of `_Bool`, whose sums and products are 0 or 1 however many there are, by each operator, at each
 * level, of scalars, arrays and structures; and reduction(-:x), which adds the copies as OpenMP's does.
 */
#include "check.h"
#include <stdbool.h>
#define N 512

#define OPERATORS(C)                                                                  \
    C(add, +, x = x + y) C(mul, *, x = x * y) C(max, max, x = x > y ? x : y)          \
    C(min, min, x = x < y ? x : y) C(bit_and, &, x = x & y) C(bit_or, |, x |= y)      \
    C(bit_xor, ^, x ^= y) C(land, &&, x = x && y) C(lor, ||, x = x || y)

#define PRAGMA(text) _Pragma(#text)

#define DEFINE(name, op, update)                                                      \
    static bool serial_##name(const bool *v, bool x)                                  \
    {                                                                                 \
        for (int i = 0; i < N; i++) {                                                 \
            bool y = v[i];                                                            \
            update;                                                                   \
        }                                                                             \
        return x;                                                                     \
    }                                                                                 \
    static bool levels_##name(const bool *v, bool x)                                  \
    {                                                                                 \
        PRAGMA(acc parallel loop gang vector reduction(op:x) copyin(v[0:N]))          \
        for (int i = 0; i < N; i++) {                                                 \
            bool y = v[i];                                                            \
            update;                                                                   \
        }                                                                             \
        return x;                                                                     \
    }                                                                                 \
    static bool nested_##name(const bool *v, bool x)                                  \
    {                                                                                 \
        PRAGMA(acc parallel loop gang reduction(op:x) copyin(v[0:N]))                 \
        for (int j = 0; j < N; j += 64) {                                             \
            PRAGMA(acc loop worker vector reduction(op:x))                            \
            for (int i = j; i < j + 64; i++) {                                        \
                bool y = v[i];                                                        \
                update;                                                               \
            }                                                                         \
        }                                                                             \
        return x;                                                                     \
    }                                                                                 \
    static bool array_##name(const bool *v, bool start)                               \
    {                                                                                 \
        bool b[3] = {!start, start, start};                                           \
        PRAGMA(acc parallel loop reduction(op:b) copyin(v[0:N]))                      \
        for (int i = 0; i < N; i++) {                                                 \
            bool y = v[i], x = b[1];                                                  \
            update;                                                                   \
            b[1] = x;                                                                 \
        }                                                                             \
        CHECK_EQ(b[0], !start);                                                       \
        CHECK_EQ(b[2], start);                                                        \
        return b[1];                                                                  \
    }                                                                                 \
    static bool member_##name(const bool *v, bool start)                              \
    {                                                                                 \
        struct { bool first, second; } s = {start, !start};                           \
        PRAGMA(acc parallel loop reduction(op:s) copyin(v[0:N]))                      \
        for (int i = 0; i < N; i++) {                                                 \
            bool y = v[i], x = s.first;                                               \
            update;                                                                   \
            s.first = x;                                                              \
        }                                                                             \
        CHECK_EQ(s.second, !start);                                                   \
        return s.first;                                                               \
    }

OPERATORS(DEFINE)

static void fill(bool *v, int ones)
{
    for (int i = 0; i < N; i++)
        v[i] = ones >= N || (ones > 0 && i % (N / ones) == 0);
}

#define RUN(name, op, update)                                                         \
    for (int start = 0; start < 2; start++) {                                         \
        bool expected = serial_##name(v, start);                                      \
        CHECK_EQ(levels_##name(v, start), expected);                                  \
        CHECK_EQ(nested_##name(v, start), expected);                                  \
        CHECK_EQ(array_##name(v, start), expected);                                   \
        CHECK_EQ(member_##name(v, start), expected);                                  \
    }

int main(void)
{
    static const int counts[] = {0, 1, 2, 256, N};
    bool v[N];
    for (int k = 0; k < 5; k++) {
        fill(v, counts[k]);
        OPERATORS(RUN)
    }
    int s = 100;
    double d = 8, row[2] = {1, 2};
#pragma acc parallel loop reduction(-:s, d) reduction(-:row)
    for (int i = 1; i <= 10; ++i) {
        s -= i;
        d = d - 0.5;
        row[1] -= i;
    }
    CHECK_EQ(s, 45);
    CHECK_NEAR(d, 3);
    CHECK_NEAR(row[1], -53);
    return report();
}
