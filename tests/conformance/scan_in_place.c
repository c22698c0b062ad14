/*
 * Scans of an array into itself: inclusive, by IN_PLACE or by its name, and exclusive, where the loop
 * replaces each element by what those before it hold; each operator and type, by gangs, lanes and one thread.
 */
#include "check.h"
#define N 3001
#define ROWS 5

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

#define CASES(C)                                                                      \
    C(int, sum, +, 0, x + y) C(unsigned, product, *, 1, x * y) C(long, least, min, 1000, MIN(x, y)) \
    C(short, greatest, max, -1, MAX(x, y)) C(double, real_sum, +, 0, x + y)           \
    C(float, real_max, max, -1, MAX(x, y)) C(unsigned char, bits, |, 0, x | y)        \
    C(int, common, &, -1, x & y) C(long, parity, ^, 0, x ^ y)

#define PRAGMA(text) _Pragma(#text)

#define DEFINE(T, name, op, identity, combined)                                       \
    static void include_##name(T *a)                                                  \
    {                                                                                 \
        PRAGMA(acc parallel loop scan(op: IN_PLACE, a, identity, N) copy(a[0:N]))     \
        for (int i = 1; i < N; i++)                                                   \
            a[i] = FORM(name)(a[i - 1], a[i]);                                        \
    }                                                                                 \
    static void exclude_##name(T *a)                                                  \
    {                                                                                 \
        T before = identity;                                                          \
        PRAGMA(acc parallel loop scan(op: IN_PLACE, a, identity, N) copy(a[0:N]))     \
        for (int i = 1; i < N; i++) {                                                 \
            T x = a[i];                                                               \
            a[i] = before;                                                            \
            before = FORM(name)(before, x);                                           \
        }                                                                             \
    }                                                                                 \
    static void exclude_rows_##name(T (*a)[N])                                        \
    {                                                                                 \
        PRAGMA(acc parallel loop gang copy(a[0:ROWS]))                                \
        for (int r = 0; r < ROWS; r++) {                                              \
            T before = identity;                                                      \
            PRAGMA(acc loop vector scan(op: a, a, identity, N))                       \
            for (int i = 1; i < N; i++) {                                             \
                T x = a[r][i];                                                        \
                a[r][i] = before;                                                     \
                before = FORM(name)(before, x);                                       \
            }                                                                         \
        }                                                                             \
    }                                                                                 \
    static void exclude_in_order_##name(T *a)                                         \
    {                                                                                 \
        PRAGMA(acc parallel num_gangs(1) copy(a[0:N]))                                \
        {                                                                             \
            T before = identity;                                                      \
            PRAGMA(acc loop seq scan(op: a, a, identity, N))                          \
            for (int i = 1; i < N; i++) {                                             \
                T x = a[i];                                                           \
                a[i] = before;                                                        \
                before = FORM(name)(before, x);                                       \
            }                                                                         \
        }                                                                             \
    }                                                                                 \
    static void check_##name(void)                                                    \
    {                                                                                 \
        static T start[N], a[N], rows[ROWS][N], inclusive[N], exclusive[N];           \
        T x = start[0] = inclusive[0] = exclusive[0] = identity;                      \
        for (int i = 1; i < N; i++) {                                                 \
            T y = start[i] = (i * 37 + 11) % 101;                                     \
            exclusive[i] = x;                                                         \
            x = combined;                                                             \
            inclusive[i] = x;                                                         \
        }                                                                             \
        memcpy(a, start, sizeof a);                                                   \
        include_##name(a);                                                            \
        CHECK(memcmp(a, inclusive, sizeof a) == 0);                                   \
        memcpy(a, start, sizeof a);                                                   \
        exclude_##name(a);                                                            \
        CHECK(memcmp(a, exclusive, sizeof a) == 0);                                   \
        memcpy(a, start, sizeof a);                                                   \
        exclude_in_order_##name(a);                                                   \
        CHECK(memcmp(a, exclusive, sizeof a) == 0);                                   \
        for (int r = 0; r < ROWS; r++)                                                \
            memcpy(rows[r], start, sizeof start);                                     \
        exclude_rows_##name(rows);                                                    \
        for (int r = 0; r < ROWS; r++)                                                \
            CHECK(memcmp(rows[r], exclusive, sizeof exclusive) == 0);                 \
    }

#define FORM(name) FORM_##name
#define FORM_sum(x, y) (x + y)
#define FORM_product(x, y) (x * y)
#define FORM_least(x, y) MIN(x, y)
#define FORM_greatest(x, y) MAX(x, y)
#define FORM_real_sum(x, y) (x + y)
#define FORM_real_max(x, y) MAX(x, y)
#define FORM_bits(x, y) (x | y)
#define FORM_common(x, y) (x & y)
#define FORM_parity(x, y) (x ^ y)

CASES(DEFINE)

#define RUN(T, name, op, identity, combined) check_##name();

int main(void)
{
    CASES(RUN)
    return report();
}
