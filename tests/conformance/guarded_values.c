/*
 * Operands of && and || and of ?: that C evaluates only where they are defined: shifts by the width and
 * more, overflow, reals beyond the integer type, division by zero. Each guard decides for the values given
 * here, so that the right-hand side must not matter, on the host and in kernels.
 */
#include "check.h"
#include <limits.h>

#define N 97

/* name, the guard that keeps VALUE defined, VALUE != 0 where it holds; types of x and y */
#define CASES(C)                                                                      \
    C(shl, int, int, y >= 0 && y < 26, 3 << y)                                        \
    C(shr, unsigned, int, y >= 0 && y < 32, ~x >> y)                                         \
    C(shl_long, long, int, (unsigned)y < 62, 1L << y)                                         \
    C(shr_long, long, int, (unsigned)y < 62, LONG_MAX >> y)                               \
    C(increment, int, int, y < INT_MAX, (y + 1) * 0 + 1)                              \
    C(sum, int, int, y <= INT_MAX - 7, y + 7 > y)                                     \
    C(difference, int, int, y >= INT_MIN + 9, y - 9 < y)                              \
    C(product, int, int, y < 1000 && y > -1000, y * 2000 != 1)                        \
    C(negative, int, int, y != INT_MIN, -y != 1 << 20)                                \
    C(real, double, int, x < 1e6 && x > -1e6, (int)x < 2000000)                       \
    C(real_unsigned, double, int, x >= 0 && x < 1e6, (unsigned)x < 2000000u)          \
    C(real_float, float, int, x < 1e9f, (long)x < 2000000000)                         \
    C(real_char, double, int, x < 100 && x > -100, (signed char)x < 101)              \
    C(quotient, int, int, y != 0, 1000 / y != 1 << 20)                                \
    C(remainder, unsigned, unsigned, y != 0, 1000 % y <= x + 1000)

#define DEFINE(name, X, Y, guard, value)                                              \
    __attribute__((noinline)) static int and_##name(X x, Y y) { return (guard) && (value); }     \
    __attribute__((noinline)) static int or_##name(X x, Y y) { return !(guard) || (value); }     \
    __attribute__((noinline)) static int pick_##name(X x, Y y) { return (guard) ? (value) != 0 : 7; } \
    __attribute__((noinline)) static int twice_##name(X x, Y y)                       \
    {                                                                                 \
        return ((guard) && (value)) == !(!(guard) || !(value));                       \
    }                                                                                 \
    static void check_##name(const X *xs, const Y *ys, const int *holds)              \
    {                                                                                 \
        int ands[N], ors[N], picks[N], first = 0, second = 0;                         \
        _Pragma("acc parallel loop copyin(xs[0:N], ys[0:N]) copyout(ands, ors, picks) \
                 reduction(+:first, second)")                                         \
        for (int i = 0; i < N; i++) {                                                 \
            X x = xs[i];                                                              \
            Y y = ys[i];                                                              \
            ands[i] = (guard) && (value);                                             \
            ors[i] = !(guard) || (value);                                             \
            picks[i] = (guard) ? (value) != 0 : 7;                                    \
            first += ((guard) && (value)) ? 1 : 0;                                    \
            if (!(guard) || (value))                                                  \
                second++;                                                             \
        }                                                                             \
        int all = 0;                                                                  \
        for (int i = 0; i < N; i++) {                                                 \
            all += holds[i];                                                          \
            CHECK_EQ(ands[i], holds[i]);                                              \
            CHECK_EQ(ors[i], 1);                                                      \
            CHECK_EQ(picks[i], holds[i] ? 1 : 7);                                     \
            CHECK_EQ(and_##name(xs[i], ys[i]), holds[i]);                             \
            CHECK_EQ(or_##name(xs[i], ys[i]), 1);                                     \
            CHECK_EQ(pick_##name(xs[i], ys[i]), holds[i] ? 1 : 7);                    \
            CHECK_EQ(twice_##name(xs[i], ys[i]), 1);                                  \
        }                                                                             \
        CHECK_EQ(first, all);                                                         \
        CHECK_EQ(second, N);                                                          \
    }

CASES(DEFINE)

/* Values of which about half lie beyond what is defined. */
static int far_int(int i)
{
    static const int odd[] = {0, INT_MAX, INT_MIN, 32, 33, 64, 200, -1, -40, 1 << 30};
    return i % 2 ? odd[i / 2 % 10] : i % 26;
}

static double far_real(int i)
{
    static const double odd[] = {1e300, -1e300, INFINITY, 4e9, 1e10, 1e20, 3e30};
    return i % 2 ? odd[i / 2 % 7] : i;
}

/* The same for values that the compiler knows. */
static int known(void)
{
    int sum = 0;
    for (int y = 64; y < 68; y++) {
        sum += y < 64 && (1L << y) > 0;
        sum += !(y >= 64 || (1L << y) > 0);
        sum += (y < 64 ? 1L << y : 0) != 0;
        sum += y < 64 && (INT_MAX + (y - 60)) > 0;
        sum += y < 64 && (int)(1e300 * y) != 0;
        sum += y < 64 && y * (INT_MAX / 2) != 0;
    }
    return sum;
}

#define RUN(name, X, Y, guard, value)                                                 \
    {                                                                                 \
        X xs[N];                                                                      \
        Y ys[N];                                                                      \
        int holds[N];                                                                 \
        for (int i = 0; i < N; i++) {                                                 \
            xs[i] = (X)0.5 ? (X)far_real(i) : (X)(i % 50);                            \
            ys[i] = far_int(i);                                                       \
            X x = xs[i];                                                              \
            Y y = ys[i];                                                              \
            holds[i] = 0;                                                             \
            if (guard)                                                                \
                holds[i] = 1;                                                         \
        }                                                                             \
        check_##name(xs, ys, holds);                                                  \
    }

/* A shift as libraries guard it: by amounts that it takes, and only where nothing is lost. */
#define SHIFTS(C)                                                                     \
    C(int_left, int, INT_MAX, 32)                                                     \
    C(long_left, long, LONG_MAX, 64)                                                  \
    C(unsigned_left, unsigned, UINT_MAX, 32)

#define DEFINE_SHIFT(name, T, MAX, BITS)                                              \
    __attribute__((noinline)) static T name##_or(T x, int y)                          \
    {                                                                                 \
        return (x < 0 || y < 0 || y >= BITS || x > (MAX >> y)) ? x : x << y;          \
    }                                                                                 \
    __attribute__((noinline)) static T name##_and(T x, int y)                         \
    {                                                                                 \
        return (x >= 0 && y >= 0 && y < BITS && x <= (MAX >> y)) ? x << y : x;         \
    }                                                                                 \
    __attribute__((noinline)) static T name##_if(T x, int y)                          \
    {                                                                                 \
        if (y < 0 || y >= BITS || !(x <= (MAX >> y)))                                 \
            return x;                                                                 \
        return x << y;                                                                \
    }                                                                                 \
    static void check_##name(int argc)                                                \
    {                                                                                 \
        static T out[3][N];                                                           \
        _Pragma("acc parallel loop copyout(out)")                                     \
        for (int i = 0; i < N; i++) {                                                 \
            T x = argc;                                                               \
            out[0][i] = (i >= BITS || x > (MAX >> i)) ? x : x << i;                   \
            out[1][i] = (i < BITS && x <= (MAX >> i)) ? x << i : x;                   \
            out[2][i] = i >= BITS || x > (MAX >> i);                                  \
        }                                                                             \
        for (int i = 0; i < N; i++) {                                                 \
            T expected = argc;                                                        \
            if (i < BITS && argc <= MAX >> i)                                                           \
                expected <<= i;                                                       \
            CHECK_EQ(out[0][i], expected);                                            \
            CHECK_EQ(out[1][i], expected);                                            \
            CHECK_EQ(out[2][i], expected == argc && i > 0);                                           \
            CHECK_EQ(name##_or(argc, i), expected);                                   \
            CHECK_EQ(name##_and(argc, i), expected);                                  \
            CHECK_EQ(name##_if(argc, i), expected);                                   \
        }                                                                             \
        /* Amounts that the compiler knows: what is undefined is undefined at once. */ \
        for (int i = BITS; i < BITS + 4; i++) {                                       \
            CHECK_EQ(name##_or(argc, i), argc);                                       \
            CHECK_EQ(name##_and(argc, i), argc);                                      \
            CHECK_EQ(name##_if(argc, i), argc);                                       \
        }                                                                             \
        int all = 0;                                                                  \
        _Pragma("acc parallel loop reduction(+:all)")                                 \
        for (int i = BITS; i < BITS + 4; i++)                                         \
            all += (i >= BITS || (T)argc > (MAX >> i)) ? 1 : 0;                       \
        CHECK_EQ(all, 4);                                                             \
    }

SHIFTS(DEFINE_SHIFT)

#define RUN_SHIFT(name, T, MAX, BITS) check_##name(argc);

int main(int argc, char **argv)
{
    CASES(RUN)
    SHIFTS(RUN_SHIFT)
    CHECK_EQ(known(), 0);
    return report();
}
