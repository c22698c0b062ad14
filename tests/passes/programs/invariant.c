#include <stdio.h>
#include <stdlib.h>
void x_reuse(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n*n]) copyout(b[0:n*n])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 64; k++)
                sum += a[i * n + k];
            b[i * n + j] = sum;
        }
    }
}
/* unknown trip counts, a condition inside, several values */
void norms(int n, int m, const double *a, double *b)
{
#pragma acc parallel loop copyin(a[0:n*m]) copy(b[0:n*m])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < m; j++) {
            double s = 0.0, big = -1.0;
            for (int k = 0; k < m; k++) {
                s += a[i * m + k];
                if (a[i * m + k] > big)
                    big = a[i * m + k];
            }
            b[i * m + j] = a[i * m + j] / s + big;
        }
    }
}
/* the loop reads what the iteration has written: one iteration only, so legal, and not to be hoisted */
void after(int n, int m, double *t, double *b)
{
#pragma acc parallel loop copy(t[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < m; j++) {
            t[i] = i + 1.0;
            double s = 0.0;
            for (int k = 0; k < 100; k++)
                s += t[i];
            b[i] = s;
        }
    }
}
int main(void)
{
    int n = 130;
    float *a = malloc(n * n * 4), *b = malloc(n * n * 4);
    double *c = malloc(n * n * 8), *d = malloc(n * n * 8), *t = malloc(n * 8);
    for (int i = 0; i < n * n; i++) { a[i] = i % 17; c[i] = i % 23 + 0.5; d[i] = 0; }
    x_reuse(n, a, b);
    norms(n, n, c, d);
    double s = 0;
    for (int i = 0; i < n * n; i++) s += b[i] * (i % 5) + d[i] * (i % 7);
    for (int i = 0; i < n; i++) t[i] = 7;
    after(n, 1, t, d);
    for (int i = 0; i < n; i++) s += d[i] * i;
    norms(n, 0, c, d);
    after(n, 0, t, d);
    printf("%.6f\n", s);
}
