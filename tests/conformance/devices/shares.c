/* Each device has a section of the arrays, and functions that know pointers alone: what is present of an array on a
 * device is what its pointer stands for there, in a clause without a section, without a clause and in host_data. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

static void next(int first, int past, int columns, const float *old, float *new)
{
#pragma acc parallel loop present(old, new)
    for (int row = first; row < past; row++)
        for (int k = 0; k < columns; k++)
            new[row * columns + k] = old[row * columns + k] + row;
}

static void twice(int first, int past, float *x, int queue)
{
#pragma acc parallel loop async(queue)
    for (int k = first; k < past; k++)
        x[k] *= 2;
}

int main(void)
{
    enum { ROWS = 24, COLUMNS = 10, N = ROWS * COLUMNS, STEPS = 4 };
    int devices = acc_get_num_devices(acc_device_default), share = ROWS / devices, wrong = 0;
    float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *copy = malloc(N * sizeof *copy);
    for (int i = 0; i < N; i++)
        a[i] = copy[i] = i;
    for (int d = 0; d < devices; d++) {
        int first = d * share * COLUMNS, size = (d < devices - 1 ? share : ROWS - d * share) * COLUMNS;
#pragma acc enter data copyin(a[first:size]) create(b[first:size]) deviceid(d)
    }
    for (int d = 0; d < devices; d++) {
        int first = d * share, past = d < devices - 1 ? first + share : ROWS;
        acc_set_device_num(d, acc_device_default);
        for (int step = 0; step < STEPS; step++) {
            next(first, past, COLUMNS, a, b);
            next(first, past, COLUMNS, b, a);
            twice(first * COLUMNS, past * COLUMNS, a, 1);
#pragma acc wait(1)
        }
#pragma acc host_data use_device(a)
        {
            float *x = a;
#pragma acc parallel loop deviceptr(x)
            for (int i = first * COLUMNS; i < past * COLUMNS; i++)
                x[i] -= 1;
        }
    }
    for (int d = 0; d < devices; d++) {
        int first = d * share * COLUMNS, size = (d < devices - 1 ? share : ROWS - d * share) * COLUMNS;
#pragma acc exit data copyout(a[first:size]) delete(b[first:size]) deviceid(d)
    }
    for (int i = 0; i < N; i++) {
        for (int step = 0; step < STEPS; step++)
            copy[i] = 2 * (copy[i] + 2 * (i / COLUMNS));
        wrong += a[i] != copy[i] - 1;
    }
    printf(wrong ? "failed: %d wrong\n" : "%d wrong\n", wrong);
    return wrong != 0;
}
