/* Loops that store whole rows of arrays which the kernel does not read: at any place, of any length and type. */
#include "../check.h"

enum { N = 3000, ROWS = 5, MARK = 77 };

#define WRITES(name, T)                                                      \
    static void name(long from, long to, const T *in, T *out)                \
    {                                                                        \
        _Pragma("acc parallel loop present(in[0:N], out[0:N])")              \
        for (long i = from; i < to; i++)                                     \
            out[i] = (T)(3 * in[i] + i);                                     \
    }                                                                        \
    static void check_##name(void)                                           \
    {                                                                        \
        static T in[N], out[N + 1];                                          \
        for (int i = 0; i < N; i++)                                          \
            in[i] = (T)(i % 91);                                             \
        for (int shift = 0; shift < 2; shift++)                              \
            for (int k = 0; k < 24; k++) {                                   \
                const long from = k * 7 % 19, to = N - 1 - k * k * 5 % 1500; \
                T *place = out + shift;                                      \
                for (int i = 0; i <= N; i++)                                 \
                    out[i] = MARK;                                           \
                _Pragma("acc data copyin(in) copy(place[0:N])")              \
                name(from, to, in, place);                                   \
                for (int i = 0; i < N; i++)                                  \
                    CHECK_EQ(place[i], i < from || i >= to ? MARK : (T)(3 * in[i] + i)); \
            }                                                                \
    }

WRITES(doubles, double)
WRITES(floats, float)
WRITES(ints, int)
WRITES(longs, long)
WRITES(shorts, short)

/* Rows of a grid, inner cells alone; with two arrays in one loop, which are stored as always. */
static void cells(int n, const double a[ROWS][n], float f[ROWS][n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:ROWS][0:n]) copy(f[0:ROWS][0:n])
    for (int i = 1; i < ROWS - 1; i++)
        for (int j = 1; j < n - 1; j++)
            f[i][j] = (float)(2 * a[i][j]);
}

static void rows(int n, const double a[ROWS][n], double b[ROWS][n], float f[ROWS][n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:ROWS][0:n]) copy(b[0:ROWS][0:n], f[0:ROWS][0:n])
    for (int i = 1; i < ROWS - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            const double own = a[i][j];
            b[i][j] = a[i][j - 1] + a[i][j + 1] - a[i - 1][j] + a[i + 1][j];
            f[i][j] = (float)(2 * own);
        }
}

/* Under a condition, backwards, read by the loop itself, or before another read: stored as always. */
static void others(int n, const int *in, int *some, int *back, int *both)
{
#pragma acc parallel loop copyin(in[0:n]) copy(some[0:n], back[0:n], both[0:n])
    for (int i = 0; i < n; i++) {
        if (in[i] % 3)
            some[i] = i;
        back[n - 1 - i] = i;
        both[i] += in[i];
    }
#pragma acc parallel loop copyin(in[0:n]) copyout(back[0:n], some[0:n])
    for (int i = 0; i < n; i++) {
        back[i] = in[i];
        some[i] = in[n - 1 - i];
    }
}

/* Rows that are copied: to other arrays, to themselves, of records, from a part of an array to another. */
struct record {
    short s;
    double d;
};

static void copies(int n, const float *from, float *to, struct record *a, const struct record *b)
{
#pragma acc parallel loop copyin(from[0:n]) copy(to[0:n])
    for (int i = 5; i < n; i++)
        to[i] = from[i - 5];
#pragma acc parallel loop copy(to[0:n])
    for (int i = 0; i < n / 2; i++)
        to[i] = to[i + n / 2];
#pragma acc parallel loop copy(to[0:n])
    for (int i = n - 1; i >= 0; i--)
        to[i] = to[i];
#pragma acc parallel loop copyin(b[0:n]) copy(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}

static void check_copies(int n)
{
    static float from[N], to[N];
    static struct record a[N], b[N];
    for (int i = 0; i < N; i++)
        from[i] = i % 97, to[i] = MARK, a[i].d = a[i].s = MARK, b[i].d = i, b[i].s = i % 31;
    copies(n, from, to, a, b);
    for (int i = 0; i < N; i++) {
        const int source = i < n / 2 ? i + n / 2 : i;
        CHECK_EQ(to[i], source >= 5 && source < n ? from[source - 5] : MARK);
        CHECK_EQ(a[i].d, i < n ? i : MARK);
        CHECK_EQ(a[i].s, i < n ? i % 31 : MARK);
    }
}

int main(void)
{
    static double a[ROWS][N], b[ROWS][N];
    static float f[ROWS][N];
    static int in[N], some[N], back[N], both[N];
    check_doubles();
    check_floats();
    check_ints();
    check_longs();
    check_shorts();
    for (int n = 0; n < N; n += n < 20 ? 1 : n / 2 + 1)
        check_copies(n);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * i * j % 101, b[i][j] = f[i][j] = MARK;
    rows(N, a, b, f);
    cells(N, b, f);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++)
            CHECK_EQ(f[i][j], i > 0 && i < ROWS - 1 && j > 0 && j < N - 1 ? 2 * b[i][j] : MARK);
    rows(N, a, b, f);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++) {
            const int inner = i > 0 && i < ROWS - 1 && j > 0 && j < N - 1;
            CHECK_EQ(b[i][j], inner ? a[i][j - 1] + a[i][j + 1] - a[i - 1][j] + a[i + 1][j] : MARK);
            CHECK_EQ(f[i][j], inner ? 2 * a[i][j] : MARK);
        }
    for (int i = 0; i < N; i++)
        in[i] = i % 7, some[i] = MARK, both[i] = i;
    others(N, in, some, back, both);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(some[i], in[N - 1 - i]);
        CHECK_EQ(back[i], in[i]);
        CHECK_EQ(both[i], i + in[i]);
    }
    return report();
}
