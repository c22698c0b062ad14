/* The research extension `loop scan`: every operator and type, levels, places and lengths. */
#include <stdio.h>
#include <stdlib.h>
#include "check.h"

static unsigned state = 1;
static int next(void) { return (state = state * 1103515245u + 12345u) >> 16 & 0x7fff; }

#define N 5003
#define DO(directive) _Pragma(#directive)
#define SCAN(NAME, T, OP, EXPR, VALUE)                                                            \
    static void NAME(int n)                                                                       \
    {                                                                                             \
        T *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out), want;                     \
        for (int i = 0; i < n; i++)                                                               \
            in[i] = VALUE;                                                                        \
        want = out[0] = in[0];                                                                    \
        DO(acc parallel loop scan(OP: in, out, 0, n) copyin(in[0:n]) copy(out[0:n]))              \
        for (int i = 1; i < n; i++)                                                               \
            out[i] = EXPR(out[i - 1], in[i]);                                                     \
        int bad = 0;                                                                              \
        for (int i = 1; i < n; i++) {                                                             \
            want = EXPR(want, in[i]);                                                             \
            bad += out[i] != want;                                                                \
        }                                                                                         \
        CHECK(bad == 0);                                                                          \
        free(in), free(out);                                                                      \
    }
#define ADD(a, b) (a) + (b)
#define MUL(a, b) (b) * (a)
#define MAX(a, b) (a) > (b) ? (a) : (b)
#define MIN(a, b) (b) >= (a) ? (a) : (b)
#define AND(a, b) (a) & (b)
#define OR(a, b) (a) | (b)
#define XOR(a, b) (a) ^ (b)
#define LAND(a, b) (a) && (b)
#define LOR(a, b) (a) || (b)

SCAN(add_char, char, +, ADD, next())
SCAN(add_ushort, unsigned short, +, ADD, next())
SCAN(add_int, int, +, ADD, next() - 16000)
SCAN(add_long, long, +, ADD, (long)next() << 20)
SCAN(add_float, float, +, ADD, next() % 64)
SCAN(add_double, double, +, ADD, next() * 0.25)
SCAN(mul_uint, unsigned, *, MUL, next() | 1)
SCAN(mul_double, double, *, MUL, next() & 1 ? 2.0 : 0.5)
SCAN(max_short, short, max, MAX, next() - 16000)
SCAN(max_uint, unsigned, max, MAX, (unsigned)next() << 17)
SCAN(max_double, double, max, MAX, next() * -1.5)
SCAN(min_int, int, min, MIN, next() - 5)
SCAN(min_ulong, unsigned long, min, MIN, ~0ul - next())
SCAN(min_float, float, min, MIN, next())
SCAN(and_uint, unsigned, &, AND, ~(next() & next() & next() & next() & 0xff))
SCAN(or_long, long, |, OR, 1L << (next() % 62))
SCAN(xor_uchar, unsigned char, ^, XOR, next())
SCAN(land_int, int, &&, LAND, next() % 1000)
SCAN(lor_int, int, ||, LOR, next() % 1000 == 0)

static void exclusive(int n, int first)
{
    int *in = malloc(n * sizeof *in);
    long *out = malloc(n * sizeof *out);
    for (int i = 0; i < n; i++)
        in[i] = next();
#pragma acc parallel loop scan(+: in, out, first, n) copyin(in[0:n]) copyout(out[0:n])
    for (int i = 0; i < n - 1; ++i)
        out[i + 1] = in[i] + out[i];
    long want = first, bad = 0;
    for (int i = 0; i < n; i++) {
        if (n > 1)
            bad += out[i] != want;
        want += in[i];
    }
    CHECK(bad == 0);
    free(in), free(out);
}

/* Part of an array, in place, not aligned; what lies around it stays as it is. */
static void in_place(void)
{
    static double a[N];
    for (int i = 0; i < N; i++)
        a[i] = i % 10;
#pragma acc data copy(a)
    {
#pragma acc parallel loop scan(+: a, a, 0, 4001) vector_length(64)
        for (int i = 101; i < 4101; i++)
            a[i] += a[i - 1];
    }
    double want = a[99] == 9 ? a[100] : -1;
    int bad = 0;
    for (int i = 101; i < 4101; i++)
        bad += a[i] != (want += i % 10);
    for (int i = 4101; i < N; i++)
        bad += a[i] != i % 10;
    CHECK(bad == 0);
}

/* Rows, each scanned by the lanes of a gang, or of a worker. */
#define ROWS 37
static void rows(int n)
{
    static float in[ROWS][700], out[ROWS][700], other[ROWS][700];
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < n; i++)
            in[r][i] = next() % 8;
#pragma acc parallel copyin(in) copyout(out, other) vector_length(128)
    {
#pragma acc loop gang
        for (int r = 0; r < ROWS; r++) {
            out[r][0] = in[r][0];
#pragma acc loop vector scan(+: in, out, 0, n)
            for (int i = 1; i < n; i++)
                out[r][i] = out[r][i - 1] + in[r][i];
        }
    }
#pragma acc parallel loop gang worker num_workers(4) vector_length(32) copyin(in) copy(other)
    for (int r = 0; r < ROWS; r++) {
#pragma acc loop vector scan(max: in, other, -1, n)
        for (int i = 1; i < n; i++)
            other[r][i] = other[r][i - 1] > in[r][i - 1] ? other[r][i - 1] : in[r][i - 1];
    }
    int bad = 0;
    for (int r = 0; r < ROWS && n > 1; r++) {
        float sum = 0, most = -1;
        for (int i = 0; i < n; i++) {
            bad += out[r][i] != (sum += in[r][i]);
            bad += other[r][i] != most;
            most = most > in[r][i] ? most : in[r][i];
        }
    }
    CHECK(bad == 0);
}

/* In a routine, in `kernels`, in `serial`, after a loop without levels, and twice in one construct. */
#pragma acc routine vector
static void scan_row(int n, const int *in, int *out)
{
#pragma acc loop vector scan(+: in, out, 0, n)
    for (int i = 1; i < n; i++)
        out[i] = out[i - 1] + in[i];
}

static void places(int n)
{
    int *in = malloc(n * sizeof *in), *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    int *c = malloc(n * sizeof *c), *d = malloc(n * sizeof *d), *e = malloc(n * sizeof *e);
    for (int i = 0; i < n; i++)
        in[i] = next() % 100;
    a[0] = b[0] = c[0] = d[0] = e[0] = in[0];
#pragma acc data copyin(in[0:n]) copy(a[0:n], b[0:n], c[0:n], d[0:n], e[0:n])
    {
#pragma acc parallel num_gangs(1)
        scan_row(n, in, a);
#pragma acc kernels
        {
#pragma acc loop scan(+: in, b, 0, n)
            for (int i = 1; i < n; i++)
                b[i] = b[i - 1] + in[i];
#pragma acc loop independent
            for (int i = 0; i < n; i++)
                b[i] *= 2;
        }
#pragma acc serial loop scan(+: in, c, 0, n)
        for (int i = 1; i < n; i++)
            c[i] = c[i - 1] + in[i];
        for (int round = 0; round < 3; round++) {
#pragma acc parallel async(round)
            {
#pragma acc loop gang worker vector scan(+: in, d, 0, n)
                for (unsigned i = 1; i < n; i++)
                    d[i] = d[i - 1] + in[i];
#pragma acc loop gang scan(*: in, e, 1, n)
                for (int i = 1; i < n; i++)
                    e[i] = in[i - 1] * e[i - 1];
            }
        }
#pragma acc wait
    }
    int bad = 0;
    unsigned sum = 0, product = 1;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        bad += a[i] != sum || b[i] != 2 * sum || c[i] != sum || d[i] != sum;
        bad += (unsigned)e[i] != product;
        product *= in[i];
    }
    CHECK(bad == 0);
    free(in), free(a), free(b), free(c), free(d), free(e);
}

int main(void)
{
    add_char(N), add_ushort(N), add_int(N), add_long(N), add_float(N), add_double(N);
    mul_uint(N), mul_double(64), max_short(N), max_uint(N), max_double(N), min_int(N);
    min_ulong(N), min_float(N), and_uint(N), or_long(N), xor_uchar(N), land_int(N), lor_int(N);
    for (int n = 1; n < 100000; n = n * 3 + 1)
        add_int(n), exclusive(n, n);
    in_place();
    rows(1), rows(31), rows(700);
    places(2), places(3000);
    return report();
}
