/* Scalars that kernels constructs only read: globals, statics, and variables that functions are given. */
#include <stdio.h>

int n;
static int factor = 3;
int offset = 2;
double a[100];

static void work(void)
{
#pragma acc kernels
    for (int i = 0; i < n; i++)
        a[i] = factor * offset + i;
}

int main(void)
{
    int local;
    sscanf("100", "%d", &n);
    sscanf("50", "%d", &local);
    for (int t = 0; t < 3; t++) {
        factor = t;
        work();
        printf("%g ", a[4]);
    }
#pragma acc data copyin(offset)
    {
        work();
        printf("%g ", a[4]);
    }
    offset = 100;
    work();
#pragma acc kernels
    for (int i = 0; i < local; i++)
        a[i] += local;
    printf("%g %g %g\n", a[4], a[49], a[50]);
    return 0;
}
