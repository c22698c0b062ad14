/* Monte Carlo Pi: a device routine with its own random numbers, and a sum reduction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#pragma acc routine seq
static unsigned int next_random(unsigned int *state)
{
    unsigned int x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

int main(int argc, char **argv)
{
    int streams = argc > 1 ? atoi(argv[1]) : 4096;
    const int per_stream = 256;
    long inside = 0;

#pragma acc parallel loop reduction(+:inside)
    for (int s = 0; s < streams; s++) {
        unsigned int state = 2463534242u ^ (unsigned int)(s * 2654435761u);
        for (int k = 0; k < per_stream; k++) {
            double x = next_random(&state) / 4294967296.0;
            double y = next_random(&state) / 4294967296.0;
            if (x * x + y * y <= 1.0)
                inside++;
        }
    }

    double pi = 4.0 * (double)inside / ((double)streams * per_stream);
    printf("pi: %ld of %ld points inside, pi = %.6f, %s\n", inside, (long)streams * per_stream, pi,
           fabs(pi - 3.14159265358979) < 0.01 ? "close" : "WRONG");
    return fabs(pi - 3.14159265358979) >= 0.01;
}
