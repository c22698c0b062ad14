/* Every operator of reduction on every arithmetic type, with the original value taken in. */
#include "check.h"

#define N 77
#define PRAGMA(text) _Pragma(#text)

#define INTEGER(T, suffix)                                                        \
    static void integers_##suffix(void)                                           \
    {                                                                             \
        T v[N], sum = 3, prod = 2, big = 1, small = 100, and_ = (T)-1, or_ = 1,   \
              xor_ = 5, all = 1, any = 0, none = 0, some = 1;                     \
        T s = 3, p = 2, b = 1, m = 100, ba = (T)-1, bo = 1, bx = 5;               \
        int i;                                                                    \
        for (i = 0; i < N; i++)                                                   \
            v[i] = (T)(i % 5 == 4 ? 3 : 1 + i % 3);                               \
        v[33] = 90;                                                               \
        for (i = 0; i < N; i++) {                                                 \
            s += v[i];                                                            \
            p *= (T)(v[i] | 1);                                                   \
            b = v[i] > b ? v[i] : b;                                              \
            m = v[i] < m ? v[i] : m;                                              \
            ba &= (T)(v[i] | 64);                                                 \
            bo |= (T)(v[i] << 2);                                                 \
            bx ^= v[i];                                                           \
        }                                                                         \
        PRAGMA(acc parallel loop reduction(+:sum) reduction(*:prod) reduction(max:big) \
            reduction(min:small) reduction(&:and_) reduction(|:or_) reduction(^:xor_) \
            reduction(&&:all, some) reduction(||:any, none))                      \
        for (i = 0; i < N; i++) {                                                 \
            sum += v[i];                                                          \
            prod *= (T)(v[i] | 1);                                                \
            big = v[i] > big ? v[i] : big;                                        \
            if (v[i] < small)                                                     \
                small = v[i];                                                     \
            and_ &= (T)(v[i] | 64);                                               \
            or_ |= (T)(v[i] << 2);                                                \
            xor_ ^= v[i];                                                         \
            all = all && v[i] > 0;                                                \
            some = some && v[i] == 3;                                             \
            any = any || v[i] == 90;                                              \
            none = none || v[i] == 91;                                            \
        }                                                                         \
        CHECK_EQ(sum, s);                                                         \
        CHECK_EQ(prod, p);                                                        \
        CHECK_EQ(big, b);                                                         \
        CHECK_EQ(small, m);                                                       \
        CHECK_EQ(and_, ba);                                                       \
        CHECK_EQ(or_, bo);                                                        \
        CHECK_EQ(xor_, bx);                                                       \
        CHECK_EQ(all, 1);                                                         \
        CHECK_EQ(some, 0);                                                        \
        CHECK_EQ(any, 1);                                                         \
        CHECK_EQ(none, 0);                                                        \
    }

#define FLOATING(T, suffix, MAX, MIN)                                             \
    static void floats_##suffix(void)                                             \
    {                                                                             \
        T v[N], sum = 3, prod = 2, big = -100, small = 100, big2 = -100, small2 = 100, \
              all = 1, any = 0;                                                   \
        int i;                                                                    \
        for (i = 0; i < N; i++)                                                   \
            v[i] = (T)(i % 7) * (T)0.5 - 2;                                       \
        PRAGMA(acc parallel loop reduction(+:sum) reduction(*:prod) reduction(max:big, big2) \
            reduction(min:small, small2) reduction(&&:all) reduction(||:any))     \
        for (i = 0; i < N; i++) {                                                 \
            sum += v[i];                                                          \
            prod *= i % 10 == 0 ? (T)1.5 : (T)1;                                  \
            big = big > v[i] ? big : v[i];                                        \
            if (small > v[i])                                                     \
                small = v[i];                                                     \
            big2 = MAX(big2, v[i]);                                               \
            small2 = MIN(small2, v[i]);                                           \
            all = all && v[i] < 2;                                                \
            any = any || v[i] > 2;                                                \
        }                                                                         \
        CHECK_NEAR(sum, 3 - 38.5);                                                \
        CHECK_NEAR(prod, 2 * pow(1.5, 8));                                        \
        CHECK_NEAR(big, 1);                                                       \
        CHECK_NEAR(small, -2);                                                    \
        CHECK_NEAR(big2, 1);                                                      \
        CHECK_NEAR(small2, -2);                                                   \
        CHECK_NEAR(all, 1);                                                       \
        CHECK_NEAR(any, 0);                                                       \
    }

INTEGER(signed char, schar)
INTEGER(unsigned char, uchar)
INTEGER(short, short)
INTEGER(unsigned short, ushort)
INTEGER(int, int)
INTEGER(unsigned, unsigned)
INTEGER(long, long)
INTEGER(unsigned long, ulong)
INTEGER(long long, longlong)
INTEGER(unsigned long long, ulonglong)
FLOATING(float, float, fmaxf, fminf)
FLOATING(double, double, fmax, fmin)

int main(void)
{
    integers_schar();
    integers_uchar();
    integers_short();
    integers_ushort();
    integers_int();
    integers_unsigned();
    integers_long();
    integers_ulong();
    integers_longlong();
    integers_ulonglong();
    floats_float();
    floats_double();
    return report();
}
