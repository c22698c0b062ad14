/* _Float16 (C23 6.2.5, H.2.3): values are evaluated in float (5.2.4.2.2, FLT_EVAL_METHOD 0) and rounded where
   they are converted to the type. */
#define __STDC_WANT_IEC_60559_TYPES_EXT__ 1
#include "check.h"
#include <float.h>
#include <stdarg.h>

#define N 200

struct pair { char tag; _Float16 x, y[2]; };
union bits { _Float16 half; unsigned short word; };
typedef float __attribute__((mode(HF))) by_mode;

static _Float16 tenth = 0.1f16, three = 3.3F16, big = 65504;
static const _Float16 table[5] = {0x1.8p3f16, -2.5, 1 / 3.0, [4] = __builtin_inff16()};
_Float16 scale = 2.5f16, zero;
#pragma acc declare copyin(table, scale, zero)

_Static_assert(sizeof(_Float16) == 2 && _Alignof(_Float16) == 2 && sizeof(by_mode) == 2, "");
_Static_assert(sizeof(struct pair) == 8 && sizeof(1.0f16 + 1.0f16) == 2, "");
_Static_assert(_Generic(1.0f16 + 1, _Float16: 1, default: 0), "an integer converts");
_Static_assert(_Generic(-1.0f16, _Float16: 1, default: 0), "no promotion");
_Static_assert(_Generic(1.0f16 * 1.0f, float: 1, default: 0), "float has more digits");
_Static_assert(0.1f16 != (_Float16)0.1f16 && (int)2.9f16 == 2, "");
_Static_assert(FLT16_MAX == 65504 && FLT16_EPSILON == 0x1p-10 && FLT16_MIN == 0x1p-14, "");
_Static_assert(FLT16_TRUE_MIN == 0x1p-24 && FLT16_MANT_DIG == 11 && __FLT16_MAX_10_EXP__ == 4, "");

#pragma acc routine seq
static _Float16 product(_Float16 a, _Float16 b) { return a * b; }

static double sum_of(int n, ...)
{
    va_list more;
    double sum = 0;
    va_start(more, n);
    for (int i = 0; i < n; i++) {
        sum += va_arg(more, _Float16);
        sum += va_arg(more, struct pair).y[1];
    }
    va_end(more);
    return sum;
}

static unsigned bits_of(_Float16 x) { return ((union bits){x}).word; }

/* A value is rounded where it becomes a _Float16, and only there. */
static void evaluation(void)
{
    float kept = tenth * three, assigned;
    _Float16 rounded = tenth * three;
    int one = 1;
    CHECK(kept == 0.32999754f && (double)rounded == 0.330078125);
    CHECK((float)(tenth * three) == kept && (double)product(tenth, three) == (double)rounded);
    CHECK((one ? tenth * three : tenth) == kept && -(tenth * three) == -kept);
    CHECK((0, tenth * three) == kept && (one ? 100000 : tenth) == 100000);
    CHECK((assigned = rounded = tenth * three) == rounded && assigned != kept);
    CHECK(big + big == 131008 && (_Float16)(big + big) == __builtin_huge_valf16());
    CHECK(tenth * 1e-4f16 * 1e-4f16 ? 1 : 0);
    CHECK(0.1f16 * 10 == 1 && 0.1f16 != tenth);
    rounded = 2047;
    CHECK(rounded++ == 2047 && rounded++ == 2048 && rounded == 2048 && --rounded == 2047);
    rounded += 2.5f;
    CHECK(rounded == 2050);
    rounded *= 0.1f16;
    CHECK((double)rounded == 205);
    one = 70000;
    one += tenth * 10;
    CHECK_EQ(one, 70001);
    one *= three;
    CHECK_EQ(one, 231057);
    CHECK(!zero && (tenth && three) && !(zero || 0.0f16) && tenth < three && three != tenth);
}

/* Conversions round once, to even, from every type. */
static void conversions(void)
{
    volatile double tie = 1 + 0x1p-11, above = tie + 0x1p-40, least = 0x1p-25;
    volatile long double next = tie + 0x1p-60L;
    volatile long long whole = 65519, beyond = 65520;
    volatile unsigned char byte = 255;
    CHECK(bits_of(tie) == 0x3c00 && bits_of(above) == 0x3c01 && bits_of((float)above) == 0x3c00);
    CHECK(bits_of(-tie) == 0xbc00 && bits_of(-above) == 0xbc01 && bits_of(-next) == 0xbc01);
    CHECK(bits_of(least) == 0 && bits_of(least * 1.0000000001) == 1 && bits_of(-1e-300) == 0x8000);
    CHECK(bits_of(next) == (LDBL_MANT_DIG > 53 ? 0x3c01 : 0x3c00) && bits_of(1e300) == 0x7c00);
    CHECK(bits_of(1 + 0x1p-11L + 0x1p-60L) == (LDBL_MANT_DIG > 53 ? 0x3c01 : 0x3c00));
    CHECK(bits_of(whole) == 0x7bff && bits_of(beyond) == 0x7c00 && bits_of(-beyond) == 0xfc00);
    CHECK(bits_of(byte) == 0x5bf8 && bits_of((__int128)whole * 3) == 0x7c00);
    CHECK((long double)tenth == (double)tenth && (int)-three == -3 && (_Bool)1e-8f16);
    for (unsigned i = 0; i < 0x7c00; i++) {
        union bits each = {.word = i};
        if ((_Float16)(double)each.half != each.half || bits_of((long double)each.half) != i)
            CHECK_EQ(i, -1);
    }
}

static void objects(void)
{
    struct pair p = {1, 2, {3, 0.1f16}}, q = p;
    _Float16 list[3] = {1, 2.5}, *at = list + 1;
    _Complex float z = three;
    _Atomic _Float16 shared = 1;
    q.y[0] += q.x;
    *at -= 0.5f16;
    shared += 2;
    shared++;
    shared = shared * 3;
    CHECK(q.y[0] == 5 && list[1] == 2 && list[2] == 0 && shared == 12);
    CHECK(table[0] == 12 && bits_of(table[2]) == 0x3555 && table[3] == 0 && isinf(table[4]));
    CHECK(__real__(z + three) == 2 * three && isnan(__builtin_nanf16("")) && !isnan(three));
    CHECK(signbit(-zero) && __builtin_fabsf16(-three) == three);
    CHECK(__builtin_copysignf16(three, -1) == -three && sqrtf(product(3, 3)) == 3);
    CHECK_NEAR(sum_of(2, tenth, p, three, q), 4 * (double)tenth - (double)tenth + three);
}

/* The same on the device. */
static void kernels(void)
{
    static _Float16 a[N], b[N], r[N], t[16][16];
    _Float16 outer = 3, mine = 1, last = 0;
    double exact = 0;
    float wide[N];
    int whole[N];
    for (int i = 0; i < N; i++) {
        a[i] = i % 37 * 0.25f16;
        b[i] = i % 11 - 5;
    }
#pragma acc parallel loop firstprivate(outer) private(mine) copyout(r, wide, whole)
    for (int i = 0; i < N; i++) {
        struct pair p = {1, a[i], {b[i], scale}};
        mine = p.x / outer;
        mine += 1;
        r[i] = product(mine, p.y[1]) + tenth;
        wide[i] = p.x * p.y[0] * 0.1f16 + table[i % 3];
        whole[i] = p.x * 1000;
    }
    for (int i = 0; i < N; i++) {
        _Float16 m = (_Float16)((_Float16)(a[i] / 3.0f) + 1.0f), f = m * 2.5f;
        CHECK(r[i] == (_Float16)((float)f + (float)tenth) && whole[i] == (float)a[i] * 1000);
        CHECK_NEAR(wide[i], (float)a[i] * (float)b[i] * 0.1f + (float)table[i % 3]);
    }
#pragma acc data copyin(a) create(r)
    {
        a[5] = 100;
#pragma acc update device(a[5:1])
#pragma acc parallel loop
        for (int i = 0; i < N; i++)
            r[i] = i ? a[i] - a[i - 1] : 0;
#pragma acc update self(r[0:20])
    }
    CHECK(r[5] == 99 && r[6] == -98.5f16 && r[19] == 0.25f16);
    a[5] = 1.25f16;
    r[0] = a[0];
#pragma acc parallel loop scan(+ : a, r, 0, 40)
    for (int i = 1; i < 40; i++)
        r[i] = r[i - 1] + a[i];
    CHECK(r[36] == 166.5f16 && r[39] == 167.25f16);
#pragma acc parallel loop tile(4, 4) copyout(t)
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            t[i][j] = i * 16 + j;
#pragma acc parallel loop copyin(a) copyout(r)
    for (int i = 0; i < N - 2; i++) {
#pragma acc cache(a[i:3])
        r[i] = a[i] + a[i + 1] * a[i + 2];
    }
    CHECK(t[15][14] == 254 && r[2] == 1.25f16);
#pragma acc serial copyout(exact, last) copyin(big)
    {
        exact = big + big;
        last = 1 + 0x1p-11 + 0x1p-40 * big;
    }
    CHECK(exact == 131008 && bits_of(last) == 0x3c01);
}

static void reductions(void)
{
    static _Float16 a[N], b[N];
    _Float16 sum = 0, most = -1000, least = 1000, powers = 1, any = 0, all = 1, parts[4] = {0};
    _Float16 scaled = 0, rows[8];
    float single = 0;
    for (int i = 0; i < N; i++) {
        a[i] = i * 7 % 37 - 11;
        b[i] = i % 4;
    }
#pragma acc parallel loop reduction(+ : sum, single) reduction(max : most) reduction(min : least)
    for (int i = 0; i < N; i++) {
        sum += b[i];
        single += b[i] * 0.5f16;
        most = a[i] > most ? a[i] : most;
        if (a[i] < least)
            least = a[i];
    }
    CHECK(sum == 300 && single == 150 && most == 25 && least == -11);
#pragma acc parallel loop gang vector reduction(* : powers) reduction(|| : any) reduction(&& : all)
    for (int i = 0; i < 10; i++) {
        powers *= 2;
        any = any || a[i] > 20;
        all = all && b[i] < 4;
    }
    CHECK(powers == 1024 && any == 1 && all == 1);
#pragma acc parallel loop reduction(+ : parts)
    for (int i = 0; i < N; i++)
        parts[i % 4] += b[i];
    CHECK(parts[0] == 0 && parts[1] == 50 && parts[2] == 100 && parts[3] == 150);
#pragma acc parallel loop gang copyout(rows)
    for (int i = 0; i < 8; i++) {
        _Float16 row = 0;
#pragma acc loop worker vector reduction(+ : row)
        for (int j = 0; j < 32; j++)
            row += b[j] * i;
        rows[i] = row;
    }
    CHECK(rows[7] == 336 && rows[1] == 48);
#pragma acc parallel loop
    for (int i = 0; i < 16; i++)
        scaled += i * 0.25;
    CHECK(scaled == 30);
}

static void atomics(void)
{
    _Float16 count = 0, product_ = 1, seen[16], place = 0, pair[2] = {0, 100};
#pragma acc parallel loop copy(count, product_, place, pair) copyout(seen)
    for (int i = 0; i < 16; i++) {
        _Float16 mine;
#pragma acc atomic update
        count += 0.5f16;
#pragma acc atomic
        product_ = product_ * (i < 8 ? 2.0f : 0.5f);
#pragma acc atomic
        pair[1]--;
#pragma acc atomic capture
        {
            mine = place;
            place = place + 1;
        }
        seen[(int)mine] = mine * 2;
#pragma acc atomic write
        pair[0] = 7;
#pragma acc atomic read
        mine = pair[0];
        if (mine != 7 && mine != 0)
            seen[0] = -1;
    }
    CHECK(count == 8 && product_ == 1 && pair[0] == 7 && pair[1] == 84 && place == 16);
    for (int i = 0; i < 16; i++)
        CHECK(seen[i] == i * 2);
}

int main(void)
{
    evaluation();
    conversions();
    objects();
    kernels();
    reductions();
    atomics();
    return report();
}
