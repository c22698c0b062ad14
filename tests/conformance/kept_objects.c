/* Iterations that work on small matrices of their own in device memory, with pivots, conditions and loops
   that end early: the same results in memory as one after the other, and nothing else written. */
#include "check.h"

enum { N = 150, S = 5, ROOM = 40 };
static double store[N * ROOM + 3], before[N * ROOM + 3], expected[N * ROOM + 3];
static int rows[N * S], rows_expected[N * S];

#define FACTOR(at)                                                                \
    for (int k = 0; k < S; k++) {                                                 \
        int q = k;                                                                \
        double big = fabs(at(k, k));                                              \
        for (int r = k + 1; r < S; r++)                                           \
            if (fabs(at(r, k)) > big) {                                           \
                big = fabs(at(r, k));                                             \
                q = r;                                                            \
            }                                                                     \
        p[i * S + k] = q;                                                         \
        if (q != k)                                                               \
            for (int c = 0; c < S; c++) {                                         \
                double t = at(k, c);                                              \
                at(k, c) = at(q, c);                                              \
                at(q, c) = t;                                                     \
            }                                                                     \
        for (int r = k + 1; r < S; r++) {                                         \
            at(r, k) /= at(k, k);                                                 \
            for (int c = k + 1; c < S; c++)                                       \
                at(r, c) -= at(r, k) * at(k, c);                                  \
        }                                                                         \
    }

static void flat(int n, double *m, int *p)
{
#define AT(r, c) m[i * S * S + (r) * S + (c)]
#pragma acc parallel loop present(m[0:n * S * S], p[0:n * S])
    for (int i = 0; i < n; i++) {
        FACTOR(AT)
    }
}
static void flat_here(int n, double *m, int *p)
{
    for (int i = 0; i < n; i++) {
        FACTOR(AT)
    }
}
static void three(long n, double (*m)[S][S], int *p)
{
#define AT3(r, c) m[i][r][c]
#pragma acc kernels loop independent present(m[0:n], p[0:n * S])
    for (long i = 0; i < n; i++) {
        FACTOR(AT3)
    }
}
static void pointers(unsigned n, double *m, int *p)
{
#define ATP(r, c) own[(r) * S + (c)]
#pragma acc parallel loop gang vector_length(64) present(m[0:n * S * S], p[0:n * S])
    for (unsigned i = 0; i < n; i++) {
        double *own = m + i * S * S;
        FACTOR(ATP)
    }
}

/* Elements that some iterations write, and holes that none may touch: the lower triangle. */
static void triangle(int n, const int *which, double (*m)[S][S])
{
#pragma acc parallel loop present(m[0:n], which[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < S; k++) {
            if (which[i] > k)
                m[i][k][0] = m[i][k][k] + which[i];
            for (int r = k; r < S; r++)
                for (int c = 0; c <= k; c++)
                    m[i][r][c] = 0.5 * m[i][r][c] + 0.25 * m[i][k][c];
        }
}
static void triangle_here(int n, const int *which, double (*m)[S][S])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < S; k++) {
            if (which[i] > k)
                m[i][k][0] = m[i][k][k] + which[i];
            for (int r = k; r < S; r++)
                for (int c = 0; c <= k; c++)
                    m[i][r][c] = 0.5 * m[i][r][c] + 0.25 * m[i][k][c];
        }
}

/* A loop that ends early, in structures whose other members another part of the program owns. */
typedef struct { double re, im, other; } state;
static void advance(int n, const double *c, state *z, int *count)
{
    int i, k;
#pragma acc parallel loop private(k) present(c[0:n], z[0:n], count[0:n])
    for (i = 0; i < n; i++) {
        z[i].re = c[i];
        z[i].im = 0.1;
        for (k = 0; k < 20 && z[i].re * z[i].re + z[i].im * z[i].im < 4; k++) {
            double re = z[i].re * z[i].re - z[i].im * z[i].im + c[i];
            z[i].im = 2 * z[i].re * z[i].im + 0.2;
            z[i].re = re;
        }
        count[i] = k;
    }
}
static void advance_here(int n, const double *c, state *z, int *count)
{
    for (int i = 0; i < n; i++) {
        int k;
        z[i].re = c[i];
        z[i].im = 0.1;
        for (k = 0; k < 20 && z[i].re * z[i].re + z[i].im * z[i].im < 4; k++) {
            double re = z[i].re * z[i].re - z[i].im * z[i].im + c[i];
            z[i].im = 2 * z[i].re * z[i].im + 0.2;
            z[i].re = re;
        }
        count[i] = k;
    }
}

/* Sorted in place: places that are chosen, one of which is beyond the elements that all iterations touch. */
static void sorted(int n, int m, int *v)
{
#pragma acc parallel loop present(v[0:m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 6; j++) {
            int least = j;
            for (int k = j + 1; k < 6; k++)
                if (v[6 * i + k] < v[6 * i + least])
                    least = k;
            int t = v[6 * i + j];
            v[6 * i + j] = v[6 * i + least];
            v[6 * i + least] = t;
            if (t < 0 && 6 * i + 6 + t < m)
                v[6 * i + 6 + t] += 0;
        }
}
static void sorted_here(int n, int m, int *v)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 6; j++) {
            int least = j;
            for (int k = j + 1; k < 6; k++)
                if (v[6 * i + k] < v[6 * i + least])
                    least = k;
            int t = v[6 * i + j];
            v[6 * i + j] = v[6 * i + least];
            v[6 * i + least] = t;
            if (t < 0 && 6 * i + 6 + t < m)
                v[6 * i + 6 + t] += 0;
        }
}

/* The same memory through two pointers. */
static void shifted(int n, double (*a)[4], double (*b)[4])
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            a[i][k] += 1;
            for (int c = 0; c < 3; c++)
                a[i][c] = a[i][c] * 0.5 + b[i][k];
        }
}
static void shifted_here(int n, double (*a)[4], double (*b)[4])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            a[i][k] += 1;
            for (int c = 0; c < 3; c++)
                a[i][c] = a[i][c] * 0.5 + b[i][k];
        }
}

static void begin(void)
{
    memcpy(store, before, sizeof store);
    memcpy(expected, before, sizeof expected);
    memset(rows, 0, sizeof rows);
    memset(rows_expected, 0, sizeof rows);
#pragma acc update device(store, rows)
}

static void end(const char *name)
{
#pragma acc update self(store, rows)
    for (int i = 0; i < N * ROOM + 3; i++)
        if (!(fabs(store[i] - expected[i]) <= 1e-9 * (1 + fabs(expected[i])))) {
            printf("%s: element %d is %g, not %g\n", name, i, store[i], expected[i]);
            failures++;
            return;
        }
    for (int i = 0; i < N * S; i++)
        if (rows[i] != rows_expected[i]) {
            printf("%s: row %d is %d, not %d\n", name, i, rows[i], rows_expected[i]);
            failures++;
            return;
        }
}

int main(void)
{
    static int which[N], v[6 * N], sorted_v[6 * N];
    for (int i = 0; i < N * ROOM + 3; i++)
        before[i] = (i * 37 % 101) / 16.0 - 3 + (i % 7 == 0);
    for (int i = 0; i < N; i++)
        which[i] = i % 7 - 1;
    for (int i = 0; i < 6 * N; i++)
        sorted_v[i] = v[i] = (i * 71) % 97 - 4;
#pragma acc data copyin(store, rows, which) copy(v)
    for (int shift = 0; shift < 3; shift++) {
        double *m = store + shift, *mine = expected + shift;
        int n = shift == 2 ? 1 : N;
        begin();
        flat(n, m, rows);
        flat_here(n, mine, rows_expected);
        end("flat");
        begin();
        three(n, (double (*)[S][S])m, rows);
        flat_here(n, mine, rows_expected);
        end("three");
        begin();
        pointers(n, m, rows);
        flat_here(n, mine, rows_expected);
        end("pointers");
        begin();
        triangle(n, which, (double (*)[S][S])m);
        triangle_here(n, which, (double (*)[S][S])mine);
        end("triangle");
        begin();
        advance(n, m, (state *)(m + 10 * N), rows);
        advance_here(n, mine, (state *)(mine + 10 * N), rows_expected);
        end("advance");
        begin();
        shifted(n, (double (*)[4])m, (double (*)[4])(m + (shift & 1)));
        shifted_here(n, (double (*)[4])mine, (double (*)[4])(mine + (shift & 1)));
        end("shifted");
        begin();
        flat(0, m, rows);
        end("nothing");
    }
#pragma acc data copy(v)
    sorted(N, 6 * N, v);
    sorted_here(N, 6 * N, sorted_v);
    CHECK(memcmp(v, sorted_v, sizeof v) == 0);
    return report();
}
