/*
 * Divisions that only some iterations run, of operands that no iteration changes, whose results choose
 * an element: in plain loops and in constructs, of all types, with each way to write the condition.
 */
#include "check.h"
#define N 276

static long b[N];
static int a[N];

#define LOOP(T, op, SUM)                                                              \
    {                                                                                 \
        long sum = 0;                                                                 \
        for (int i = 39; i < 235; i++)                                                \
            a[i] = i > a[i] ? i : b[(unsigned char)((T)100 op n)];                    \
        for (int i = 39; i < 235; i++)                                                \
            a[i] = i <= a[i] && b[(m op n) & 127] > 2;                                \
        for (int i = 39; i < 235; i++)                                                \
            if (i & 2)                                                                \
                a[i] = b[((m op n) + i) & 127];                                       \
            else                                                                      \
                a[i] = 3;                                                             \
        for (int i = 39; i < 235; i++)                                                \
            if (a[i] > 3)                                                             \
                sum += b[((T)i op n) & 127] + b[((T)99 op n) & 127];                  \
        SUM = sum;                                                                    \
    }

#define PASTE_(x, y) x##y
#define PASTE(x, y) PASTE_(x, y)

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 31 % 400;
        b[i] = i;
    }
}

static long digest(long sum)
{
    unsigned long h = sum;
    for (int i = 0; i < N; i++)
        h = h * 31 + a[i];
    return (long)h;
}

#define DEFINE(T, name)                                                               \
    __attribute__((noinline)) static long PASTE(divide_, name)(T n, T m)              \
    {                                                                                 \
        long s;                                                                       \
        fill();                                                                       \
        LOOP(T, /, s)                                                                 \
        return digest(s);                                                             \
    }                                                                                 \
    __attribute__((noinline)) static long PASTE(remain_, name)(T n, T m)              \
    {                                                                                 \
        long s;                                                                       \
        fill();                                                                       \
        LOOP(T, %, s)                                                                 \
        return digest(s);                                                             \
    }                                                                                 \
    static long PASTE(plain_, name)(T n, T m, int remain)                             \
    {                                                                                 \
        volatile T quotient = remain ? (T)100 % n : (T)100 / n;                       \
        volatile T other = remain ? m % n : m / n, third = remain ? (T)99 % n : (T)99 / n; \
        long sum = 0;                                                                 \
        fill();                                                                       \
        for (volatile int k = 39; k < 235; k++) {                                     \
            int i = k;                                                                \
            T own = remain ? (T)i % n : (T)i / n;                                     \
            a[i] = i > a[i] ? i : b[(unsigned char)quotient];                         \
            a[i] = i <= a[i] && b[other & 127] > 2;                                   \
            a[i] = i & 2 ? (int)b[(other + i) & 127] : 3;                             \
            if (a[i] > 3)                                                             \
                sum += b[own & 127] + b[third & 127];                                 \
        }                                                                             \
        return digest(sum);                                                           \
    }                                                                                 \
    static long PASTE(device_, name)(T n, T m, int remain)                            \
    {                                                                                 \
        long sum = 0;                                                                 \
        fill();                                                                       \
        _Pragma("acc parallel loop copy(a) copyin(b)")                                \
        for (int i = 39; i < 235; i++)                                                \
            a[i] = i > a[i] ? i : b[(unsigned char)(remain ? (T)100 % n : (T)100 / n)]; \
        _Pragma("acc parallel loop copy(a) copyin(b)")                                \
        for (int i = 39; i < 235; i++)                                                \
            a[i] = i <= a[i] && b[(remain ? m % n : m / n) & 127] > 2;                \
        _Pragma("acc parallel loop copy(a) copyin(b)")                                \
        for (int i = 39; i < 235; i++)                                                \
            if (i & 2)                                                                \
                a[i] = b[((remain ? m % n : m / n) + i) & 127];                       \
            else                                                                      \
                a[i] = 3;                                                             \
        _Pragma("acc parallel loop copyin(a, b) reduction(+:sum)")                    \
        for (int i = 39; i < 235; i++)                                                \
            if (a[i] > 3)                                                             \
                sum += b[(remain ? (T)i % n : (T)i / n) & 127] +                      \
                       b[(remain ? (T)99 % n : (T)99 / n) & 127];                     \
        return digest(sum);                                                           \
    }

DEFINE(int, int)
DEFINE(unsigned, uint)
DEFINE(long, long)
DEFINE(unsigned long, ulong)
DEFINE(short, short)
DEFINE(unsigned short, ushort)
DEFINE(unsigned char, uchar)

#define RUN(name)                                                                     \
    CHECK_EQ(PASTE(divide_, name)(argc + 89, argc + 76), PASTE(plain_, name)(argc + 89, argc + 76, 0)); \
    CHECK_EQ(PASTE(remain_, name)(argc + 89, argc + 76), PASTE(plain_, name)(argc + 89, argc + 76, 1)); \
    CHECK_EQ(PASTE(device_, name)(argc + 89, argc + 76, 0), PASTE(plain_, name)(argc + 89, argc + 76, 0)); \
    CHECK_EQ(PASTE(device_, name)(argc + 89, argc + 76, 1), PASTE(plain_, name)(argc + 89, argc + 76, 1));

int main(int argc, char **argv)
{
    RUN(int)
    RUN(uint)
    RUN(long)
    RUN(ulong)
    RUN(short)
    RUN(ushort)
    RUN(uchar)
    return report();
}
