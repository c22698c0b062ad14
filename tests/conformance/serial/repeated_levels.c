/* Kernels constructs whose nested loops name a level twice, or narrow before wide, as programs for OpenACC 1 do. */
#include <stdio.h>
#define N 40

int main(void)
{
    static double a[N][N], b[N][N], c[N][N], e[N][N][2];
    long sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            b[i][j] = i + j;
            c[i][j] = i - 2 * j;
        }
#pragma acc kernels copyin(b, c) copyout(a)
    {
#pragma acc loop independent gang(4), vector(8)
        for (int i = 0; i < N; i++) {
#pragma acc loop independent gang, vector(16)
            for (int j = 0; j < N; j++) {
                double s = 0;
#pragma acc loop seq
                for (int k = 0; k < N; k++)
                    s += b[i][k] * c[k][j];
                a[i][j] = s;
            }
        }
    }
#pragma acc kernels loop independent vector(8)
    for (int i = 0; i < N; i++)
#pragma acc loop independent gang worker(2)
        for (int j = 0; j < N; j++)
#pragma acc loop independent vector
            for (int k = 0; k < 2; k++)
                e[i][j][k] = k + a[i][j] - b[i][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 31 % 1000003 + (long)(a[i][j] + e[i][j][1] - e[i][j][0]);
    printf("%ld\n", sum);
    return 0;
}
