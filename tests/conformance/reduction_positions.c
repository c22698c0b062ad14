/* Reductions at every level and combination of levels, on one loop and across nested loops. */
#include "check.h"

#define A 5
#define B 6
#define C 33
#define PRAGMA(text) _Pragma(#text)

static int m[A][B][C];
static double d[A][B][C];

static int want_sum(void)
{
    int i, j, k, s = 0;
    for (i = 0; i < A; i++)
        for (j = 0; j < B; j++)
            for (k = 0; k < C; k++)
                s += m[i][j][k];
    return s;
}

/* One loop over everything with each set of levels. */
#define ONE_LOOP(levels)                                                          \
    {                                                                             \
        int s = 10, big = -5, i;                                                  \
        double x = 0.25;                                                          \
        int *flat = &m[0][0][0];                                                  \
        double *dflat = &d[0][0][0];                                              \
        PRAGMA(acc parallel loop levels copyin(flat[0:A * B * C], dflat[0:A * B * C]) \
            reduction(+:s, x) reduction(max:big))                                 \
        for (i = 0; i < A * B * C; i++) {                                         \
            s += flat[i];                                                         \
            x += dflat[i];                                                        \
            big = flat[i] > big ? flat[i] : big;                                  \
        }                                                                         \
        CHECK_EQ(s, 10 + want_sum());                                             \
        CHECK_NEAR(x, 0.25 + 0.5 * want_sum());                                   \
        CHECK_EQ(big, 100);                                                       \
    }

static void one_loop(void)
{
    ONE_LOOP(gang)
    ONE_LOOP(worker)
    ONE_LOOP(vector)
    ONE_LOOP(gang worker)
    ONE_LOOP(gang vector)
    ONE_LOOP(worker vector)
    ONE_LOOP(gang worker vector)
    ONE_LOOP(seq)
    ONE_LOOP(auto)
    ONE_LOOP(independent)
    ONE_LOOP(gang num_gangs(3) vector_length(64))
    ONE_LOOP(gang worker vector num_gangs(2) num_workers(4) vector_length(32))
    ONE_LOOP(vector vector_length(1))
    ONE_LOOP(worker num_workers(3))
}

/* The variable on every loop of a nest. */
static void nested(void)
{
    int i, j, k, s = 1, w = want_sum();
    double x = 1;

#pragma acc parallel loop gang reduction(+:s)
    for (i = 0; i < A; i++)
#pragma acc loop worker reduction(+:s)
        for (j = 0; j < B; j++)
#pragma acc loop vector reduction(+:s)
            for (k = 0; k < C; k++)
                s += m[i][j][k];
    CHECK_EQ(s, 1 + w);

    s = 2;
#pragma acc parallel loop gang reduction(+:s, x)
    for (i = 0; i < A; i++)
#pragma acc loop worker vector collapse(2) reduction(+:s, x)
        for (j = 0; j < B; j++)
            for (k = 0; k < C; k++) {
                s += m[i][j][k];
                x += d[i][j][k];
            }
    CHECK_EQ(s, 2 + w);
    CHECK_NEAR(x, 1 + 0.5 * w);

    s = 3;
#pragma acc parallel loop gang worker reduction(+:s)
    for (i = 0; i < A; i++)
#pragma acc loop seq reduction(+:s)
        for (j = 0; j < B; j++)
#pragma acc loop vector reduction(+:s)
            for (k = 0; k < C; k++)
                s += m[i][j][k];
    CHECK_EQ(s, 3 + w);

    s = 4;
#pragma acc parallel reduction(+:s) num_gangs(1)
    {
#pragma acc loop worker reduction(+:s)
        for (i = 0; i < A; i++)
            for (j = 0; j < B; j++)
#pragma acc loop vector reduction(+:s)
                for (k = 0; k < C; k++)
                    s += m[i][j][k];
    }
    CHECK_EQ(s, 4 + w);

    s = 5;
#pragma acc parallel loop reduction(+:s) collapse(3)
    for (i = 0; i < A; i++)
        for (j = 0; j < B; j++)
            for (k = 0; k < C; k++)
                s += m[i][j][k];
    CHECK_EQ(s, 5 + w);

    s = 6;
#pragma acc parallel copyin(m) copy(s)
    {
#pragma acc loop gang reduction(+:s)
        for (i = 0; i < A; i++) {
            int part = 0;
#pragma acc loop vector reduction(+:part)
            for (j = 0; j < B; j++)
#pragma acc loop seq
                for (k = 0; k < C; k++)
                    part += m[i][j][k];
            s += part;
        }
    }
    CHECK_EQ(s, 6 + w);
}

/* The result of an inner reduction is used by the code of the outer loop, in every iteration. */
static void inner(void)
{
    int i, j, k, rows[A], cells[A][B], s, big;

#pragma acc parallel loop gang private(s) copyout(rows)
    for (i = 0; i < A; i++) {
        s = 100;
#pragma acc loop worker vector reduction(+:s)
        for (j = 0; j < B * C; j++)
            s += m[i][j / C][j % C];
        rows[i] = s;
    }
#pragma acc parallel loop gang worker collapse(2) private(s, big) copyout(cells)
    for (i = 0; i < A; i++)
        for (j = 0; j < B; j++) {
            s = i;
            big = -1;
#pragma acc loop vector reduction(+:s) reduction(max:big)
            for (k = 0; k < C; k++) {
                s += m[i][j][k];
                big = m[i][j][k] > big ? m[i][j][k] : big;
            }
            cells[i][j] = s * 1000 + big;
        }
    for (i = 0; i < A; i++) {
        int total = 0;
        for (j = 0; j < B; j++) {
            int c = i, top = -1;
            for (k = 0; k < C; k++) {
                c += m[i][j][k];
                top = m[i][j][k] > top ? m[i][j][k] : top;
            }
            total += c - i;
            CHECK_EQ(cells[i][j], c * 1000 + top);
        }
        CHECK_EQ(rows[i], 100 + total);
    }
    /* several in a row, the next using the one before, as in a normalisation */
#pragma acc parallel loop gang copyout(rows)
    for (i = 0; i < A; i++) {
        double mean = 0, var = 0;
#pragma acc loop vector reduction(+:mean)
        for (j = 0; j < C; j++)
            mean += m[i][0][j];
        mean /= C;
#pragma acc loop vector reduction(+:var)
        for (j = 0; j < C; j++)
            var += (m[i][0][j] - mean) * (m[i][0][j] - mean);
        rows[i] = (int)(var + 0.5);
    }
    for (i = 0; i < A; i++) {
        double mean = 0, var = 0;
        for (j = 0; j < C; j++)
            mean += m[i][0][j];
        mean /= C;
        for (j = 0; j < C; j++)
            var += (m[i][0][j] - mean) * (m[i][0][j] - mean);
        CHECK_EQ(rows[i], (int)(var + 0.5));
    }
}

/* Arrays, sections of arrays, struct members by name of a whole struct. */
static void aggregates(void)
{
    int i, bins[8], n = 400;
    long part[10];

    for (i = 0; i < 8; i++)
        bins[i] = i;
    for (i = 0; i < 10; i++)
        part[i] = 1000;
#pragma acc parallel loop reduction(+:bins)
    for (i = 0; i < n; i++)
        bins[i % 8] += i;
    for (i = 0; i < 8; i++)
        CHECK_EQ(bins[i], i + 50 * i + 8 * 49 * 50 / 2);
#pragma acc parallel loop reduction(+:part[2:4])
    for (i = 0; i < n; i++)
        part[2 + i % 4] += 1;
    for (i = 0; i < 10; i++)
        CHECK_EQ(part[i], i >= 2 && i < 6 ? 1100 : 1000);
}

int main(void)
{
    int i, j, k;
    for (i = 0; i < A; i++)
        for (j = 0; j < B; j++)
            for (k = 0; k < C; k++) {
                m[i][j][k] = (i * 17 + j * 5 + k * 3) % 101;
                d[i][j][k] = 0.5 * m[i][j][k];
            }
    m[2][3][4] = 100;
    d[2][3][4] = 50;
    one_loop();
    nested();
    inner();
    aggregates();
    return report();
}
