/* Structures as values in device code: the same computation in every spelling, for every shape of structure. */
#include "check.h"
#include <complex.h>

#define N 37

typedef struct { float x, y, z; } three;
typedef struct { double f[4]; short n; } rows;
typedef struct { char tag; struct { float a; double b; } in[2]; int last : 5, first : 7; } nested;
typedef struct { union { float f; int i; } u; unsigned char c[3]; } mixed;
typedef struct __attribute__((packed)) { char c; int i; three t; } packed;

/* What every spelling does to one number. */
#define TWICE(v) ((v) * 2 + 1)

#define SPELLINGS(T, FIRST, LAST)                                                           \
    static T T##_changed(T v) { v.FIRST = TWICE(v.FIRST); v.LAST = TWICE(v.LAST); return v; } \
    static void T##_change(T *to, const T *from)                                            \
    {                                                                                       \
        T held;                                                                             \
        held = *from;                                                                       \
        held.FIRST = TWICE(held.FIRST);                                                     \
        held.LAST = TWICE(held.LAST);                                                       \
        *to = held;                                                                         \
    }                                                                                       \
    static void T##_test(void)                                                              \
    {                                                                                       \
        static T a[N], got[7][N];                                                           \
        for (int i = 0; i < N; i++) {                                                       \
            memset(&a[i], 0, sizeof(T));                                                    \
            a[i].FIRST = i % 13;                                                            \
            a[i].LAST = i % 7;                                                              \
        }                                                                                   \
        _Pragma("acc parallel loop copyin(a) copyout(got)")                                 \
        for (int i = 0; i < N; i++) {                                                       \
            T v = a[i];                                                                     \
            v.FIRST = TWICE(v.FIRST);                                                       \
            v.LAST = TWICE(v.LAST);                                                         \
            got[0][i] = v;                                                                  \
            got[1][i] = T##_changed(a[i]);                                                  \
            T##_change(&got[2][i], &a[i]);                                                  \
            got[3][i] = a[i];                                                               \
            got[3][i].FIRST = TWICE(got[3][i].FIRST);                                       \
            got[3][i].LAST = TWICE(got[3][i].LAST);                                         \
            const T *from = &a[i];                                                          \
            T *to = got[4] + i;                                                             \
            *to = *from;                                                                    \
            to->FIRST = TWICE(from->FIRST);                                                 \
            to->LAST = TWICE(from->LAST);                                                   \
            T w;                                                                            \
            memcpy(&w, &a[i], sizeof w);                                                    \
            T *inside = &w;                                                                 \
            inside->FIRST = TWICE(inside->FIRST);                                           \
            inside->LAST = TWICE(inside->LAST);                                             \
            memcpy(&got[5][i], &w, sizeof(T));                                              \
            got[6][i] = i & 1 ? v : w;                                                      \
        }                                                                                   \
        for (int s = 0; s < 7; s++)                                                         \
            for (int i = 0; i < N; i++) {                                                   \
                CHECK_EQ(got[s][i].FIRST, TWICE(i % 13));                                   \
                CHECK_EQ(got[s][i].LAST, TWICE(i % 7));                                     \
            }                                                                               \
    }

SPELLINGS(three, x, z)
SPELLINGS(rows, f[0], n)
SPELLINGS(nested, in[1].b, last)
SPELLINGS(mixed, u.i, c[2])
SPELLINGS(packed, i, t.z)

/* The members that are not computed with move too; two elements change places. */
static void whole(void)
{
    static rows a[N];
    static nested b[N];
    for (int i = 0; i < N; i++) {
        a[i] = (rows){{i, i + 1, i + 2, i + 3}, i};
        b[i] = (nested){'a' + i % 26, {{i, -i}, {2 * i, 0.5 * i}}, i % 8, i};
    }
#pragma acc parallel loop copy(a, b)
    for (int i = 0; i < N / 2; i++) {
        rows held = a[i];
        a[i] = a[N - 1 - i];
        a[N - 1 - i] = held;
        nested other = b[i];
        b[i] = b[N - 1 - i];
        b[N - 1 - i] = other;
    }
    for (int i = 0; i < N; i++) {
        int j = N - 1 - i;
        for (int k = 0; k < 4; k++) CHECK_EQ(a[i].f[k], j + k);
        CHECK_EQ(a[i].n, j);
        CHECK_EQ(b[i].tag, 'a' + j % 26);
        CHECK_EQ(b[i].in[0].b, -j);
        CHECK_NEAR(b[i].in[1].b, 0.5 * j);
        CHECK_EQ(b[i].last, j % 8);
        CHECK_EQ(b[i].first, j);
    }
}

/* Members that keep their values between iterations of an inner loop, that a condition assigns, and rows. */
static void carried(void)
{
    static three a[N], b[N];
    static rows r[N];
    for (int i = 0; i < N; i++) a[i] = (three){i, 1, -i};
#pragma acc parallel loop copyin(a) copyout(b, r)
    for (int i = 0; i < N; i++) {
        three sum = {0}, last;
        rows row = {{0}, 3};
        for (int k = 0; k < 5; k++) {
            three one = a[(i + k) % N];
            sum.x += one.x;
            sum.z -= one.z;
            if (k == 3) last = one;
            row.f[k % 4] += one.y;
            row.f[(i + k) & 3] += 10;
        }
        sum.y = last.x;
        b[i] = sum;
        r[i] = row;
    }
    for (int i = 0; i < N; i++) {
        double x = 0, f[4] = {0};
        for (int k = 0; k < 5; k++) {
            x += (i + k) % N;
            f[k % 4] += 1;
            f[(i + k) & 3] += 10;
        }
        CHECK_EQ(b[i].x, x);
        CHECK_EQ(b[i].z, x);
        CHECK_EQ(b[i].y, (i + 3) % N);
        CHECK_EQ(r[i].n, 3);
        for (int k = 0; k < 4; k++) CHECK_EQ(r[i].f[k], f[k]);
    }
}

/* Loops that are parallel only where the arrays do not overlap, in both cases. */
static void shift(int n, int m, const three *a, three *b)
{
#pragma acc kernels copy(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m - 1; i++) {
            three v = a[j * m + i];
            v.x += a[j * m + i + 1].x;
            b[j * m + i] = v;
        }
}

static void overlap(void)
{
    static three a[6 * N], b[6 * N];
    for (int i = 0; i < 6 * N; i++) a[i] = b[i] = (three){i, 2 * i, 3 * i};
    shift(6, N, a, b);
    for (int i = 0; i < 6 * N; i++) {
        CHECK_EQ(b[i].x, i % N < N - 1 ? 2 * i + 1 : i);
        CHECK_EQ(b[i].z, 3 * i);
    }
    shift(1, 2 * N, b, b);
    CHECK_EQ(b[1].x, 3 + 5);
}

/* Complex numbers; copies between rows of numbers and a local array. */
static void numbers(void)
{
    static double complex c[N], d[N];
    static float v[4 * N];
    for (int i = 0; i < N; i++) c[i] = i + 2 * I;
    for (int i = 0; i < 4 * N; i++) v[i] = i;
#pragma acc parallel loop copyin(c) copyout(d) copy(v)
    for (int i = 0; i < N; i++) {
        double complex held = c[i];
        d[i] = held * held + 1;
        d[i] = conj(d[i]);
        float row[4];
        memcpy(row, &v[4 * i], sizeof row);
        for (int k = 0; k < 4; k++) row[k] += row[(k + 1) % 4];
        memcpy(&v[4 * i], row, sizeof row);
    }
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(creal(d[i]), i * i - 3);
        CHECK_NEAR(cimag(d[i]), -4 * i);
        CHECK_EQ(v[4 * i], 8 * i + 1);
        CHECK_EQ(v[4 * i + 3], 12 * i + 4);
    }
}

/* Parts of unions and whole structures may be the same memory as numbers of other types. */
static float third(three v)
{
    float s = 0;
    for (int i = 0; i < 3; i++) {
        if (v.x < 0) return 0;
        s += v.x;
    }
    return s / 3;
}

static void stored(int n, mixed *a, mixed *b)
{
#pragma acc kernels copy(a[0:n], b[0:n])
    for (int i = 0; i < n - 1; i++) b[i + 1].u.i = a[i].u.f > 0 ? 0 : 0x3f800000;
}

static void passed(int n, three *a, three *b)
{
#pragma acc kernels copy(a[0:n], b[0:n])
    for (int i = 0; i < n - 1; i++) b[i + 1].x = third(a[i]) + 1;
}

static void copied(int n, mixed *a, mixed *b)
{
#pragma acc kernels copy(a[0:n], b[0:n])
    for (int i = 0; i < n - 1; i++) {
        mixed v = a[i];
        v.u.f += 1;
        b[i + 1].u.i = v.u.i;
    }
}

static void punned(void)
{
    static mixed m[N];
    static three t[N];
    stored(N, m, m);
    for (int i = 0; i < N; i++) CHECK_EQ(m[i].u.f, i % 2);
    memset(m, 0, sizeof m);
    copied(N, m, m);
    for (int i = 0; i < N; i++) CHECK_EQ(m[i].u.f, i);
    passed(N, t, t);
    for (int i = 0; i < N; i++) CHECK_NEAR(t[i].x, i);
}

/* A large structure with one member goes by value, whole and by elements. */
typedef struct { int v[50]; } only;

static int added(only x)
{
    int sum = 0;
    for (int k = 0; k < 50; k++) {
        sum += x.v[k];
        x.v[k] = 0;
    }
    return sum + x.v[7];
}

static only made(int i)
{
    only x;
    memset(&x, 0, sizeof x);
    for (int k = 0; k < 50; k++) x.v[k] = k * i;
    return x;
}

static void only_member(void)
{
    int sums[N], chosen[N];
#pragma acc parallel loop copyout(sums, chosen)
    for (int i = 0; i < N; i++) {
        only x = made(i), y = x;
        y.v[i % 50] += 3;
        sums[i] = added(y) + y.v[i % 50];
        y = x;
        chosen[i] = y.v[(i + 1) % 50];
    }
#pragma acc kernels loop independent copy(sums)
    for (int i = 0; i < N; i++) {
        only x = made(i);
        sums[i] += x.v[49 - i % 50] + added(x);
    }
    for (int i = 0; i < N; i++) {
        int k = i % 50;
        CHECK_EQ(sums[i], 2450 * i + 6 + k * i + (49 - k) * i);
        CHECK_EQ(chosen[i], (i + 1) % 50 * i);
    }
}

/* Lanes, and workers, write elements of one structure of the gang. */
typedef struct { char tag; int v[40]; struct { short a, b; } pairs[40]; } shared_row;

static void by_lanes(void)
{
    int lanes[N], workers[N], both[N];
#pragma acc parallel loop gang copyout(lanes)
    for (int i = 0; i < N; i++) {
        shared_row x;
        memset(&x, 0, sizeof x);
#pragma acc loop vector
        for (int k = 0; k < 40; k++) {
            x.v[39 - k] += i + k;
            if (k % 3)
                x.pairs[k].b = k;
        }
        lanes[i] = x.v[i % 40] * 100 + x.pairs[(i + 1) % 40].b;
    }
#pragma acc parallel loop gang num_workers(4) copyout(workers)
    for (int i = 0; i < N; i++) {
        shared_row x = {'x'};
#pragma acc loop worker
        for (int k = 0; k < 40; k++) x.pairs[k].a = x.v[k] + i * k;
        workers[i] = x.pairs[i % 40].a + x.tag;
    }
#pragma acc parallel loop gang worker num_workers(2) copyout(both)
    for (int i = 0; i < N; i++) {
        shared_row x;
        memset(&x, i, 1);
#pragma acc loop vector
        for (int k = 0; k < 40; k++) x.v[k] = i - k;
        int sum = x.tag;
        for (int k = 0; k < 40; k++) sum += x.v[k];
        both[i] = sum;
    }
    for (int i = 0; i < N; i++) {
        int next = (i + 1) % 40;
        CHECK_EQ(lanes[i], (i + 39 - i % 40) * 100 + (next % 3 ? next : 0));
        CHECK_EQ(workers[i], (short)(i * (i % 40)) + 'x');
        CHECK_EQ(both[i], (char)i + 40 * i - 780);
    }
}

int main(void)
{
    only_member();
    by_lanes();
    three_test();
    rows_test();
    nested_test();
    mixed_test();
    packed_test();
    whole();
    carried();
    overlap();
    numbers();
    punned();
    return report();
}
