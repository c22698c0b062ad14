/* Arrays without data clauses in loops whose bounds are data: what does not depend on these loops is copied. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

struct size { int rows[2], columns[2]; };

static void rows(int n, const struct size *size, const int *first, const float *all, float *sums)
{
#pragma acc kernels present(first, all)
#pragma acc loop independent
    for (int i = 0; i < n; i++)
        for (int k = first[i]; k < first[i + 1]; k++)
            sums[i] += all[k * size->columns[1] + size->rows[0]];
}

static void searched(long n, const struct size *size, const int *first, const float *all, float *sums)
{
#pragma acc parallel loop gang present(first[0:n + 1], all[0:40])
    for (long i = 0; i < n; i++) {
        int k = first[i];
        while (all[k] < 7 && k < size->columns[0])
            k++;
        sums[2 * i] = k;
    }
}

int main(void)
{
    struct size size = {{1, 4}, {9, 3}};
    int first[] = {0, 3, 3, 8, 10};
    float all[40], sums[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 40; i++)
        all[i] = i % 11;
#pragma acc data copyin(first, all)
    {
        rows(4, &size, first, all, sums);
        for (int i = 0; i < 4; i++) {
            float sum = i + 1;
            for (int k = first[i]; k < first[i + 1]; k++)
                sum += all[3 * k + 1];
            CHECK_EQ(sums[i], sum);
        }
        rows(0, &size, first, all, 0);
        searched(4, &size, first, all, sums);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(sums[2 * i], first[i] < 7 ? 7 : first[i]);
        CHECK_EQ(sums[7], 8);
    }
    return report();
}
