/* Headers that are included in a function: their declarations end with its block. */
static int scaled(int size, int *a)
{
#include <math.h>
    int sum = 0;
#pragma acc parallel loop copyout(a[0:size])
    for (int i = 0; i < size; i++)
        a[i] = (int)sqrt((double)(i * i));
    for (int i = 0; i < size; i++)
        sum += a[i];
    return sum;
}

int main(void)
{
#include <omp.h>
#include <openacc.h>
#include <stdio.h>
    double start = omp_get_wtime();
    omp_lock_t lock;
    int taken, ids[3], numbers[10];

    omp_init_lock(&lock);
    taken = omp_test_lock(&lock) + omp_test_lock(&lock);
#pragma acc parallel loop copyout(ids)
    for (int i = 0; i < 3; i++)
        ids[i] = omp_get_thread_num() + i;
    printf("%d %d\n", scaled(10, numbers), acc_get_num_devices(acc_get_device_type()) > 0);
    printf("%d %d %d %d\n", omp_get_max_threads(), taken, ids[2], omp_get_wtime() >= start);
    return 0;
}
