/* Several host threads run the same constructs at the same time, on data of their own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, TURNS = 2000 };
static int wrong[THREADS];

static double total(const double *a, int n)
{
    double sum = 0.0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0 : n])
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

static void add(double *a, int n, double what)
{
#pragma acc parallel loop copy(a[0 : n])
    for (int i = 0; i < n; i++)
        a[i] += what;
}

static void *work(void *argument)
{
    int k = (int)(long)argument, n = 1000 * (k + 1);
    double *a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = 0.0;
#pragma acc data copy(a[0 : n])
    for (int turn = 1; turn <= TURNS; turn++) {
        add(a, n, k + 1.0);
        wrong[k] += total(a, n) != (double)n * (k + 1) * turn;
    }
    wrong[k] += a[n - 1] != (k + 1.0) * TURNS;
    for (int turn = 1; turn <= 20; turn++) { /* nothing is present */
        add(a, n, 1.0);
        wrong[k] += total(a, n) != n * ((k + 1.0) * TURNS + turn);
    }
    free(a);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, work, (void *)k);
    int failures = 0;
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        failures += wrong[k];
    }
    if (failures)
        printf("%d failed\n", failures);
    return failures != 0;
}
