/*
 * Unsigned subscripts that wrap around to elements of other iterations: the loops of a kernels construct
 * may not run in parallel, whether the sizes are known or not. Those that stay small may.
 */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"
#define N 1024

static int a[N], expected[N];

#define LOOPS(C)                                                                      \
    C(product, for (unsigned i = 0; i < 1000; i++), unsigned k = i * 2147483648u; k = k * 2u; X[k] += i;)        \
    C(known_product, for (unsigned i = 0; i < 1000; i++), X[i * 2147483648u * 2u] = X[0] + i;)                   \
    C(row, for (unsigned i = 0; i < n; i++), X[i * big * 2u] += i;)                        \
    C(shift, for (unsigned i = 0; i < n; i++), X[i << 31 << 1] += i;)                 \
    C(shift_by, for (unsigned i = 0; i < n; i++), X[(i << s << s) + 3] += i;)         \
    C(truncated, for (long i = 0; i < n; i++), int k = (int)(i * (1L << 32)); X[k + 5] += i;)                    \
    C(wide, for (unsigned long i = 0; i < n; i++), X[(i << 32) * 4294967296ul + 7] += i;) \
    C(narrow, for (int i = 0; i < 600; i++), X[(unsigned char)i] += i;)               \
    C(narrow_variable, for (int i = 0; i < 600; i++), unsigned char k = i; X[k * 2] += i;)                       \
    C(narrow_short, for (int i = 0; i < 40; i++), unsigned short k = i * 4096; X[k / 64] += i;)                  \
    C(offset, for (unsigned i = 5; i < n; i++), X[i + minus] = X[i] + 1;)             \
    C(rows, for (unsigned i = 0; i < 30; i++) for (unsigned j = 0; j < 4; j++), X[i * big * 2u + j] += i;)            \
    C(small_rows, for (unsigned i = 0; i < 30; i++) for (unsigned j = 0; j < m; j++), X[i * m + j] += i;)        \
    C(backwards, for (unsigned i = 0; i < n; i++), X[n - 1 - i] += i;)                \
    C(fourth, for (unsigned i = 0; i < n / 4; i++), X[i * 4u] += i;)

#define DEFINE(name, loop, ...)                                                       \
    static void on_device_##name(unsigned n, unsigned m, unsigned big, unsigned minus, unsigned s) \
    {                                                                                 \
        _Pragma("acc kernels copy(X)")                                                \
        loop { __VA_ARGS__ }                                                          \
    }

#define SERIAL(name, loop, ...)                                                       \
    static void in_order_##name(unsigned n, unsigned m, unsigned big, unsigned minus, unsigned s) \
    {                                                                                 \
        loop { __VA_ARGS__ }                                                          \
    }

#define X a
LOOPS(DEFINE)
#undef X
#define X expected
LOOPS(SERIAL)

#define RUN(name, loop, ...)                                                          \
    for (int i = 0; i < N; i++)                                                       \
        a[i] = expected[i] = i % 13;                                                  \
    on_device_##name(200, 7, 1u << 31 << argc / 2, -5, 16);                           \
    in_order_##name(200, 7, 1u << 31 << argc / 2, -5, 16);                            \
    for (int i = 0; i < N; i++)                                                       \
        if (a[i] != expected[i]) {                                                    \
            printf("%s: ", #name);                                                    \
            CHECK_EQ(a[i], expected[i]);                                              \
            break;                                                                    \
        }

int main(int argc, char **argv)
{
    LOOPS(RUN)
    return report();
}
