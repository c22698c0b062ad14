/* Subscripts that a condition keeps within an array: the section is what they can reach, no more. */

#include "check.h"
#include <openacc.h>

/* The last block is not full. */
static void add_per_block(int *restrict v, int blocks, int size, int n)
{
#pragma acc parallel loop
    for (int b = 0; b < blocks; b++) {
        const int first = b * size;
#pragma acc loop
        for (int i = 0; i < size; i++)
            if (i + first < n)
                v[i + first] += b + 1;
    }
}

/* Taps before the first element count as zero. */
static void sum_taps(const int *restrict v, int *restrict w, int n, int columns)
{
#pragma acc parallel loop
    for (int c = 0; c < n; c++) {
        int sum = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int tap;
                if (c - i * columns - j >= 0)
                    tap = v[c - i * columns - j];
                else
                    tap = 0;
                sum += tap * (i + 2 * j + 1);
            }
        w[c] = sum;
    }
}

/* From both sides, and in another variable. */
static void shift_rows(const int *restrict v, int *restrict w, int n, int m, int rows)
{
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int at = (i - rows) * m + j;
            w[i * m + j] = at >= 0 && at < n * m ? v[at] : -1;
        }
}

/* By continue, with wide counters. */
static void double_all(int *restrict v, int blocks, int size, int n)
{
#pragma acc parallel loop gang
    for (long b = 0; b < blocks; b++)
#pragma acc loop vector
        for (long i = 0; i < size; i++) {
            if (b * size + i >= n)
                continue;
            v[b * size + i] *= 2;
        }
}

int main(void)
{
    enum { N = 1000 };
    int *v = malloc(N * sizeof(int)), *w = malloc(N * sizeof(int));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < N; i++) {
            v[i] = i;
            w[i] = 0;
        }
        if (turn) {
            acc_copyin(v, N * sizeof(int));
            acc_copyin(w, N * sizeof(int));
        }
        add_per_block(v, 4, 300, N);
        sum_taps(v, w, N, 40);
        double_all(v, 11, 100, N);
        if (turn) {
            acc_copyout(v, N * sizeof(int));
            acc_copyout(w, N * sizeof(int));
        }
        for (int i = 0; i < N; i++) {
            int expected = 0;
            for (int k = 0; k < 9; k++) {
                int at = i - k / 3 * 40 - k % 3;
                expected += at < 0 ? 0 : (at + at / 300 + 1) * (k / 3 + 2 * (k % 3) + 1);
            }
            CHECK(w[i] == expected);
            CHECK(v[i] == 2 * (i + i / 300 + 1));
        }
        int rows = turn ? 2 : -3;
        if (turn) {
            acc_copyin(v, N * sizeof(int));
            acc_create(w, N * sizeof(int));
        }
        shift_rows(v, w, 25, 40, rows);
        if (turn) {
            acc_delete(v, N * sizeof(int));
            acc_copyout(w, N * sizeof(int));
        }
        for (int i = 0; i < N; i++) {
            int at = i - rows * 40;
            CHECK(w[i] == (at < 0 || at >= N ? -1 : v[at]));
        }
    }
    free(v);
    free(w);
    return report();
}
