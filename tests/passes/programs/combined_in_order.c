/*
 * Sums over subscripts that combine two loops' variables, in the order that the program gives: every bit as a
 * loop on the host has it. Prints how many differ.
 */
#include <stdio.h>
#include <string.h>

enum { MOST = 1040 };
static float a[2 * MOST + 8], b[2 * MOST + 8], c[MOST], w[MOST];

static void fill(void)
{
    for (int i = 0; i < 2 * MOST + 8; i++) {
        /* products are exact, so that it is all one whether they are rounded before they are added */
        a[i] = (float)((i * 7919) % 251 - 125) * (float)(1 << i % 11);
        b[i] = (float)((i * 104729) % 199 - 99) / (float)(1 << i % 13);
    }
}

static int differ(const char *name, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += memcmp(&c[i], &w[i], sizeof c[i]) != 0;
    if (wrong)
        printf("%s, %d: %d differ\n", name, n, wrong);
    return wrong;
}

#define XOR(i, k) ((i) ^ (k))
#define SUM(i, k) ((i) + (k))
#define CASE(name, directive, at, low, first, start)                                                  \
    static void name(int n, int m, int lo, const float *restrict p, const float *restrict q,       \
                     float *restrict r)                                                              \
    {                                                                                                \
        directive for (int k = low; k < n; k++)                                              \
        {                                                                                            \
            float sum = start;                                                                       \
            for (int i = first; i < m; i++)                                                          \
                sum += p[i] * q[at(i, k)];                                                           \
            r[k] = sum;                                                                              \
        }                                                                                            \
    }
#define GPU _Pragma("acc parallel loop copyin(p[0:1040], q[0:2048]) copy(r[0:n])")
CASE(xor_device, GPU, XOR, lo, 0, 1.5f)
CASE(xor_host, , XOR, lo, 0, 1.5f)
CASE(tiles_device, GPU, XOR, 0, 0, p[k])
CASE(tiles_host, , XOR, 0, 0, p[k])
CASE(sum_device, GPU, SUM, lo, 3, p[k])
CASE(sum_host, , SUM, lo, 3, p[k])

static int check(int n, int m, int lo, int shift)
{
    int wrong = 0;
    const float *p = a + shift, *q = b;
    memset(c, 0, sizeof c), memset(w, 0, sizeof w);
    xor_device(n, m, lo, p, q, c);
    xor_host(n, m, lo, p, q, w);
    wrong += differ("xor", n);
    memset(c, 0, sizeof c), memset(w, 0, sizeof w);
    sum_device(n, m, lo, p, q, c);
    sum_host(n, m, lo, p, q, w);
    return wrong + differ("sum", n);
}

/* Rows and steps from 0: whole gangs of groups of four read from shared memory. */
static int check_tiles(int n, int m, int shift)
{
    const float *p = a + shift, *q = b;
    memset(c, 0, sizeof c), memset(w, 0, sizeof w);
    tiles_device(n, m, 0, p, q, c);
    tiles_host(n, m, 0, p, q, w);
    return differ("tiles", n);
}

int main(void)
{
    fill();
    int wrong = check(140, 300, 0, 0) + check(6, 517, 1, 1) + check(35, 256, 3, 0) + check(16, 40, 0, 0);
    wrong += check_tiles(521, 1031, 0) + check_tiles(516, 512, 1) + check_tiles(300, 530, 0) + check_tiles(8, 300, 0);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
