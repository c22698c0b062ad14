/* Arrays whose data clause is on an outer construct, or in the caller: how long they are nobody says here. */
#include <stdio.h>

struct triple { int row; float value; };

static void add(const struct triple *t, int n, float *sums, int *count)
{
#pragma acc parallel loop copyin(t[0:n])
    for (int k = 0; k < n; k++) {
#pragma acc atomic update
        sums[t[k].row] += t[k].value;
#pragma acc atomic
        count[k % 10]++;
    }
}

int main(void)
{
    struct triple t[500];
    float sums[100];
    int count[10] = {0};
    for (int i = 0; i < 100; i++)
        sums[i] = i;
    for (int i = 0; i < 500; i++)
        t[i] = (struct triple){7 * i % 100, i % 9};
#pragma acc data copy(sums, count)
    add(t, 500, sums, count);
    for (int i = 0; i < 100; i++)
        printf("%g ", sums[i]);
    for (int i = 0; i < 10; i++)
        printf("%d ", count[i]);
    printf("\n");
    return 0;
}
