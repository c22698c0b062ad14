#include <stdio.h>
#include <stdlib.h>

#define N 1000

static int seen[N], grid[40][30];

static void fill(int n, int step, int scale)
{
    for (int i = 0; i < n; i++)
        seen[i] = 0;
#pragma omp parallel
#pragma omp single
    {
        int offset = 3, i;
        int local[2] = {5, 7};
#pragma omp taskloop grainsize(17) firstprivate(local)
        for (i = 0; i < n; i += step) {
            if (i % 5 == 4)
                continue;
            seen[i] += scale * i + offset + local[i % 2];
        }
        offset = 100;
        local[0] = local[1] = 0;
    }
}

int main(void)
{
    long sum = 0, wrong = 0;
    for (int step = 1; step < 4; step++) {
        fill(N, step, 2);
        for (int i = 0; i < N; i++) {
            int want = i % step || i % 5 == 4 ? 0 : 2 * i + 3 + (i % 2 ? 7 : 5);
            wrong += seen[i] != want;
            sum += seen[i];
        }
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp single nowait
        {
#pragma omp taskloop collapse(2) num_tasks(7)
            for (int r = 39; r >= 0; r--)
                for (int c = 0; c < 30; c++)
                    grid[r][c] = 100 * r + c;
        }
#pragma omp single
        {
            long low = 1, high = 0;
#pragma omp taskloop nogroup if (low > high)
            for (long k = low; k <= high; k++)
                wrong++;
#pragma omp taskloop shared(low) default(none) shared(wrong)
            for (int k = 0; k < 25; k++) {
#pragma omp atomic
                low += k;
            }
            wrong += low != 301;
        }
    }
    for (int r = 0; r < 40; r++)
        for (int c = 0; c < 30; c++)
            wrong += grid[r][c] != 100 * r + c;
#pragma omp taskloop simd
    for (int i = 0; i < N; i++)
        seen[i] = i;
    for (int i = 0; i < N; i++)
        wrong += seen[i] != i;
    if (wrong == 0 && sum == 1476532)
        puts("taskloop: as expected");
    return wrong != 0;
}
