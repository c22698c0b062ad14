/* Nests whose inner loop walks across rows, with and without clauses: any order of loops gives the same. */
#include <stdio.h>

enum { ROWS = 90, COLUMNS = 70, DEEP = 66 };
static int a[ROWS][COLUMNS], b[ROWS][COLUMNS], expected[ROWS][COLUMNS], c[ROWS][COLUMNS][DEEP];
static int wrong;

static void reset(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            a[i][j] = (i * 7 + j * 3) % 11;
            b[i][j] = expected[i][j] = i - j;
        }
}

static void check(const char *name)
{
    int bad = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            bad += b[i][j] != expected[i][j];
    if (bad)
        printf("%s: %d wrong\n", name, bad);
    wrong += bad;
    reset();
}

static void add(int low)
{
    for (int i = low; i < ROWS - low; i++)
        for (int j = low; j < COLUMNS - low; j++)
            expected[i][j] += a[i][j] * (i + 1) + (low ? a[i - 1][j + 1] : 0);
}

static void clauses(int n, int m)
{
#pragma acc parallel loop gang num_gangs(7) copyin(a) copy(b)
    for (int j = 1; j < m - 1; j++)
#pragma acc loop vector
        for (int i = 1; i < n - 1; i++)
            b[i][j] += a[i][j] * (i + 1) + a[i - 1][j + 1];
    add(1);
    check("clauses");
#pragma acc parallel loop copyin(a) copy(b)
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            b[i][j] += a[i][j] * (i + 1);
    add(0);
    check("plain");
#pragma acc kernels copyin(a) copy(b)
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            b[i][j] += a[i][j] * (i + 1);
    add(0);
    check("kernels");
    int t;
#pragma acc parallel loop collapse(2) private(t) copyin(a) copy(b)
    for (int j = 0; j < m; j++)
        for (int i = n - 1; i >= 0; i--) {
            t = a[i][j];
            b[i][j] += t * (i + 1);
        }
    add(0);
    check("private");
}

static void own(int n, int m)
{
    int w[COLUMNS + ROWS], last[COLUMNS];
#pragma acc parallel num_gangs(9) private(w) copyin(a) copy(b)
#pragma acc loop gang
    for (int j = 0; j < m; j++) {
#pragma acc loop vector
        for (int i = 0; i < n; i++)
            w[i] = a[i][j] * (i + 1);
#pragma acc loop vector
        for (int i = 0; i < n; i++)
            b[i][j] += w[i];
    }
    add(0);
    check("an array of each gang");
#pragma acc parallel loop copyin(a) copy(b) copyout(last)
    for (int j = 0; j < m; j++) {
        for (int i = 1; i < n; i++)
            b[i][j] += b[i - 1][j];
        last[j] = b[n - 1][j];
    }
    for (int i = 1; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            expected[i][j] += expected[i - 1][j];
    for (int j = 0; j < m; j++)
        wrong += last[j] != b[n - 1][j];
    check("recurrences");
}

static long sums(int n, int m)
{
    long sum = 0, most = 0, serial = 0, largest = 0;
#pragma acc parallel loop gang reduction(+ : sum) copyin(a)
    for (int j = 0; j < m; j++)
#pragma acc loop vector reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += a[i][j] * (i + j);
#pragma acc parallel loop collapse(3) copyout(c)
    for (int k = 0; k < DEEP; k++)
        for (int j = 0; j < m; j++)
            for (int i = 0; i < n; i++)
                c[i][j][k] = i * j - k;
#pragma acc parallel loop reduction(max : most) copyin(c)
    for (int k = 0; k < DEEP; k++)
        for (int j = 0; j < m; j++)
            for (int i = 0; i < n; i++)
                most = c[i][j][k] > most ? c[i][j][k] : most;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            serial += a[i][j] * (i + j);
            for (int k = 0; k < DEEP; k++) {
                wrong += c[i][j][k] != i * j - k;
                largest = c[i][j][k] > largest ? c[i][j][k] : largest;
            }
        }
    return sum - serial + most - largest;
}

int main(void)
{
    reset();
    clauses(ROWS, COLUMNS);
    own(ROWS, COLUMNS);
    wrong += sums(ROWS, COLUMNS) != 0;
    printf(wrong ? "wrong\n" : "ok\n");
    return wrong != 0;
}
