/* Loops in order that use the value of what a clause reduces: they see the variable, as in C. */
#include <stdio.h>

#define N 40

static int a[N], b[N], rows[4][N];

int main(void)
{
    int best, where, sum, i, j;
    for (i = 0; i < N; i++) {
        a[i] = 90 - i * 2;
        for (j = 0; j < 4; j++)
            rows[j][i] = j * 10 - (i * 7 + j * 3) % 23;
    }
    best = 60;
    where = -1;
#pragma acc kernels
    {
#pragma acc loop reduction(max : best)
        for (i = 1; i < N; i++) {
            where = a[i] > best ? i : where;
            best = a[i] > best ? a[i] : best;
        }
    }
    printf("kernels %d %d\n", best, where);
    best = a[0];
    where = 0;
#pragma acc kernels loop reduction(max : best)
    for (i = 1; i < N; i++)
        if (a[i] > best) {
            best = a[i];
            where = i;
        }
    printf("kernels loop %d %d\n", best, where);
    sum = 7;
#pragma acc kernels loop reduction(+ : sum) copyout(b)
    for (i = 0; i < N; i++) {
        sum += a[i];
        b[i] = sum;
    }
    printf("sums %d %d %d\n", sum, b[0], b[N - 1]);
    best = a[0];
    where = 0;
#pragma acc serial loop reduction(max : best) copy(where)
    for (i = 1; i < N; i++)
        if (a[i] > best) {
            best = a[i];
            where = i;
        }
    printf("serial %d %d\n", best, where);
    best = a[0];
    where = 0;
#pragma acc parallel loop seq reduction(max : best) copy(where)
    for (i = 1; i < N; i++)
        if (a[i] > best) {
            best = a[i];
            where = i;
        }
    printf("seq %d %d\n", best, where);
#pragma acc parallel loop private(best, where) copyout(b)
    for (j = 0; j < 4; j++) {
        best = 0;
        where = -1;
#pragma acc loop seq reduction(max : best)
        for (i = 0; i < N; i++)
            if (rows[j][i] > best) {
                best = rows[j][i];
                where = i;
            }
        b[2 * j] = best;
        b[2 * j + 1] = where;
    }
    for (i = 0; i < 8; i++)
        printf("%d%c", b[i], i < 7 ? ' ' : '\n');
    return 0;
}
