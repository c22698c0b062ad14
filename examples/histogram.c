/* A histogram: atomic updates of 64 bins. */
#include <stdio.h>
#include <stdlib.h>

#define BINS 64

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200000;
    unsigned char *data = malloc(n);
    int bins[BINS] = {0}, expected[BINS] = {0};
    unsigned int seed = 7;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (unsigned char)(seed >> 24);
        expected[data[i] % BINS]++;
    }

#pragma acc parallel loop copyin(data[0:n]) copy(bins)
    for (int i = 0; i < n; i++) {
#pragma acc atomic update
        bins[data[i] % BINS]++;
    }

    int wrong = 0;
    for (int b = 0; b < BINS; b++)
        if (bins[b] != expected[b])
            wrong++;
    printf("histogram: n = %d, first bins %d %d %d, %d wrong\n", n, bins[0], bins[1], bins[2], wrong);
    free(data);
    return wrong != 0;
}
