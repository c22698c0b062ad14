/* Reductions whose clause stands on one level of a nest, or nowhere, and those of scalars in data clauses. */
#include <math.h>
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N 5
#define M 6
#define L 70

static int a[N][M][L];
static long total;
static unsigned char bits;

int main(void)
{
    int i, j, k, s1 = 3, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 1, s7 = 0, all = 1, any = 0;
    short narrow = 2;
    unsigned u = 0, least = 4000000000u;
    float f = 0, largest = -1;
    double error = 0, product = 1, low = 100;
    long x = 4, y = 4;

    for (k = 0; k < N; k++)
        for (j = 0; j < M; j++)
            for (i = 0; i < L; i++)
                a[k][j][i] = (k * 31 + j * 7 + i) % 13;

#pragma acc data copyin(a)
    {
#pragma acc parallel loop gang reduction(+:s1)
        for (k = 0; k < N; k++) {
#pragma acc loop worker
            for (j = 0; j < M; j++) {
#pragma acc loop vector
                for (i = 0; i < L; i++)
                    s1 += a[k][j][i];
            }
        }
#pragma acc parallel loop
        for (k = 0; k < N; k++)
#pragma acc loop reduction(+:s2)
            for (j = 0; j < M; j++)
#pragma acc loop
                for (i = 0; i < L; i++)
                    s2 = s2 + a[k][j][i];
#pragma acc parallel
        {
#pragma acc loop gang
            for (k = 0; k < N; k++)
#pragma acc loop worker
                for (j = 0; j < M; j++)
#pragma acc loop vector reduction(+:s3)
                    for (i = 0; i < L; i++)
                        s3 = a[k][j][i] + s3;
        }
#pragma acc parallel reduction(+:s4) reduction(max:largest)
        {
#pragma acc loop gang worker vector
            for (k = 0; k < N; k++)
                for (j = 0; j < M; j++)
                    for (i = 0; i < L; i++) {
                        s4 += a[k][j][i];
                        if (a[k][j][i] > largest)
                            largest = a[k][j][i];
                    }
        }
#pragma acc kernels loop
        for (k = 0; k < N; k++)
#pragma acc loop reduction(+:s5)
            for (j = 0; j < M; j++)
                for (i = 0; i < L; i++)
                    s5 += a[k][j][i];
#pragma acc kernels loop independent
        for (k = 0; k < N; k++)
#pragma acc loop independent
            for (j = 0; j < M; j++)
                for (i = 0; i < L; i++) {
                    error = fmax(error, fabs(a[k][j][i] - 6.5));
                    s6 ^= a[k][j][i] << k;
                    f += a[k][j][i] * 0.5;
                }
#pragma acc parallel loop
        for (k = 0; k < N; k++)
#pragma acc loop
            for (j = 0; j < M; j++)
                for (i = 0; i < L; i++) {
                    narrow += a[k][j][i] & 1;
                    u = a[k][j][i] > u ? a[k][j][i] : u;
                    if (least > a[k][j][i] + 3u)
                        least = a[k][j][i] + 3u;
                    low = a[k][j][i] + 1.5 < low ? a[k][j][i] + 1.5 : low;
                    all = all && a[k][j][i] < 13;
                    any = a[k][j][i] == 12 || any;
                    s7 -= a[k][j][i];
                    s7++;
                    bits |= 1 << (a[k][j][i] & 7);
                    total = MAX(MAX(total, a[k][j][i] * 100L), j);
                    if (a[k][j][i] > 11)
                        product *= 1.125;
                    else if (i == 3)
                        product *= 0.5;
                }
#pragma acc kernels copy(x, y)
        {
#pragma acc loop
            for (i = L - 1; i >= 0; i--)
                for (long q = i; q < L; q++)
                    x ^= q * 3 - 1;
#pragma acc loop
            for (i = 0; i < L; i++)
                for (j = 2; j < i; j++)
                    y += j;
        }
    }
    printf("%d %d %d %d %d %d %d\n", s1, s2, s3, s4, s5, s6, s7);
    printf("%g %g %g %d %u %u %g\n", largest, error, f, narrow, u, least, low);
    printf("%d %d %d %ld %.12g %ld %ld\n", all, any, bits, total, product, x, y);
    return 0;
}
