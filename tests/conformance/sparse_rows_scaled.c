/* Rows of a sparse matrix, read twice: the lanes that share a row, as many as suit the mean length, share both loops. */
#include "check.h"

static void scale(int n, int m, const int *off, const int *v, int *w)
{
#pragma acc parallel loop copyin(off[0:n+1], v[0:m]) copyout(w[0:m])
    for (int i = 0; i < n; i++) {
        int s = 0;
#pragma acc loop reduction(+:s)
        for (int e = off[i]; e < off[i + 1]; e++)
            s += v[e];
#pragma acc loop
        for (int e = off[i]; e < off[i + 1]; e++)
            w[e] = v[e] * s;
    }
}

/* Some rows only; the bounds of the others are not on the device where `rows` < n. */
static void sum_some(int n, int rows, int m, const int *off, const int *v, int *w)
{
#pragma acc parallel loop copyin(off[0:rows+1], v[0:m]) copy(w[0:n])
    for (int i = 0; i < n; i++)
        if (i < rows && i % 3) {
            int s = 0;
#pragma acc loop reduction(+:s)
            for (int e = off[i]; e < off[i + 1]; e++)
                s += v[e];
            w[i] = s;
        }
}

int main(void)
{
    const int lengths[] = {1, 9, 60, 130, 300};
    for (int k = 0; k < 5; k++) {
        int n = 97, most = lengths[k], m = 0, *off = calloc(n + 1, sizeof *off);
        for (int i = 0; i < n; i++)
            off[i + 1] = m += i * 7919 % (2 * most + 1);
        int *v = calloc(m + 1, sizeof *v), *w = calloc(m + 1, sizeof *w);
        for (int e = 0; e < m; e++)
            v[e] = e * 31 % 17;
        scale(n, m, off, v, w);
        for (int i = 0; i < n; i++) {
            int s = 0, wrong = 0;
            for (int e = off[i]; e < off[i + 1]; e++)
                s += v[e];
            for (int e = off[i]; e < off[i + 1]; e++)
                wrong += w[e] != v[e] * s;
            CHECK_EQ(wrong, 0);
        }
        for (int rows = n; rows > 0; rows -= 40) {
            int *t = calloc(n, sizeof *t);
            sum_some(n, rows, m, off, v, t);
            for (int i = 0; i < n; i++) {
                int s = 0;
                for (int e = off[i]; i < rows && i % 3 && e < off[i + 1]; e++)
                    s += v[e];
                CHECK_EQ(t[i], s);
            }
            free(t);
        }
        free(off), free(v), free(w);
    }
    return report();
}
