/* Loops that keep where the greatest or least value is: ties, NaNs, empty loops, in rows and in kernels. */
#include "check.h"

#define ROWS 40
#define COLS 70

static float a[ROWS][COLS];
static double b[ROWS * COLS];
static unsigned u[ROWS][COLS];
static int where[ROWS], expected[ROWS];
static float value[ROWS];

#define CHECK_ROWS(what)                                 \
    for (int r = 0; r < ROWS; r++)                       \
        if (where[r] != expected[r]) {                   \
            printf("row %d: %d, not %d\n", r, where[r], expected[r]); \
            CHECK(!what);                                \
        }

static void first_greatest(int cols)
{
#pragma acc parallel loop copyin(a) copyout(where, value)
    for (int r = 0; r < ROWS; r++) {
        float most = a[r][0];
        int place = 0;
        for (int c = 1; c < cols; c++)
            if (a[r][c] > most) {
                most = a[r][c];
                place = c;
            }
        where[r] = place;
        value[r] = most;
    }
    for (int r = 0; r < ROWS; r++) {
        expected[r] = 0;
        for (int c = 1; c < cols; c++)
            if (a[r][c] > a[r][expected[r]])
                expected[r] = c;
        float e = a[r][expected[r]];
        CHECK(value[r] == e ? !signbit(value[r]) == !signbit(e) : isnan(value[r]) && isnan(e));
    }
    CHECK_ROWS("first_greatest");
}

static void last_least(int cols)
{
    float least;
    int place, r, c;

#pragma acc parallel loop private(least, place, c) copyin(a) copyout(where)
    for (r = 0; r < ROWS; r++) {
        least = 1e30f;
        place = -1;
        for (c = 0; c < cols; c++)
            if (least >= a[r][c]) {
                place = c;
                least = a[r][c];
            }
        where[r] = place;
    }
    for (r = 0; r < ROWS; r++) {
        least = 1e30f;
        expected[r] = -1;
        for (c = 0; c < cols; c++)
            if (a[r][c] <= least)
                least = a[r][c], expected[r] = c;
    }
    CHECK_ROWS("last_least");
}

/* Integers, a value from another array, a sum beside the search. */
static void with_payload(void)
{
    unsigned sums[ROWS];

#pragma acc parallel loop copyin(a, u) copyout(where, value, sums)
    for (int r = 0; r < ROWS; r++) {
        unsigned most = 0, s = 0;
        float other = -1;
        int place = 7;
        for (int c = 0; c < COLS; c++)
            s += u[r][c];
        for (int c = 0; c < COLS; c++) {
            unsigned v = u[r][c] ^ 0x80000000u;
            if (v > most) {
                most = v;
                other = a[r][COLS - 1 - c] + 1;
                place = 3 * c;
            }
        }
        sums[r] = s;
        where[r] = place;
        value[r] = other;
    }
    for (int r = 0; r < ROWS; r++) {
        unsigned most = 0, s = 0;
        float other = -1;
        expected[r] = 7;
        for (int c = 0; c < COLS; c++) {
            unsigned v = u[r][c] ^ 0x80000000u;
            s += u[r][c];
            if (v > most)
                most = v, other = a[r][COLS - 1 - c] + 1, expected[r] = 3 * c;
        }
        CHECK(sums[r] == s);
        CHECK(value[r] == other || (isnan(value[r]) && isnan(other)));
    }
    CHECK_ROWS("with_payload");
}

/* A pivot: the whole region is one search. */
static void pivot(int n, int from)
{
    double big = 0;
    int p = from;

#pragma acc kernels copyin(b)
    for (int i = from; i < n; i++) {
        double t = b[i] < 0 ? -b[i] : b[i];
        if (t > big) {
            big = t;
            p = i;
        }
    }
    double e = 0;
    int q = from;
    for (int i = from; i < n; i++)
        if (fabs(b[i]) > e)
            e = fabs(b[i]), q = i;
    CHECK_EQ(p, q);
    CHECK(big == e);
}

/* Variables of the region, and a difference as the value. */
static void nearest(int n, double x)
{
    int found[1];
    double distance[1];

#pragma acc kernels copyin(b) copyout(found, distance)
    {
        double near = 1e300;
        int place = -1;
        for (int i = 0; i < n; i++)
            if (fabs(b[i] - x) < near) {
                near = fabs(b[i] - x);
                place = i;
            }
        found[0] = place;
        distance[0] = near;
    }
    double near = 1e300;
    int place = -1;
    for (int i = 0; i < n; i++)
        if (fabs(b[i] - x) < near)
            near = fabs(b[i] - x), place = i;
    CHECK_EQ(found[0], place);
    CHECK(distance[0] == near);
}

/* No data clause: the elements that the search reads are known from its loops. */
static void without_clause(unsigned rows, long cols, const float *p, int *best)
{
#pragma acc parallel loop
    for (unsigned r = 0; r < rows; r++) {
        const float *row = p + r * COLS;
        float most = -1e30f;
        int place = -1;
        for (long c = 0; c < cols; c++)
            if (row[c] > most) {
                most = row[c];
                place = (int)c;
            }
        best[r] = place;
    }
    for (unsigned r = 0; r < rows; r++) {
        expected[r] = -1;
        for (int c = 0; c < cols; c++)
            if (p[r * COLS + c] > (expected[r] < 0 ? -1e30f : p[r * COLS + expected[r]]))
                expected[r] = c;
    }
    CHECK_ROWS("without_clause");
}

int main(void)
{
    for (int i = 0; i < ROWS * COLS; i++) {
        a[i / COLS][i % COLS] = (i * 7919 % 53 - 26) * 0.5f;
        u[i / COLS][i % COLS] = i * 2654435761u;
        b[i] = (i * 1009 % 2203 - 1100) * 0.25;
    }
    for (int c = 0; c < COLS; c++) {
        a[1][c] = NAN;
        a[2][c] = c % 2 ? -0.0f : 0.0f;
        a[3][c] = -INFINITY;
        a[4][c] = c == 33 || c == 44 ? 5 : -INFINITY;
        a[5][c] = c % 3 ? NAN : c % 5;
        a[6][c] = -c;
        a[7][c] = c ? c : NAN;
        a[8][c] = c % 2 ? 0.0f : -0.0f;
        u[9][c] = 0x80000000u;
    }
    first_greatest(COLS);
    first_greatest(2);
    first_greatest(1);
    first_greatest(0);
    last_least(COLS);
    last_least(0);
    without_clause(ROWS, COLS, &a[0][0], where);
    without_clause(ROWS, 0, &a[0][0], where);
    with_payload();
    pivot(ROWS * COLS, 0);
    pivot(ROWS * COLS, 1234);
    pivot(0, 5);
    nearest(ROWS * COLS, 17.3);
    nearest(0, 1);
    return report();
}
