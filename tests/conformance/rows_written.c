/*
 * Rows that a sequential loop writes, in several spellings: prefix sums (with and without the own element),
 * recurrences, the greatest of prefixes, in place, from the end, with stores before and after the loop, and
 * through pointers that may lead to overlapping rows. Each is compared with the same code on the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 37
#define TERMS 301
#define SIZE (ROWS * TERMS)

static float a[SIZE], b[SIZE], c[SIZE], t[ROWS];
static int ia[SIZE], ib[SIZE];
static double da[ROWS][TERMS], db[ROWS][TERMS];

#define CASE(name, parameters, directive, ...) \
    static void name##_acc parameters { directive __VA_ARGS__ } \
    static void name##_host parameters { __VA_ARGS__ }

CASE(inclusive, (int n, int m, const float *restrict x, float *restrict y), _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0;
         for (int j = 0; j < m; j++) {
             s += x[i * m + j];
             y[i * m + j] = s;
         }
     })
CASE(exclusive, (unsigned n, unsigned m, const int *x, int *y), _Pragma("acc parallel loop gang vector copyin(x[0:n*m]) copy(y[0:n*m])"),
     for (unsigned i = 0; i < n; ++i) {
         int s = 1;
         for (unsigned j = 0; j < m; ++j) {
             y[i * m + j] = s;
             s += x[i * m + j];
         }
     })
CASE(rows, (int n, int m, double x[n][m], double y[n][m]), _Pragma("acc kernels copyin(x[0:n][0:m]) copy(y[0:n][0:m])"),
     for (int i = 0; i < n; i++) {
         y[i][0] = x[i][0];
         for (int j = 1; j < m; j++)
             y[i][j] = y[i][j - 1] + x[i][j];
     })
CASE(greatest, (long n, long m, const float *restrict x, float *restrict y, float *restrict z), _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], z[0:n])"),
     for (long i = 0; i < n; i++) {
         const float *p = x + i * m;
         float s = p[0];
         z[i] = -1;
         for (long j = 0; j < m; j++) {
             if (p[j] > s)
                 s = p[j];
             y[i * m + j] = s;
         }
         z[i] = m > 2 ? y[i * m + m - 1] + y[i * m + 2] : s;
     })
CASE(in_place, (int n, int m, float *y), _Pragma("acc parallel loop copy(y[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0.5f;
         for (int j = m - 1; j >= 0; j--) {
             s = 0.75f * s + y[i * m + j];
             y[i * m + j] = s;
         }
     })
CASE(two, (int n, int m, const float *x, float *y, int *z), _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], z[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0;
         int above = 0;
         for (int j = 0; j < m; j++) {
             z[i * m + j] = above;
             s += x[i * m + j] * x[i * m + j];
             if (s > 1)
                 above++;
             y[i * m + j] = s;
         }
     })
CASE(recurrence, (int n, int m, const float *x, float *y), _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m])"),
     for (int i = 0; i < n; i++)
         for (int j = 1; j < m; j++)
             y[i * m + j] = 0.5f * y[i * m + j - 1] + x[i * m + j];)
CASE(beside, (int n, int m, const float *restrict x, float *restrict y, int *restrict z),
     _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], z[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0;
         for (int j = 0; j < m; j++) {
             z[i * m + j] = (int)(x[i * m + j] * 4);
             y[i * m + j] = 2 * x[i * m + j];
             s += y[i * m + j] * x[i * m + j];
         }
         if (m > 0)
             z[i * m] = (int)s;
     })
CASE(both, (int n, int m, const float *restrict x, float *restrict y, float *restrict z),
     _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m], z[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0;
         for (int j = 0; j < m; j++) {
             s += x[i * m + j];
             y[i * m + j] = s;
             z[i * m + j] = x[i * m + j];
         }
     })
CASE(moving, (int n, int m, const float *x, float *y), _Pragma("acc parallel loop copyin(x[0:n*m]) copy(y[0:n*m])"),
     for (int i = 0; i < n; i++) {
         float s = 0;
         const float *p = x + i * m;
         float *q = y + i * m;
         for (int j = 0; j < m; j++)
             *q++ = s += *p++;
     })

static void fill(void)
{
    for (int k = 0; k < SIZE; k++) {
        a[k] = (float)(k * 7919 % 1013) / 512 - 1;
        ia[k] = k * 7919 % 1013 - 500;
        da[k / TERMS][k % TERMS] = (k * 7919 % 1013) / 512.0 - 1;
        b[k] = c[k] = 3;
        ib[k] = 5;
        db[k / TERMS][k % TERMS] = 9;
    }
    for (int i = 0; i < ROWS; i++)
        t[i] = 1;
}

static float b2[SIZE], c2[SIZE], t2[ROWS];
static int ib2[SIZE];
static double db2[ROWS][TERMS];
static int wrong;

static void keep(void)
{
    memcpy(b2, b, sizeof b), memcpy(c2, c, sizeof c), memcpy(t2, t, sizeof t), memcpy(ib2, ib, sizeof ib), memcpy(db2, db, sizeof db);
    fill();
}

static void check(const char *name, int n, int m)
{
    if (memcmp(b2, b, sizeof b) || memcmp(c2, c, sizeof c) || memcmp(t2, t, sizeof t) || memcmp(ib2, ib, sizeof ib) || memcmp(db2, db, sizeof db)) {
        printf("%s: wrong for %d rows of %d\n", name, n, m);
        wrong++;
    }
    fill();
}

#define RUN(name, ...) (name##_acc(n, m, __VA_ARGS__), keep(), name##_host(n, m, __VA_ARGS__), check(#name, n, m))

int main(void)
{
    static const int sizes[][2] = {{ROWS, TERMS}, {1, 32}, {33, 129}, {32, 128}, {3, 0}, {0, 64}, {5, 64}};
    fill();
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
        int n = sizes[k][0], m = sizes[k][1];
        RUN(inclusive, a, b);
        RUN(exclusive, ia, ib);
        if (m > 0) {
            RUN(rows, (double (*)[m])da, (double (*)[m])db);
            RUN(greatest, a, b, t);
        }
        RUN(in_place, b);
        RUN(two, a, b, ib);
        RUN(recurrence, a, b);
        RUN(beside, a, b, ib);
        RUN(both, a, b, c);
        RUN(moving, a, b);
        if (n > 1 && m > 0)
            RUN(inclusive, a, b);
    }
    if (wrong)
        return 1;
    puts("PASSED");
    return 0;
}
