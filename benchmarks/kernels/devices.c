/*
 * What several devices cost each other, in microseconds and GB/s of 1e9 bytes: one line for each number. See
 * `benchmarks/devices.py`.
 *
 *     copies               copy BYTES US, columns COUNT US: the least of many, ended by reading the clock
 *     exchange SIDE STEPS  exchange SIDE US: a step of Jacobi's method on a square of doubles, a slab of rows on each
 *                          device; synchronous constructs and copies, nothing to compute while borders travel
 *     transfers            transfer THREADS DEVICE IN OUT: GB/s of a thread for each device, its own 512 MiB
 */
#include <math.h>
#include <openacc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, SIDE = 8192, COLUMNS = 256, TRIALS = 60 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static int copies(void)
{
    size_t count = 1 << 26;
    float *a = malloc(4 * count), *b = malloc(4 * count);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        a[i] = i % 1000;
        b[i] = -1;
    }
#pragma acc enter data copyin(a[0:count]) deviceid(0)
#pragma acc enter data copyin(b[0:count]) deviceid(1)
    for (size_t n = 4; n <= count; n *= 4) {
        double best = 1e30;
        for (int r = 0; r < TRIALS; r++) {
            double start = now();
#pragma acc update peer to(b[0:n]) to_device(1) from(a[0:n]) from_device(0)
            best = fmin(best, now() - start);
        }
        printf("copy %zu %.2f\n", 4 * n, best);
    }
#pragma acc update self(b[0:count]) deviceid(1)
    for (size_t i = 0; i < count; i++)
        wrong += b[i] != a[i];
    for (size_t i = 0; i < count; i++)
        b[i] = -1;
#pragma acc update device(b[0:count]) deviceid(1)
    float(*x)[SIDE] = (float(*)[SIDE])a, (*y)[SIDE] = (float(*)[SIDE])b;
    for (int n = 1; n <= COLUMNS; n *= 4) {
        double best = 1e30;
        for (int r = 0; r < TRIALS; r++) {
            double start = now();
#pragma acc update peer to(y[0:SIDE][8:n]) to_device(1) from(x[0:SIDE][12:n]) from_device(0)
            best = fmin(best, now() - start);
        }
        printf("columns %d %.2f\n", n, best);
    }
#pragma acc update self(b[0:count]) deviceid(1)
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            wrong += y[i][j] != (j >= 8 && j < 8 + COLUMNS ? x[i][j + 4] : -1);
    return wrong;
}

static double slabs(int devices, int side, int steps, double *sum)
{
    double *u[MOST], *v[MOST], time = 0;
    int rows = side / devices;
    size_t cells = (size_t)(rows + 2) * side;
    for (int d = 0; d < devices; d++) {
        double *a = u[d] = calloc(cells, sizeof *a), *b = v[d] = calloc(cells, sizeof *b);
        for (int j = 0; d == 0 && j < side; j++)
            a[j] = b[j] = 1;
#pragma acc enter data copyin(a[0:cells], b[0:cells]) deviceid(d)
    }
    for (int t = -5; t < steps; t++) {
        if (t == 0)
            time = now();
        for (int d = 0; d < devices; d++) {
            double *restrict a = u[d], *restrict b = v[d];
#pragma acc parallel loop collapse(2) present(a[0:cells], b[0:cells]) deviceid(d)
            for (int i = 1; i <= rows; i++)
                for (int j = 1; j < side - 1; j++)
                    b[i * side + j] = 0.25 * (a[i * side + j - 1] + a[i * side + j + 1] + a[(i - 1) * side + j] +
                                              a[(i + 1) * side + j]);
        }
        for (int d = 0; d + 1 < devices; d++) {
            double *above = v[d] + (size_t)rows * side, *below = v[d + 1];
#pragma acc update peer to(below[0:side]) to_device(d + 1) from(above[0:side]) from_device(d)
#pragma acc update peer to(above[side:side]) to_device(d) from(below[side:side]) from_device(d + 1)
        }
        for (int d = 0; d < devices; d++) {
            double *swap = u[d];
            u[d] = v[d];
            v[d] = swap;
        }
    }
    time = (now() - time) / steps;
    *sum = 0;
    for (int d = 0; d < devices; d++) {
        double *a = u[d], *b = v[d];
#pragma acc exit data copyout(a[0:cells]) delete(b[0:cells]) deviceid(d)
        for (size_t k = side; k < cells - side; k++)
            *sum += a[k];
        free(a);
        free(b);
    }
    return time;
}

static int exchange(int side, int steps)
{
    double one, all;
    double alone = slabs(1, side, steps, &one);
    int devices = acc_get_num_devices(acc_device_default);
    printf("exchange %d %d %.2f %.2f\n", devices, side, alone, slabs(devices, side, steps, &all));
    return fabs(one - all) > 1e-9 * fabs(one);
}

static pthread_barrier_t barrier;
static int team;

static void *transfer(void *number)
{
    int d = (int)(long)number, wrong = 0;
    size_t count = 1 << 27;
    float *x = malloc(4 * count);
    double in = 0, out = 0;
    acc_set_device_num(d, acc_device_default);
    for (size_t i = 0; i < count; i++)
        x[i] = d;
#pragma acc enter data create(x[0:count])
    for (int r = -1; r < 4; r++) { /* the first is not counted */
        pthread_barrier_wait(&barrier);
        double start = now();
#pragma acc update device(x[0:count])
        in += r < 0 ? 0 : now() - start;
        pthread_barrier_wait(&barrier);
        start = now();
#pragma acc update self(x[0:count])
        out += r < 0 ? 0 : now() - start;
    }
#pragma acc exit data delete(x[0:count])
    for (size_t i = 0; i < count; i++)
        wrong += x[i] != d;
    printf("transfer %d %d %.1f %.1f\n", team, d, 16e-3 * count / in, 16e-3 * count / out);
    free(x);
    return (void *)(long)wrong;
}

static int transfers(void)
{
    int devices = acc_get_num_devices(acc_device_default), wrong = 0;
    pthread_t threads[MOST];
    for (team = 1; team <= devices; team = team < devices ? devices : devices + 1) {
        pthread_barrier_init(&barrier, 0, team);
        for (long d = 0; d < team; d++)
            pthread_create(&threads[d], 0, transfer, (void *)d);
        for (int d = 0; d < team; d++) {
            void *result;
            pthread_join(threads[d], &result);
            wrong += result != 0;
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int wrong = !strcmp(what, "copies")      ? copies()
                : !strcmp(what, "transfers") ? transfers()
                : argc > 3                   ? exchange(atoi(argv[2]), atoi(argv[3]))
                                             : 1;
    if (wrong)
        printf("wrong %d\n", wrong);
    return wrong != 0;
}
