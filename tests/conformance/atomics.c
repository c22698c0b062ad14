/* atomic: read, write, update and capture in every form, on every type. */
#include "check.h"

#define N 500
#define PRAGMA(text) _Pragma(#text)

#define FORMS(T, suffix)                                                          \
    static void forms_##suffix(void)                                              \
    {                                                                             \
        T x = 10, y = 0, z = 1, w[4] = {1000, 1001, 1002, 1003}, big = 0, seen[N];            \
        int i, ups = 0, hits[N];                                                  \
        PRAGMA(acc parallel loop copy(x, y, w))                                   \
        for (i = 0; i < N; i++) {                                                 \
            PRAGMA(acc atomic)                                                    \
            x++;                                                                  \
            PRAGMA(acc atomic update)                                             \
            --x;                                                                  \
            PRAGMA(acc atomic update)                                             \
            x += 2;                                                               \
            PRAGMA(acc atomic)                                                    \
            x = x - 1;                                                            \
            PRAGMA(acc atomic)                                                    \
            y = 3 + y;                                                            \
            PRAGMA(acc atomic)                                                    \
            w[i % 4] -= 1;                                                        \
        }                                                                         \
        CHECK_NEAR(x, 10 + N);                                                    \
        CHECK_NEAR(y, 3 * N);                                                     \
        for (i = 0; i < 4; i++)                                                   \
            CHECK_NEAR(w[i], 1000 + i - N / 4);                                          \
        PRAGMA(acc parallel loop copy(ups, z) copyout(seen, hits))                \
        for (i = 0; i < N; i++) {                                                 \
            T v;                                                                  \
            int slot;                                                             \
            PRAGMA(acc atomic capture)                                            \
            slot = ups++;                                                         \
            PRAGMA(acc atomic capture)                                            \
            {                                                                     \
                v = z;                                                            \
                z += 2;                                                           \
            }                                                                     \
            seen[slot] = v;                                                       \
            hits[i] = slot;                                                       \
        }                                                                         \
        CHECK_EQ(ups, N);                                                         \
        CHECK_NEAR(z, 1 + 2 * N);                                                 \
        {                                                                         \
            double total = 0, slots = 0;                                          \
            for (i = 0; i < N; i++) {                                             \
                total += seen[i];                                                 \
                slots += hits[i];                                                 \
            }                                                                     \
            CHECK_NEAR(total, (double)N * N);                                     \
            CHECK_NEAR(slots, N * (N - 1) / 2.0);                                 \
        }                                                                         \
        z = 0;                                                                    \
        PRAGMA(acc parallel loop copy(z, x) reduction(max:big))                   \
        for (i = 0; i < N; i++) {                                                 \
            T v, old;                                                             \
            PRAGMA(acc atomic capture)                                            \
            v = ++z;                                                              \
            PRAGMA(acc atomic capture)                                            \
            {                                                                     \
                z = z + 1;                                                        \
                old = z;                                                          \
            }                                                                     \
            PRAGMA(acc atomic write)                                              \
            x = 7;                                                                \
            big = v > big ? v : big;                                              \
            big = old > big ? old : big;                                          \
        }                                                                         \
        CHECK_NEAR(big, 2 * N);                                                   \
        CHECK_NEAR(x, 7);                                                         \
        PRAGMA(acc parallel loop copy(x) copyout(seen))                           \
        for (i = 0; i < N; i++) {                                                 \
            PRAGMA(acc atomic read)                                               \
            seen[i] = x;                                                          \
        }                                                                         \
        CHECK_NEAR(seen[N - 1], 7);                                               \
        x = 100;                                                                  \
        PRAGMA(acc parallel loop copy(x) reduction(+:big))                        \
        for (i = 0; i < 3; i++) {                                                 \
            T old;                                                                \
            PRAGMA(acc atomic capture)                                            \
            {                                                                     \
                old = x;                                                          \
                x = (T)(i + 5);                                                   \
            }                                                                     \
            big += old;                                                           \
        }                                                                         \
        CHECK_NEAR(big + x, 2 * N + 100 + 5 + 6 + 7);                             \
        x = 1;                                                                    \
        PRAGMA(acc parallel loop copy(x))                                         \
        for (i = 0; i < 4; i++) {                                                 \
            PRAGMA(acc atomic)                                                    \
            x *= 3;                                                               \
        }                                                                         \
        CHECK_NEAR(x, 81);                                                        \
        PRAGMA(acc parallel loop copy(x))                                         \
        for (i = 0; i < 2; i++) {                                                 \
            PRAGMA(acc atomic)                                                    \
            x = x / 3;                                                            \
        }                                                                         \
        CHECK_NEAR(x, 9);                                                         \
        PRAGMA(acc parallel loop copy(x))                                         \
        for (i = 0; i < 3; i++) {                                                 \
            PRAGMA(acc atomic)                                                    \
            x = 20 - x;                                                           \
        }                                                                         \
        CHECK_NEAR(x, 11);                                                        \
    }

#define BITS(T, suffix)                                                           \
    static void bits_##suffix(void)                                               \
    {                                                                             \
        T a = 0, o = 0, e = 0, l = 1, r = 64;                                     \
        int i;                                                                    \
        a = (T)~a;                                                                \
        PRAGMA(acc parallel loop copy(a, o, e, l, r))                             \
        for (i = 0; i < 6; i++) {                                                 \
            PRAGMA(acc atomic)                                                    \
            a &= (T) ~((T)1 << i);                                                \
            PRAGMA(acc atomic)                                                    \
            o |= (T)1 << i;                                                       \
            PRAGMA(acc atomic)                                                    \
            e ^= (T)(i % 2 ? 3 : 1);                                              \
            PRAGMA(acc atomic)                                                    \
            l <<= 1;                                                              \
            PRAGMA(acc atomic)                                                    \
            r = r >> 1;                                                           \
        }                                                                         \
        CHECK(a == (T) ~(T)63);                                                   \
        CHECK_EQ(o, 63);                                                          \
        CHECK_EQ(e, 2);                                                           \
        CHECK_EQ(l, 64);                                                          \
        CHECK_EQ(r, 1);                                                           \
    }

FORMS(int, int)
FORMS(unsigned, unsigned)
FORMS(long, long)
FORMS(unsigned long long, ulonglong)
FORMS(float, float)
FORMS(double, double)
BITS(int, int)
BITS(unsigned, unsigned)
BITS(long, long)
BITS(unsigned long long, ulonglong)
BITS(short, short)
BITS(unsigned char, uchar)

static void conditional(int on)
{
    int x = 0, i;
#pragma acc parallel loop copy(x) num_gangs(1) seq
    for (i = 0; i < 10; i++) {
#pragma acc atomic if(!on)
        x++;
    }
    CHECK_EQ(x, 10);
}

struct cell { int count; double sum; };

static void members(void)
{
    struct cell cells[5], *p = cells;
    int i;
    memset(cells, 0, sizeof cells);
#pragma acc parallel loop copy(p[0:5])
    for (i = 0; i < N; i++) {
#pragma acc atomic update
        p[i % 5].count += 1;
#pragma acc atomic
        p[i % 5].sum += 0.5 * i;
    }
    for (i = 0; i < 5; i++) {
        CHECK_EQ(cells[i].count, 100);
        CHECK_NEAR(cells[i].sum, 0.5 * (100 * i + 5 * 4950));
    }
}

int main(void)
{
    forms_int();
    forms_unsigned();
    forms_long();
    forms_ulonglong();
    forms_float();
    forms_double();
    bits_int();
    bits_unsigned();
    bits_long();
    bits_ulonglong();
    bits_short();
    bits_uchar();
    conditional(1);
    members();
    return report();
}
