/* Private and local arrays larger than a thread's stack. */
#include <stdio.h>

enum { BYTES = 12 << 20, LENGTH = BYTES / 4, GANGS = 6 };

#pragma acc routine seq
static long variable(int gang, int n)
{
    int w[n];
    long sum = 0;
    for (int k = 0; k < n; k++)
        w[k] = gang + k % 2;
    for (int k = 0; k < n; k += 1024)
        sum += w[k] + w[n - 1 - k];
    return sum;
}

#pragma acc routine seq
static long twice(int gang, int n)
{
    if (gang < 0)
        return 0;
    int w[LENGTH];
    w[0] = gang;
    w[LENGTH - 1] = n;
    return w[0] + w[LENGTH - 1] + variable(gang, n / 2) + variable(gang, 3);
}

int main(void)
{
    int n = LENGTH, w[n];
    long sums[4] = {0}, expected[4] = {0};
    for (int k = 0; k < n; k++)
        w[k] = -1;
    long a = 0, b = 0, c = 0, d = 0;
#pragma acc parallel loop private(w) reduction(+ : a) num_gangs(GANGS)
    for (int i = 0; i < GANGS; i++) {
        for (int k = 0; k < n; k++)
            w[k] = i;
        for (int k = 0; k < n; k += 1024)
            a += w[k];
    }
#pragma acc parallel loop reduction(+ : b) num_gangs(GANGS)
    for (int i = 0; i < GANGS; i++)
        for (int size = 1000; size <= n; size *= 15) {
            int local[size];
            for (int k = 0; k < size; k++)
                local[k] = i + size;
            b += local[0] + local[size - 1];
        }
#pragma acc parallel loop reduction(+ : c) num_gangs(GANGS) async(1)
    for (int i = 0; i < GANGS; i++)
        c += twice(i, n);
#pragma acc wait
#pragma acc parallel num_gangs(GANGS) reduction(+ : d)
    {
        int shared[LENGTH];
#pragma acc loop vector
        for (int k = 0; k < LENGTH; k++)
            shared[k] = k;
        d += shared[LENGTH - 1];
    }
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
    for (int i = 0; i < GANGS; i++) {
        expected[0] += (long)i * (n / 1024);
        for (int size = 1000; size <= n; size *= 15)
            expected[1] += 2 * (i + size);
        expected[2] += twice(i, n);
        expected[3] += LENGTH - 1;
    }
    for (int k = 0; k < 4; k++)
        if (sums[k] != expected[k]) {
            printf("%d: %ld instead of %ld\n", k, sums[k], expected[k]);
            return 1;
        }
    if (w[0] != -1 || w[n - 1] != -1)
        return 1;
    printf("ok\n");
    return 0;
}
