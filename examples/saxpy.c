/* SAXPY: y = a*x + y, the smallest program that does something on a device. */
#include <stdio.h>
#include <stdlib.h>

void saxpy(int n, float a, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop copyin(x[0:n]) copy(y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    float *x = malloc(n * sizeof(float));
    float *y = malloc(n * sizeof(float));
    if (!x || !y)
        return 2;
    for (int i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = 1.0f;
    }

    saxpy(n, 2.0f, x, y);

    int wrong = 0;
    for (int i = 0; i < n; i++)
        if (y[i] != 2.0f * (float)(i % 1000) + 1.0f)
            wrong++;
    printf("saxpy: n = %d, y[10] = %.1f, %d wrong\n", n, y[10], wrong);
    free(x);
    free(y);
    return wrong != 0;
}
