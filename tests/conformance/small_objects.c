/* Iterations that work on small objects of their own: the same results where arrays are the same, overlap
   within an iteration, are parts of one array, or do not begin at a multiple of 16 bytes. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

enum { N = 203 };
typedef struct { double re, im; } number;
typedef struct { number e[2][2]; } matrix;
typedef struct { number c[2]; } vector;
static double store[40 * N + 9], before[40 * N + 9], expected[40 * N + 9];

#define PRODUCT(M, V, W)                                                                          \
    W.c[0].re = M.e[0][0].re * V.c[0].re - M.e[0][0].im * V.c[0].im + M.e[0][1].re * V.c[1].re;   \
    W.c[0].im = M.e[0][0].re * V.c[0].im + M.e[0][0].im * V.c[0].re + M.e[0][1].re * V.c[1].im;   \
    W.c[1].re = M.e[1][0].re * V.c[0].re - M.e[1][0].im * V.c[0].im + M.e[1][1].re * V.c[1].re;   \
    W.c[1].im = M.e[1][0].re * V.c[0].im + M.e[1][0].im * V.c[0].re + M.e[1][1].re * V.c[1].im

static void written_out(int n, matrix *m, vector *v, vector *w)
{
#pragma acc parallel loop present(m[0:n], v[0:n], w[0:n])
    for (int i = 0; i < n; i++) {
        PRODUCT(m[i], v[i], w[i]);
    }
}

static void product(const matrix *m, const vector *v, vector *w)
{
    PRODUCT((*m), (*v), (*w));
}

static void by_a_routine(int n, matrix *m, vector *v, vector *w)
{
#pragma acc parallel loop present(m[0:n], v[0:n], w[0:n])
    for (int i = 0; i < n; i++)
        product(&m[i], &v[i], &w[i]);
}

static void in_loops(int n, double *m, double *v, double *w)
{
    int i, r, k;
#pragma acc kernels loop independent private(r, k) present(m[0:8 * n], v[0:4 * n], w[0:4 * n])
    for (i = 0; i < n; i++)
        for (r = 0; r < 2; r++) {
            w[4 * i + 2 * r] = 0;
            w[4 * i + 2 * r + 1] = 1;
            for (k = 0; k < 2; k++) {
                w[4 * i + 2 * r] += m[8 * i + 4 * r + 2 * k] * v[4 * i + 2 * k];
                w[4 * i + 2 * r + 1] -= m[8 * i + 4 * r + 2 * k + 1] * v[4 * i + 2 * k + 1];
            }
        }
}

static void in_loops_here(int n, double *m, double *v, double *w)
{
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 2; r++) {
            w[4 * i + 2 * r] = 0;
            w[4 * i + 2 * r + 1] = 1;
            for (int k = 0; k < 2; k++) {
                w[4 * i + 2 * r] += m[8 * i + 4 * r + 2 * k] * v[4 * i + 2 * k];
                w[4 * i + 2 * r + 1] -= m[8 * i + 4 * r + 2 * k + 1] * v[4 * i + 2 * k + 1];
            }
        }
}

/* Three of four components: `w` may begin one element after `v`, within the same iteration. */
static void turned(int n, double (*v)[4], double (*w)[4])
{
#pragma acc parallel loop present(v[0:n], w[0:n])
    for (int i = 0; i < n; i++) {
        w[i][0] = v[i][1] - 2 * v[i][2];
        w[i][1] = v[i][2] - 2 * v[i][0];
        w[i][2] = v[i][0] - 2 * v[i][1];
    }
}

static void turned_here(int n, double (*v)[4], double (*w)[4])
{
    for (int i = 0; i < n; i++) {
        w[i][0] = v[i][1] - 2 * v[i][2];
        w[i][1] = v[i][2] - 2 * v[i][0];
        w[i][2] = v[i][0] - 2 * v[i][1];
    }
}

static void gathered(int n, int *at, float (*x)[4], float (*y)[4])
{
#pragma acc parallel loop present(at[0:n], x[0:n], y[0:n])
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 4; c++)
            y[i][c] = 2 * x[at[i]][c] + x[at[i]][3 - c];
}

static void begin(void)
{
    memcpy(store, before, sizeof store);
    memcpy(expected, before, sizeof expected);
#pragma acc update device(store)
}

static void end(const char *name)
{
#pragma acc update self(store)
    for (int i = 0; i < 40 * N + 9; i++)
        if (!(fabs(store[i] - expected[i]) <= 1e-12)) {
            printf("%s: element %d is %g, not %g\n", name, i, store[i], expected[i]);
            failures++;
            return;
        }
}

static void try_products(const char *name, int n, long v, long w)
{
    double *m = store + 16 * N, *mine = expected + 16 * N;
    begin();
    written_out(n, (matrix *)m, (vector *)(store + v), (vector *)(store + w));
    for (int i = 0; i < n; i++) {
        PRODUCT(((matrix *)mine)[i], ((vector *)(expected + v))[i], ((vector *)(expected + w))[i]);
    }
    end(name);
    begin();
    by_a_routine(n, (matrix *)m, (vector *)(store + v), (vector *)(store + w));
    for (int i = 0; i < n; i++)
        product(&((matrix *)mine)[i], &((vector *)(expected + v))[i], &((vector *)(expected + w))[i]);
    end(name);
    begin();
    in_loops(n, m, store + v, store + w);
    in_loops_here(n, mine, expected + v, expected + w);
    end(name);
}

int main(void)
{
    static int at[N];
    for (int i = 0; i < 40 * N + 9; i++)
        before[i] = (i * 37 % 101) / 16.0 - 3;
    for (int i = 0; i < N; i++)
        at[i] = (i * 71) % N;
#pragma acc data copyin(store, at)
    {
        try_products("apart", N, 0, 4 * N + 1);
        try_products("apart and aligned", N, 0, 8 * N);
        try_products("in place", N, 0, 0);
        try_products("in place, not aligned", N, 1, 1);
        try_products("one iteration", 1, 2, 8);
        try_products("no iteration", 0, 0, 0);
        for (int shift = 0; shift < 2; shift++)
            for (int first = 0; first < 2; first++) {
                double *v = store + first, *mine = expected + first;
                begin();
                turned(N, (double (*)[4])v, (double (*)[4])(v + shift));
                turned_here(N, (double (*)[4])mine, (double (*)[4])(mine + shift));
                end("turned");
            }
        for (int first = 0; first < 3; first++) {
            float *x = (float *)store + first, *y = (float *)(store + 4 * N) + first;
            float *z = (float *)expected + first, *t = (float *)(expected + 4 * N) + first;
            begin();
            gathered(N, at, (float (*)[4])x, (float (*)[4])y);
            for (int i = 0; i < N; i++)
                for (int c = 0; c < 4; c++)
                    t[4 * i + c] = 2 * z[4 * at[i] + c] + z[4 * at[i] + 3 - c];
#pragma acc update self(store)
            CHECK(memcmp(store, expected, sizeof store) == 0);
        }
    }
    return report();
}
