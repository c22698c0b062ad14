/* private on variables of file scope: each gang or thread has copies of its own, the original stays. */
#include <stdio.h>

double scratch[4] = {7.0, 7.0, 7.0, 7.0};
int step = 5;
static double result[100];

int main(void)
{
    int wrong = 0;

#pragma acc parallel loop copyout(result) private(scratch, step)
    for (int i = 0; i < 100; i++) {
        step = i;
        for (int k = 0; k < 4; k++)
            scratch[k] = step * k;
        result[i] = scratch[3] + scratch[1];
    }
    for (int i = 0; i < 100; i++)
        wrong += result[i] != 4.0 * i;

#pragma acc parallel num_gangs(10) copyout(result) private(scratch)
    {
#pragma acc loop gang
        for (int i = 0; i < 10; i++) {
#pragma acc loop vector
            for (int k = 0; k < 4; k++)
                scratch[k] = i + k;
#pragma acc loop vector
            for (int k = 0; k < 10; k++)
                result[10 * i + k] = scratch[k % 4];
        }
    }
    for (int i = 0; i < 100; i++)
        wrong += result[i] != i / 10 + i % 10 % 4;

    for (int k = 0; k < 4; k++)
        wrong += scratch[k] != 7.0;
    wrong += step != 5;
    printf("private globals: %d wrong\n", wrong);
    return wrong != 0;
}
