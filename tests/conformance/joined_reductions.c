/* Nests whose loops reduce the same variables: sums and largest values of rows that are stored as well. */
#include <math.h>
#include <stdio.h>
enum { N = 37, M = 53, K=9 };
static double a[N][M], b[N][M]; static int c[K][N][M];
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) { a[i][j] = (i * 31 + j * 17) % 23 - 11; b[i][j] = 0; for (int k=0;k<K;k++) c[k][i][j] = (i+j*k)%7; }
    double sum = 1.5, largest = -1e30, ws = 0, wl = -1e30; long n = 0, wn = 0; int wrong = 0;
#pragma acc parallel loop gang reduction(+:sum) reduction(max:largest) copyin(a) copy(b)
    for (int i = 1; i < N - 1; i++) {
        int up = i + 1;
#pragma acc loop vector reduction(+:sum) reduction(max:largest)
        for (int j = 1; j < M - 1; j++) {
            b[i][j] = a[up][j] + a[i][j - 1];
            sum += b[i][j];
            largest = fmax(largest, fabs(b[i][j] - a[i][j]));
        }
    }
#pragma acc parallel loop reduction(+:n) copyin(c)
    for (int k = 0; k < K; k++)
#pragma acc loop reduction(+:n)
        for (int i = N - 1; i >= 0; i -= 2)
#pragma acc loop reduction(+:n)
            for (int j = 0; j < M; j++)
                n += c[k][i][j];
    double change = -1.0, wanted = -1.0;
#pragma acc parallel loop collapse(2) reduction(max:change) copyin(a)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++)
            change = fmax(change, a[i - 1][j] + a[i + 1][j] - a[i][j - 1]);
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++)
            wanted = fmax(wanted, a[i - 1][j] + a[i + 1][j] - a[i][j - 1]);
    wrong += change != wanted;
    for (int i = 1; i < N - 1; i++) for (int j = 1; j < M - 1; j++) { double v = a[i+1][j] + a[i][j-1]; ws += v; wl = fmax(wl, fabs(v - a[i][j])); wrong += b[i][j] != v; }
    for (int k = 0; k < K; k++) for (int i = N-1; i >= 0; i -= 2) for (int j = 0; j < M; j++) wn += c[k][i][j];
    printf("%g %g %ld %d %s\n", sum, largest, n, wrong, sum == ws + 1.5 && largest == wl && n == wn && !wrong ? "right" : "failed");
}
