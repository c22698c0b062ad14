/*
 * 2D heat equation on all devices: each has a slab of rows, and in each step neighbours get each other's border
 * row while both compute the rows inside. One host thread queues everything and waits at the end.
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

#define MOST 16
#define ROW(slab, i, n) ((slab) + (size_t)(i) * (n))

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#pragma acc routine seq
static double next_value(const double *u, int n, int k)
{
    return u[k] + 0.2 * (u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - 4.0 * u[k]);
}

/* The first and the last of a slab's rows, which its neighbours need: on queue 2. */
static void borders(int rows, int n, const double *restrict u, double *restrict v, int device)
{
    size_t cells = (size_t)(rows + 2) * n;
    int last = rows * n;
#pragma acc parallel loop present(u[0:cells], v[0:cells]) deviceid(device) async(2)
    for (int j = 1; j < n - 1; j++) {
        v[n + j] = next_value(u, n, n + j);
        v[last + j] = next_value(u, n, last + j);
    }
}

/* The rows between them: on queue 1. */
static void inside(int rows, int n, const double *restrict u, double *restrict v, int device)
{
    size_t cells = (size_t)(rows + 2) * n;
#pragma acc parallel loop collapse(2) present(u[0:cells], v[0:cells]) deviceid(device) async(1)
    for (int i = 2; i < rows; i++)
        for (int j = 1; j < n - 1; j++)
            v[i * n + j] = next_value(u, n, i * n + j);
}

/* `steps` steps of n - 2 rows on so many devices; the seconds that they take. The result is in `grid`. */
static double heat(int devices, int n, int steps, double *grid)
{
    double *now[MOST], *next[MOST];
    int first[MOST + 1];
    for (int d = 0; d <= devices; d++)
        first[d] = (int)((long)(n - 2) * d / devices);
    for (int d = 0; d < devices; d++) { /* rows first[d] to first[d + 1] + 1 of the grid */
        size_t cells = (size_t)(first[d + 1] - first[d] + 2) * n;
        now[d] = malloc(cells * sizeof(double));
        next[d] = malloc(cells * sizeof(double));
        for (size_t k = 0; k < cells; k++)
            now[d][k] = next[d][k] = ROW(grid, first[d], n)[k];
        double *a = now[d], *b = next[d];
#pragma acc enter data copyin(a[0:cells], b[0:cells]) deviceid(d)
    }
    double start = seconds();
    for (int t = 0; t < steps; t++) {
        for (int d = 0; d < devices; d++) {
            int rows = first[d + 1] - first[d];
#pragma acc wait(1) async(2) deviceid(d)
            borders(rows, n, now[d], next[d], d);
            inside(rows, n, now[d], next[d], d);
#pragma acc wait(2) async(1) deviceid(d)
        }
        for (int d = 0; d + 1 < devices; d++) {
            int rows = first[d + 1] - first[d];
            double *above = ROW(next[d], rows, n), *below = next[d + 1];
#pragma acc update peer to(below[0:n]) to_device(d + 1) from(above[0:n]) from_device(d) async(2)
#pragma acc update peer to(above[n:n]) to_device(d) from(below[n:n]) from_device(d + 1) async(2)
        }
        for (int d = 0; d < devices; d++) {
            double *swap = now[d];
            now[d] = next[d];
            next[d] = swap;
        }
    }
    for (int d = 0; d < devices; d++) {
#pragma acc wait device(d)
    }
    double time = seconds() - start;
    for (int d = 0; d < devices; d++) {
        int rows = first[d + 1] - first[d];
        size_t cells = (size_t)(rows + 2) * n;
        double *a = now[d], *b = next[d];
#pragma acc exit data copyout(a[0:cells]) delete(b[0:cells]) deviceid(d)
        for (size_t k = n; k < (size_t)(rows + 1) * n; k++)
            ROW(grid, first[d], n)[k] = a[k];
        free(a);
        free(b);
    }
    return time;
}

static void initialise(int n, double *grid)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            ROW(grid, i, n)[j] = i >= n / 4 && i < n / 2 && j >= n / 4 && j < n / 2 ? 100.0 : 0.0;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 66, steps = argc > 2 ? atoi(argv[2]) : 40;
    int devices = acc_get_num_devices(acc_device_default);
    devices = devices > MOST ? MOST : devices;
    devices = devices > n - 2 ? n - 2 : devices;
    size_t cells = (size_t)n * n;
    double *one = malloc(cells * sizeof(double)), *all = malloc(cells * sizeof(double));
    initialise(n, one);
    initialise(n, all);
    if (argc > 3) { /* what is done once is not part of the times */
        heat(1, n, 3, one);
        heat(devices, n, 3, all);
        initialise(n, one);
        initialise(n, all);
    }
    double alone = heat(1, n, steps, one), together = heat(devices, n, steps, all), error = 0.0, sum = 0.0;
    for (size_t k = 0; k < cells; k++) {
        error = fmax(error, fabs(one[k] - all[k]));
        sum += all[k];
    }
    printf("heat: %d steps of %d x %d, sum %.6e, max error %.1e\n", steps, n, n, sum, error);
    if (argc > 3)
        printf("M|heat on %d devices|%.1f us/step|%.1f on one|%.2f times as fast\n", devices,
               together / steps * 1e6, alone / steps * 1e6, alone / together);
    free(one);
    free(all);
    return error > 1e-9;
}
