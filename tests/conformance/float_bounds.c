// Loops under directives whose bounds are floating-point numbers: counted before they run, as C compares.
#include "check.h"

#define SAME(TYPE, FIRST, CONDITION, STEP, BOUND)                                  \
    do {                                                                          \
        double b = BOUND;                                                         \
        int n = 0, m = 0;                                                         \
        _Pragma("acc parallel loop reduction(+:n) copyin(b)")                      \
        for (TYPE i = FIRST; CONDITION; STEP) n += 1 + (int)i % 3;                 \
        for (TYPE i = FIRST; CONDITION; STEP) m += 1 + (int)i % 3;                 \
        CHECK_EQ(n, m);                                                           \
    } while (0)

static const double up[] = {7.5, 7, 7.0000001, -0.5, -1, -7.25, 0, 100.25, -1e300, NAN, 3.999999999999};
static const double down[] = {7.5, 7, -7.0000001, -0.5, -1, -7.25, 0, 1e300, NAN, INFINITY};

int main(int count, char **arguments)
{
    for (int k = 0; k < 11; k++) {
        SAME(int, -3, i < b, i++, up[k]);
        SAME(int, -3, i <= b, i += 2, up[k]);
        SAME(unsigned, 2, i < b, i++, up[k]);
        SAME(unsigned char, 2, b > i, i += 3, up[k] > 200 ? 5 : up[k]);
        SAME(long, -9, b >= i, i++, up[k]);
    }
    for (int k = 0; k < 10; k++) {
        SAME(int, 12, i > b, i--, down[k]);
        SAME(int, 12, i >= b, i -= 2, down[k]);
        SAME(long, 12, b < i, i--, down[k]);
        SAME(short, 12, b <= i, i -= 3, down[k]);
    }
    int a[16] = {0};
    float f = count + 5.5f;
#pragma acc parallel loop copy(a)
    for (int i = 0; i < f; i++) a[i] = i + 1;
    CHECK_EQ(a[6], 7);
    CHECK_EQ(a[7], 0);
#pragma acc kernels copy(a)
    for (int i = 0; i < 3 * 1.5; i++) {
        a[i] = 0;
        for (int k = 0; k < i * 0.5; k++) a[i] += k + 1;
    }
    CHECK_EQ(a[1], 1);
    CHECK_EQ(a[4], 3);
    CHECK_EQ(a[5], 6);
    const double large[] = {1.5e19, 9.3e18, 1e19 + 2048, 3e18, 0, -1, NAN};
    const unsigned long top = 18000000000000000000UL, quintillion = 1000000000000000000UL;
    for (int k = 0; k < 7; k++) {
        SAME(unsigned long, 0, i < b, i += quintillion, large[k]);
        SAME(unsigned long, quintillion, b >= i, i += quintillion, large[k]);
        SAME(long, -8 * (long)quintillion, i <= b, i += 5 * quintillion, large[k] / 4);
        if (large[k] > 0) SAME(unsigned long, top, i > b, i -= quintillion, large[k]);
        if (large[k] > 0) SAME(unsigned long, top, b <= i, i -= quintillion / 2, large[k]);
    }
    return report();
}
