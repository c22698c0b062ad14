/* Iterations are divided among any number of gangs: each runs once, long chunks begin at multiples of 64. */
#include <stdio.h>
#include <stdlib.h>

static int check(int n, int gangs, int step)
{
    int *seen = calloc(n + 1, sizeof *seen), bad = 0;
    long sum = 0;
#pragma acc parallel loop num_gangs(gangs) copy(seen[0 : n + 1]) reduction(+ : sum)
    for (int i = 0; i < n; i += step) {
        seen[i]++;
        sum += i;
    }
#pragma acc parallel loop gang num_gangs(gangs) copy(seen[0 : n + 1])
    for (int i = n - 1; i >= 0; i--)
        seen[i] += 2;
    for (int i = 0; i < n; i++) {
        bad += seen[i] != 2 + (i % step == 0);
        sum -= i % step == 0 ? i : 0;
    }
    bad += seen[n] != 0 || sum != 0;
    free(seen);
    if (bad)
        printf("n %d, gangs %d, step %d: %d wrong\n", n, gangs, step, bad);
    return bad;
}

int main(void)
{
    static const int sizes[] = {0, 1, 7, 255, 256, 257, 300, 511, 1000, 4096, 65535, 65536, 65537, 100000};
    static const int gangs[] = {1, 2, 3, 16, 100, 255, 256, 300};
    int bad = 0;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned g = 0; g < sizeof gangs / sizeof *gangs; g++)
            for (int step = 1; step <= 3; step += 2)
                bad += check(sizes[s], gangs[g], step);
    printf(bad ? "bad\n" : "ok\n");
    return bad != 0;
}
