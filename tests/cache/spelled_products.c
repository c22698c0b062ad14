/* Products whose loops are written in other words: counted down, as while loops, with one directive. */
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL float
#endif
typedef const REAL *restrict In;
typedef REAL *restrict Out;
#define DATA present(a[0 : n * l], b[0 : l * m], c[0 : n * m])

static void down(int n, int m, int l, In a, In b, Out c)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--) {
            REAL sum = 0;
            for (int k = l - 1; k >= 0; k--)
                sum += a[i * l + k] * b[k * m + j];
            c[i * m + j] = sum;
        }
}

static void down_to_one(int n, int m, int l, In a, In b, Out c)
{
#pragma acc parallel loop DATA
    for (int i = n; i > 0; i--) {
#pragma acc loop
        for (int j = m; j > 0; j--) {
            REAL sum = 0;
            for (int k = l; k > 0; --k)
                sum += a[(k - 1) * n + i - 1] * b[(j - 1) * l + k - 1];
            c[(i - 1) * m + j - 1] = sum;
        }
    }
}

static void counted(int n, int m, int l, In a, In b, Out c)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            REAL sum = 0;
            int k = 0;
            while (k < l) {
                sum += a[i * l + k] * b[k * m + j];
                k++;
            }
            c[i * m + j] = sum;
        }
}

static void walked(int n, int m, int l, In a, In b, Out c)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const REAL *p = a + i * l, *end = p + l, *q = b + j;
            REAL sum = 0;
            while (p != end) {
                sum += *p++ * *q;
                q += m;
            }
            c[i * m + j] = sum;
        }
}

static void outermost(int n, int m, int l, const REAL *a, const REAL *b, REAL *c)
{
#pragma acc parallel loop DATA
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            REAL sum = 0;
            for (int k = 0; k < l; k++)
                sum += a[i * l + k] * b[k * m + j];
            c[i * m + j] = sum;
        }
}

typedef void Function(int n, int m, int l, const REAL *a, const REAL *b, REAL *c);

static int check(Function *f, int swapped, int n, int m, int l)
{
    REAL *a = malloc(sizeof(REAL) * n * l), *b = malloc(sizeof(REAL) * l * m), *c = malloc(sizeof(REAL) * n * m);
    for (int i = 0; i < n * l; i++)
        a[i] = i * 7 % 11 - 5;
    for (int i = 0; i < l * m; i++)
        b[i] = i * 5 % 13 - 6;
    for (int i = 0; i < n * m; i++)
        c[i] = -1;
#pragma acc data copyin(a[0 : n * l], b[0 : l * m]) copy(c[0 : n * m])
    f(n, m, l, a, b, c);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            REAL sum = 0;
            for (int k = 0; k < l; k++)
                sum += (swapped ? a[k * n + i] : a[i * l + k]) * (swapped ? b[j * l + k] : b[k * m + j]);
            wrong += c[i * m + j] != sum;
        }
    free(a);
    free(b);
    free(c);
    return wrong;
}

int main(void)
{
    static const int sizes[][3] = {{64, 64, 32}, {33, 70, 47}, {1, 5, 40}};
    int wrong = 0;
    for (int s = 0; s < 3; s++) {
        int n = sizes[s][0], m = sizes[s][1], l = sizes[s][2];
        wrong += check((Function *)down, 0, n, m, l);
        wrong += check((Function *)down_to_one, 1, n, m, l);
        wrong += check((Function *)counted, 0, n, m, l);
        wrong += check((Function *)walked, 0, n, m, l);
        wrong += check(outermost, 0, n, m, l);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
