// What other compilers take beyond the letter of the specification, each with a warning: several data clauses for one
// variable, sections in declare, update at file scope, directives for the host in routines, cache in front of loops,
// single subscripts as lengths.
#include "check.h"

double table[8];
#pragma acc declare create(table[0:8])
static int factor = 4;
#pragma acc declare create(factor)
#pragma acc update device(factor)

static void several_clauses(void)
{
    double t[32], u[8], s = 5;
    for (int i = 0; i < 32; ++i) t[i] = i;
#pragma acc parallel loop copyout(t[0:32]) copy(t[0:32])
    for (int i = 0; i < 32; ++i) t[i] += 1;
#pragma acc parallel loop create(t) copyin(t) copyout(t)
    for (int i = 0; i < 32; ++i) t[i] += 1;
    for (int i = 0; i < 32; ++i) CHECK_EQ(t[i], i + 2);
#pragma acc parallel loop copyin(s) copyout(s) reduction(+:s)
    for (int i = 0; i < 32; ++i) s += 1;
    CHECK_EQ(s, 37);
#pragma acc data create(zero: t[0:32]) copyout(t[0:32]) copyin(u) create(u[0:8])
    {
#pragma acc parallel loop present(t)
        for (int i = 0; i < 32; ++i) t[i] += i;
    }
    for (int i = 0; i < 32; ++i) CHECK_EQ(t[i], i);
    // One counter, so that one exit suffices.
#pragma acc enter data copyin(t) create(t)
#pragma acc parallel loop present(t)
    for (int i = 0; i < 32; ++i) t[i] += 1;
#pragma acc exit data delete(t) copyout(t)
    CHECK(t[3] == 4);
#pragma acc data copy(t[0:4]) copy(t[8:4])
    {
#pragma acc parallel loop present(t[8:4])
        for (int i = 8; i < 12; ++i) t[i] = 0;
    }
    CHECK(t[7] == 8 && t[8] == 0 && t[12] == 13);
}

static double sum(double *v, int low, int n)
{
    double s = 0;
#pragma acc declare copyin(v[low:n])
#pragma acc parallel loop reduction(+:s)
    for (int i = low; i < low + n; ++i) s += v[i];
    return s;
}

static void sections_in_declare(void)
{
    double t[8], v[10];
    for (int i = 0; i < 10; ++i) v[i] = i;
#pragma acc declare create(t[2:4])
#pragma acc parallel loop present(t[2:4])
    for (int i = 2; i < 6; ++i) t[i] = i * factor;
#pragma acc update self(t[2:4])
    CHECK(t[2] == 8 && t[5] == 20);
    CHECK(sum(v, 2, 5) == 20);
#pragma acc parallel loop copyin(v)
    for (int i = 0; i < 8; ++i) table[i] = v[i] * factor;
#pragma acc update self(table)
    CHECK(table[7] == 28);
}

#pragma acc routine vector
static void scale(double *v, int n)
{
#pragma acc data copyin(v[0:n])
    {
#pragma acc loop vector
        for (int i = 0; i < n; ++i) v[i] *= 2;
    }
}

#pragma acc routine seq
static int factorial(int n)
{
    int t[1] = {n};
#pragma acc enter data copyin(t)
#pragma acc exit data delete(t)
    return t[0] <= 1 ? 1 : t[0] * factorial(t[0] - 1);
}

static void routines(void)
{
    double v[10];
    int f = 0;
    for (int i = 0; i < 10; ++i) v[i] = i;
#pragma acc parallel num_gangs(1) copy(v)
    scale(v, 10);
    scale(v, 10);
    for (int i = 0; i < 10; ++i) CHECK(v[i] == 4 * i);
#pragma acc parallel loop reduction(+:f)
    for (int i = 0; i < 5; ++i) f += factorial(i);
    CHECK_EQ(f, 34);
    CHECK_EQ(factorial(5), 120);
}

static void cache_without_iterations(void)
{
    int a[16], t[4] = {1, 2, 3, 4};
#pragma acc kernels copyin(t) copyout(a)
#pragma acc cache(t)
#pragma acc loop independent
    for (int i = 0; i < 16; ++i) a[i] = t[i % 4];
#pragma acc parallel copyin(t)
    {
#pragma acc cache(t[0:4])
#pragma acc loop
        for (int i = 0; i < 16; ++i) a[i] += t[i % 4];
    }
    for (int i = 0; i < 16; ++i) CHECK_EQ(a[i], 2 + 2 * (i % 4));
}

static void lengths(int n)
{
    double b[2][3] = {{0}}, *p = malloc(n * sizeof(double));
#pragma acc data copyout(p[n]) copy(b[2][3])
    {
#pragma acc parallel loop present(p[n], b[2][3])
        for (int i = 0; i < n; ++i) p[i] = i + b[i % 2][i % 3];
#pragma acc update self(p[n])
        CHECK(p[n - 1] == n - 1);
    }
    for (int i = 0; i < n; ++i) CHECK_EQ(p[i], i);
    free(p);
}

/* Rows of computed length. */
static void computed_rows(int m, int n)
{
    double (*w)[n + 2] = malloc(m * sizeof *w);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n + 2; ++j) w[i][j] = 100 * i + j;
#pragma acc parallel loop copy(w[:m][n + 2])
    for (int i = 0; i < m; ++i) w[i][n] += w[i][1];
    for (int i = 0; i < m; ++i) CHECK_EQ(w[i][n], 200 * i + n + 1);
    free(w);
}

/* Three of four numbers of a row: data clauses take whole rows, update the three. */
static void parts_of_rows(int n)
{
    double (*r)[4] = malloc(n * sizeof *r), g[8][2][3];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 4; ++k) r[i][k] = i + 10 * k;
    for (int i = 0; i < 48; ++i) (&g[0][0][0])[i] = i;
#pragma acc enter data copyin(r[0:n][0:3])
#pragma acc parallel loop present(r[0:n][0:3]) copy(g[2:6][0:1][1:2])
    for (int i = 2; i < n; ++i) {
        for (int k = 0; k < 3; ++k) r[i][k] *= 2;
        g[i][0][2] += r[i][1];
    }
#pragma acc update self(r[0:n][0:3])
#pragma acc exit data delete(r[0:n][0:3])
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 4; ++k) CHECK_EQ(r[i][k], (i + 10 * k) * (i > 1 && k < 3 ? 2 : 1));
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 6; ++k) CHECK_EQ((&g[i][0][0])[k], 6 * i + k + (i > 1 && k == 2 ? 2 * (i + 10) : 0));
    free(r);
}

int main(void)
{
    parts_of_rows(8);
    computed_rows(5, 7);
    several_clauses();
    cache_without_iterations();
    lengths(40);
    sections_in_declare();
    routines();
    return report();
}
