/* Loops whose range is more than half of what their type holds, that begin or end at its limits, or whose counters
   are converted before they are compared. The same loops without directives on the host give the right values. */
#include "check.h"
#include <limits.h>
#include <stdint.h>

#define EACH(T, FIRST, COMPARISON, STEP)                                                          \
    {                                                                                             \
        unsigned long sum = 0, seq = 0, nested[3], want = 0;                                      \
        T turn = FIRST;                                                                           \
        for (int n = 0; n < 100; n++) {                                                           \
            T i = turn;                                                                           \
            if (!(COMPARISON)) break;                                                             \
            want += (unsigned long)i * 3 + 1;                                                     \
            STEP;                                                                                 \
            turn = i;                                                                             \
        }                                                                                         \
        unsigned long plain = 0;                                                                  \
        T i;                                                                                      \
        for (i = FIRST; COMPARISON; STEP) plain += (unsigned long)i * 3 + 1;                      \
        CHECK_EQ(plain, want);                                                                    \
        CHECK_EQ(i, turn);                                                                        \
        _Pragma("acc parallel loop reduction(+:sum)")                                             \
        for (T i = FIRST; COMPARISON; STEP) sum += (unsigned long)i * 3 + 1;                      \
        CHECK_EQ(sum, want);                                                                      \
        _Pragma("acc serial copy(seq)")                                                           \
        for (T i = FIRST; COMPARISON; STEP) seq += (unsigned long)i * 3 + 1;                      \
        CHECK_EQ(seq, want);                                                                      \
        _Pragma("acc kernels copyout(nested)")                                                    \
        for (int k = 0; k < 3; k++) {                                                             \
            nested[k] = k;                                                                        \
            for (T i = FIRST; COMPARISON; STEP) nested[k] += (unsigned long)i * 3 + 1;            \
        }                                                                                         \
        CHECK_EQ(nested[2], want + 2);                                                            \
    }

static void signed_ranges(long low, long high, long step)
{
    EACH(long, LONG_MIN, i < 0, i += LONG_MAX)
    EACH(long, low, i <= high, i += step)
    EACH(long, high, i >= low, i -= step)
    EACH(long, LONG_MAX, i > LONG_MIN + 1, i -= LONG_MAX)
    EACH(long, LONG_MAX - 2, i < LONG_MAX, i++)
    EACH(long, LONG_MIN + 2, i > LONG_MIN, i--)
    EACH(long, low, i > high, i--)
    EACH(long, LONG_MIN, i > 2, i -= 75)
    EACH(long, LONG_MAX, i >= 0, i -= LONG_MAX / 2)
    EACH(int, -2147483646, i <= 4, i += 1073741825)
    EACH(int, INT_MIN, i > 5, i--)
    EACH(int, INT_MAX - 3, i < INT_MAX, ++i)
}

static void unsigned_ranges(unsigned long low, unsigned long high, unsigned long step)
{
    EACH(unsigned long, 0, i < 18000000000000000000UL, i += 3000000000000000000UL)
    EACH(unsigned long, low, i < high, i += step)
    EACH(unsigned long, high, i > low, i -= step)
    EACH(unsigned long, (unsigned long)LONG_MAX - 3 + low, i < (unsigned long)LONG_MAX + 3, i++)
    EACH(unsigned long, LONG_MAX, i <= LONG_MAX, i++)
    EACH(unsigned long, ULONG_MAX - 4, i < ULONG_MAX, i++)
    EACH(unsigned long, ULONG_MAX - low, i != 3, i++)
    EACH(unsigned long, 2 + low, i != ULONG_MAX - 2, i--)
    EACH(unsigned, UINT_MAX - 5, i != 5, i++)
    EACH(unsigned, 9, i > 0, i += -3u)
    EACH(unsigned char, 250, i != 4, i++)
    EACH(unsigned short, 3, i != 65530, i--)
    EACH(int, -4, (unsigned long)(unsigned)i < UINT_MAX, i++)
    EACH(long, -5, (unsigned long)i < ULONG_MAX, i++)
}

static void addresses(void)
{
    int a[7] = {1, 2, 3, 4, 5, 6, 7}, sums[8] = {0};
    int *end = a + 7;
    for (uintptr_t p = (uintptr_t)a; (int *)p < end; p += sizeof(int)) sums[0] += *(int *)p;
    for (intptr_t p = (intptr_t)(end - 1); (int *)p >= a; p -= sizeof *a) sums[1] += *(int *)p;
    for (uintptr_t p = (uintptr_t)a; (char *)end != (char *)p; p = (uintptr_t)((int *)p + 1)) sums[2] += *(int *)p;
    for (int *p = a; (uintptr_t)p < (uintptr_t)end; p = (int *)((char *)p + 4)) sums[3] += *p;
    for (int *p = a; (char *)p < (char *)a + 26; p++) sums[4] += *p;
    for (int *p = a; (char *)p <= (char *)a + 23; p = (int *)((uintptr_t)p + 8)) sums[5] += *p;
    for (int *p = end - 1; (char *)p > (char *)a + 1; p--) sums[6] += *p;
    for (float f = 0; f < 2.5f; f += .5f) sums[7] += (int)(f * 2);
    int want[] = {28, 28, 28, 28, 28, 9, 27, 10};
    for (int k = 0; k < 8; k++) CHECK_EQ(sums[k], want[k]);
}

static void compared_as_others(int n)
{
    int a[16] = {0}, b[16] = {0}, count = 0;
    enum { LAST = 9 };
    struct { unsigned char at; } part;
#pragma acc parallel loop copy(a)
    for (int i = 0; i < 7.5; i++) a[i] = i;
#pragma acc parallel loop copy(b)
    for (long i = 0; (float)i <= n + .25; i++) b[i] = i;
#pragma acc parallel loop reduction(+:count)
    for (long i = -9000000000000000000; i < 9e18; i += 3000000000000000000) count++;
    CHECK_EQ(count, 6);
    for (part.at = 0; part.at < LAST; part.at++) count++;
    for (_Bool on = 0; on < 1; on = 1) count++;
    CHECK_EQ(count, 16);
    CHECK_EQ(a[7] + a[8], 7);
    CHECK_EQ(b[n] + b[n + 1], n);
}

int main(void)
{
    signed_ranges(-5000000000000000000, 5000000000000000000, 1000000000000000000);
    signed_ranges(-9, 9, 2);
    unsigned_ranges(1, 18000000000000000000UL, 3000000000000000000UL);
    unsigned_ranges(2, 5, 1);
    addresses();
    compared_as_others(11);
    return report();
}
