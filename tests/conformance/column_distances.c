/*
 * Accesses whose distance from one iteration to the next is known at run time only: down columns, along
 * diagonals, downwards, in steps, under conditions, and in loops that do not run.
 */
#include "check.h"

enum { N = 37, SIZE = N * N };
static double a[SIZE], b[SIZE], c[SIZE], expected[SIZE];
static int t[SIZE], u[SIZE];

static void fill(void)
{
    for (int i = 0; i < SIZE; i++) {
        a[i] = expected[i] = i * 13 % 101;
        b[i] = i * 7 % 53;
        c[i] = i * 5 % 31;
        t[i] = i * 11 % 97;
    }
}

static void columns(int n, int lo, int hi, int step, int down)
{
#pragma acc parallel loop copy(a[0 : n * n]) copyin(b[0 : n * n])
    for (int i = 0; i < n; i++) {
        for (int j = lo; j < hi; j += step)
            a[i * n + j] += 2 * b[j * n + i];
        for (int j = n - 1 - lo; j >= down; j--)
            a[i * n + j] -= b[j * n + (n - 1 - i)];
    }
    for (int i = 0; i < n; i++) {
        for (int j = lo; j < hi; j += step)
            expected[i * n + j] += 2 * b[j * n + i];
        for (int j = n - 1 - lo; j >= down; j--)
            expected[i * n + j] -= b[j * n + (n - 1 - i)];
    }
}

/* The wave front of a dynamic program, and a condition that keeps an access within the array. */
static int fronts(int n, int far)
{
    int wrong = 0;
#pragma acc data copy(t[0 : n * n])
    for (int d = 2; d <= 2 * n - 2; d++) {
        int lo = d - (n - 1) > 1 ? d - (n - 1) : 1, hi = d - 1 < n - 1 ? d - 1 : n - 1;
#pragma acc parallel loop
        for (int i = lo; i <= hi; i++) {
            int j = d - i, up = t[(i - 1) * n + j], left = t[i * n + j - 1];
            t[i * n + j] += (up > left ? up : left) / 2;
            if (i * far + j < n * n)
                t[i * n + j] += t[i * far + j] != -1;
        }
    }
    for (int d = 2; d <= 2 * n - 2; d++)
        for (int i = 1; i < n; i++) {
            int j = d - i;
            if (j < 1 || j >= n)
                continue;
            int up = u[(i - 1) * n + j], left = u[i * n + j - 1];
            u[i * n + j] += (up > left ? up : left) / 2;
            if (i * far + j < n * n)
                u[i * n + j] += u[i * far + j] != -1;
        }
    for (int i = 0; i < n * n; i++)
        wrong += t[i] != u[i];
    return wrong;
}

/* Sums of rows of each lane's own, with the distance of rows as a parameter that may be 1. */
static int rows(int n, int pitch, int terms)
{
    int wrong = 0;
#pragma acc parallel loop copyin(b[0 : SIZE], c[0 : SIZE]) copy(a[0 : SIZE])
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = a[i * N + j];
            for (int k = 0; k < terms; k++)
                s += b[i * pitch + k] * c[j * pitch + k];
            a[i * N + j] = s;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < terms; k++)
                expected[i * N + j] += b[i * pitch + k] * c[j * pitch + k];
            wrong += a[i * N + j] != expected[i * N + j];
        }
    return wrong;
}

int main(void)
{
    int wrong = 0;
    fill();
    columns(N, 0, N, 1, 0);
    columns(N, 3, N - 2, 3, 5);
    columns(N, 5, 5, 2, N); /* nothing runs */
    columns(1, 0, 1, 1, 0);
    for (int i = 0; i < SIZE; i++)
        wrong += a[i] != expected[i];
    CHECK(wrong == 0);
    for (int i = 0; i < SIZE; i++)
        u[i] = t[i];
    CHECK(fronts(N, N) == 0);
    CHECK(fronts(N, 40 * N) == 0);
    CHECK(rows(N, N, N) == 0);
    CHECK(rows(N, 1, 20) == 0);
    CHECK(rows(N, 0, 9) == 0);
    return report();
}
