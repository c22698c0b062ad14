/* Sums and recurrences along rows have the same bits however many rows there are: on CPU threads the last ones are
 * computed by other code. */
#include "check.h"

enum { MOST = 48, M = 50 };
static double a[MOST][M], c[MOST][M], columns[M][MOST], d[M], e[M], y[MOST], z[MOST];

static void fill(void) {
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < M; j++) {
            a[i][j] = (i * 7 + j * 3) % 23 / 7.;
            c[i][j] = (i * 5 + j) % 19 / 3.;
            columns[j][i] = (i + j * 11) % 17 / 11.;
        }
    for (int j = 0; j < M; j++) d[j] = j % 7 / 9. + .01, e[j] = j % 5 / 13.;
    for (int i = 0; i < MOST; i++) y[i] = z[i] = i * .1;
}

static void columns_and_same(int n, int m) {
#pragma acc parallel loop copyin(columns, d, e) copy(y)
    for (int i = 0; i < n; i++) {
        double s = y[i];
        for (int j = 0; j < m; j++) s += d[j] * e[j] + columns[j][i];
        y[i] = s;
    }
}

static void two_sums_in_memory(int n, int m) {
#pragma acc parallel loop gang vector copyin(a, c, d) copy(y, z)
    for (int i = 0; i < n; i++) {
        y[i] = z[i] = 0;
        for (int j = 0; j < m; j++) {
            y[i] += a[i][j] * d[j];
            z[i] = c[i][j] * d[j] + z[i];
        }
        y[i] = 1.1 * y[i] - .9 * z[i];
    }
}

static void recurrence(int n, int m) {
#pragma acc kernels loop independent copyin(c, d) copy(a, z)
    for (int i = 0; i < n; i++) {
        double s = 1;
#pragma acc loop seq
        for (int j = 1; j < m; j++) {
            a[i][j] = c[i][j] * .4 - a[i][j - 1] * .3;
            s = s * .5 + (d[j] * .4 + a[i][j] * .3);
        }
        z[i] = s;
    }
}

static void backwards(int n, int m) {
#pragma acc parallel loop copyin(c, columns) copy(a)
    for (int i = 0; i < n; i++)
        for (int j = m - 2; j >= 0; j--) a[i][j] = (c[i][j] - columns[j][i] * a[i][j + 1]) / (c[i][j] * .5 + 2);
}

/* The number of the element is computed in the loop, also where only an address that nothing uses needs it. */
static void rows_by_number(int n, double *restrict flat, double (*restrict from)[M], double (*restrict to)[M]) {
#pragma acc parallel loop copy(flat[0:n * n]) copyin(from[0:n]) copy(to[0:n])
    for (long i = 0; i < n; i++)
        for (long j = 1; j < n; j++) {
            double f = from[i][j] / 4;
            to[i][j] = f - to[i][j - 1] / 3;
            flat[i * n + j] = flat[i * n + j - 1] * f + from[i][j - 1];
        }
}

static double first_a[MOST][M], first_y[MOST], first_z[MOST];

int main(void) {
    void (*functions[])(int, int) = {columns_and_same, two_sums_in_memory, recurrence, backwards};
    for (int f = 0; f < 4; f++) {
        const int n = 37;
        fill();
        functions[f](n, M);
        memcpy(first_a, a, sizeof a);
        memcpy(first_y, y, sizeof y);
        memcpy(first_z, z, sizeof z);
        fill();
        functions[f](MOST, M);
        CHECK(memcmp(first_a, a, n * sizeof *a) == 0);
        CHECK(memcmp(first_y, y, n * sizeof *y) == 0);
        CHECK(memcmp(first_z, z, n * sizeof *z) == 0);
    }
    fill();
    double row[M];
    memcpy(row, a[3], sizeof row);
    for (int j = 1; j < M; j++) row[j] = c[3][j] * .4 - row[j - 1] * .3;
    recurrence(MOST, M);
    for (int j = 0; j < M; j++) CHECK_NEAR(a[3][j], row[j]);
    static double flat[M * M], wanted[M * M], to[M][M], to_wanted[M][M];
    fill();
    for (int k = 0; k < M * M; k++) flat[k] = wanted[k] = k % 7;
    rows_by_number(MOST, flat, c, to);
    for (int i = 0; i < MOST; i++)
        for (int j = 1; j < MOST; j++) {
            double f = c[i][j] / 4;
            to_wanted[i][j] = f - to_wanted[i][j - 1] / 3;
            wanted[i * MOST + j] = wanted[i * MOST + j - 1] * f + c[i][j - 1];
            CHECK_NEAR(to[i][j], to_wanted[i][j]);
            CHECK_NEAR(flat[i * MOST + j], wanted[i * MOST + j]);
        }
    return report();
}
