/*
 * Matrix product by threads that have a device each: a thread's device gets its rows of A and C, and all of B.
 * Build it with -fopenmp; it runs on any number of devices, without OpenMP on one.
 */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static void rows_of_product(int n, int first, int last, const float *a, const float *b, float *c)
{
    int cells = (last - first) * n;
#pragma acc parallel loop collapse(2) copyin(a[first * n:cells], b[0:n * n]) copyout(c[first * n:cells])
    for (int i = first; i < last; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96, wrong = 0, threads = 1;
    int devices = acc_get_num_devices(acc_device_default);
    float *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), *c = malloc(n * n * sizeof *c);
    for (int i = 0; i < n * n; i++)
        a[i] = i % 7, b[i] = i % 5, c[i] = -1;
#pragma omp parallel num_threads(devices)
    {
        int own = 0;
#ifdef _OPENMP
        own = omp_get_thread_num();
#pragma omp single
        threads = omp_get_num_threads();
#endif
        acc_set_device_num(own, acc_device_default);
        rows_of_product(n, n * own / threads, n * (own + 1) / threads, a, b, c);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            wrong += c[i * n + j] != sum;
        }
    printf("product: n = %d, %d of %d devices, %d wrong\n", n, threads, devices, wrong);
    return wrong != 0;
}
