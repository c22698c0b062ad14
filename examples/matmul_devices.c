/*
 * Matrix product on all devices: each computes a block of rows. The constructs are synchronous, and the devices
 * work at the same time all the same: nothing on the host can tell before it waits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef _OPENACC
#include <openacc.h>
#else
#define acc_get_num_devices(type) 1
#endif

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* c = a * b on so many devices; the seconds that the products take. */
static double product(int devices, int n, const float *a, const float *b, float *c)
{
    for (int d = 0; d < devices; d++) {
        int start = (int)((long)n * d / devices), end = (int)((long)n * (d + 1) / devices);
#pragma acc enter data copyin(a[start * n:(end - start) * n], b[0:n * n]) deviceid(d)
#pragma acc enter data create(c[start * n:(end - start) * n]) deviceid(d)
    }
    double begin = seconds();
    for (int d = 0; d < devices; d++) {
        int start = (int)((long)n * d / devices), end = (int)((long)n * (d + 1) / devices);
#pragma acc parallel loop collapse(2) deviceid(d) \
    present(a[start * n:(end - start) * n], b[0:n * n], c[start * n:(end - start) * n])
        for (int i = start; i < end; i++)
            for (int j = 0; j < n; j++) {
                float sum = 0.0f;
                for (int k = 0; k < n; k++)
                    sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
    double time = seconds() - begin;
    for (int d = 0; d < devices; d++) {
        int start = (int)((long)n * d / devices), end = (int)((long)n * (d + 1) / devices);
#pragma acc exit data copyout(c[start * n:(end - start) * n]) deviceid(d)
#pragma acc exit data delete(a[start * n:(end - start) * n], b[0:n * n]) deviceid(d)
    }
    return time;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 60, devices = acc_get_num_devices(acc_device_default);
    size_t size = (size_t)n * n * sizeof(float);
    float *a = malloc(size), *b = malloc(size), *one = malloc(size), *all = malloc(size);
    for (int k = 0; k < n * n; k++) {
        a[k] = k % 7;
        b[k] = k % 5 - 1;
    }
    product(1, n, a, b, one);
    double alone = product(1, n, a, b, one), together = product(devices, n, a, b, all), again;
    again = product(devices, n, a, b, all);
    together = again < together ? again : together;
    double sum = 0.0;
    int wrong = 0;
    for (int k = 0; k < n * n; k++) {
        sum += all[k];
        wrong += all[k] != one[k];
    }
    printf("matrix product: n = %d, sum %.6e, %d wrong\n", n, sum, wrong);
    if (argc > 2)
        printf("M|product on %d devices|%.1f us|%.1f on one|%.2f times as fast\n", devices, together * 1e6,
               alone * 1e6, alone / together);
    free(a);
    free(b);
    free(one);
    free(all);
    return wrong != 0;
}
