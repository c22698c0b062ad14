/*
 * Products of doubles by matrix instructions: factors by rows and by columns, subtracted,
 * of sizes that fill blocks and pieces and of others.
 */
#include <stdio.h>
#include <stdlib.h>

typedef const double *restrict In;
typedef double *restrict Out;

#define PRODUCT(name, A, B, START, TERM)                                                                     \
    static void name(int n, int m, int l, In a, In b, Out c)                                                 \
    {                                                                                                        \
        _Pragma("acc parallel loop collapse(2) copyin(a[0:n * l], b[0:l * m]) copy(c[0:n * m])")             \
        for (int i = 0; i < n; i++)                                                                          \
            for (int j = 0; j < m; j++) {                                                                    \
                double sum = START;                                                                          \
                for (int k = 0; k < l; k++)                                                                  \
                    sum = sum TERM a[A] * b[B];                                                              \
                c[i * m + j] = sum;                                                                          \
            }                                                                                                \
    }                                                                                                        \
    static void name##_serial(int n, int m, int l, In a, In b, Out c)                                        \
    {                                                                                                        \
        for (int i = 0; i < n; i++)                                                                          \
            for (int j = 0; j < m; j++) {                                                                    \
                double sum = START;                                                                          \
                for (int k = 0; k < l; k++)                                                                  \
                    sum = sum TERM a[A] * b[B];                                                              \
                c[i * m + j] = sum;                                                                          \
            }                                                                                                \
    }

PRODUCT(plain, i *l + k, k *m + j, 0, +)
#ifdef ALL
PRODUCT(left_by_columns, k *n + i, k *m + j, 0, +)
PRODUCT(right_by_columns, i *l + k, j *l + k, 0, +)
PRODUCT(both_by_columns, k *n + i, j *l + k, 1, +)
#endif
PRODUCT(subtracted, i *l + k, k *m + j, c[i * m + j], -)

typedef void Function(int n, int m, int l, In a, In b, Out c);

static int check(Function *device, Function *host, int n, int m, int l)
{
    double *a = malloc(8 * n * l), *b = malloc(8 * l * m), *c = malloc(8 * n * m), *d = malloc(8 * n * m);
    for (int i = 0; i < n * l; i++)
        a[i] = i * 7 % 11 - 5;
    for (int i = 0; i < l * m; i++)
        b[i] = i * 5 % 13 - 6;
    for (int i = 0; i < n * m; i++)
        c[i] = d[i] = i % 17;
    device(n, m, l, a, b, c);
    host(n, m, l, a, b, d);
    int wrong = 0;
    for (int i = 0; i < n * m; i++)
        wrong += c[i] != d[i];
    free(a);
    free(b);
    free(c);
    free(d);
    return wrong;
}

int main(void)
{
    static const int sizes[][3] = {{64, 64, 32}, {65, 70, 47}, {33, 130, 48}, {1, 5, 40}};
    int wrong = 0;
    for (int s = 0; s < 4; s++) {
        int n = sizes[s][0], m = sizes[s][1], l = sizes[s][2];
        wrong += check(plain, plain_serial, n, m, l);
#ifdef ALL
        wrong += check(left_by_columns, left_by_columns_serial, n, m, l);
        wrong += check(right_by_columns, right_by_columns_serial, n, m, l);
        wrong += check(both_by_columns, both_by_columns_serial, n, m, l);
#endif
        wrong += check(subtracted, subtracted_serial, n, m, l);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
