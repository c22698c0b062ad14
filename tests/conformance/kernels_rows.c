/* Rows of kernels constructs: several loops along a row, some of them with a directive, of which some add up
 * floats in order, whose results have the bits of C; also where the arrays overlap, which makes the rows depend on each
 * other, and in loops that the host runs. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

static void scaled(int n, int m, const float *x, float *y, float *s)
{
#pragma acc kernels copyin(x[0:n*m]) copy(y[0:n*m], s[0:n])
    for (int r = 0; r < n; r++) {
        float most = -100, sum = 0.5f;
        for (int c = 0; c < m; c++)
            most = x[r * m + c] > most ? x[r * m + c] : most;
        for (int c = 0; c < m; c++)
            sum += x[r * m + c] - most;
        for (int c = 0; c < m; c++)
            y[r * m + c] = x[r * m + c] / sum;
        s[r] = sum;
    }
}

static void no_store(int n, int m, const float *restrict x, float *restrict s)
{
#pragma acc kernels loop independent copyin(x[0:n*m]) copyout(s[0:n])
    for (int r = 0; r < n; r++) {
        float most = x[r * m], sum = 0;
        int where = 0, count = 0;
        for (int c = 1; c < m; c++)
            if (x[r * m + c] > most) {
                most = x[r * m + c];
                where = c;
            }
        for (int c = 0; c < m; c++)
            count += x[r * m + c] > 1;
        for (int c = 0; c < m; c++)
            sum += x[r * m + c] / 3;
        s[r] = sum + where + count;
    }
}

/* A directive on some loops of the row. */
static void mixed(int n, int m, const float *restrict x, float *restrict y, float *restrict s)
{
#pragma acc parallel loop gang copyin(x[0:n*m]) copy(y[0:n*m], s[0:n])
    for (int r = 0; r < n; r++) {
        float most = -100, sum = 0.5f;
#pragma acc loop vector reduction(max:most)
        for (int c = 0; c < m; c++)
            most = x[r * m + c] > most ? x[r * m + c] : most;
        for (int c = 0; c < m; c++)
            sum += x[r * m + c] - most;
#pragma acc loop vector
        for (int c = 0; c < m; c++)
            y[r * m + c] = x[r * m + c] / sum;
        s[r] = sum;
    }
}

/* Steps on the host around the rows; two nests in a construct. */
static void steps(int n, int m, float *restrict x, float *restrict s)
{
#pragma acc kernels copy(x[0:n*m], s[0:n])
    {
        for (int r = 0; r < n; r++)
            s[r] = 1;
        for (int t = 0; t < 3; t++)
            for (int r = 0; r < n; r++) {
                float most = s[r];
                for (int c = 0; c < m; c++)
                    most = x[r * m + c] > most ? x[r * m + c] : most;
                for (int c = 0; c < m; c++)
                    x[r * m + c] -= most / 4;
                s[r] = most;
            }
    }
}

static void expect(int n, int m, const float *x, float *y, float *s)
{
    for (int r = 0; r < n; r++) {
        float most = -100, sum = 0.5f;
        for (int c = 0; c < m; c++)
            most = x[r * m + c] > most ? x[r * m + c] : most;
        for (int c = 0; c < m; c++)
            sum += x[r * m + c] - most;
        for (int c = 0; c < m; c++)
            y[r * m + c] = x[r * m + c] / sum;
        s[r] = sum;
    }
}

static void check(int n, int m)
{
    int size = n * m;
    float *x = calloc(size + m + 1, sizeof *x), *y = calloc(size + 1, sizeof *y), *z = calloc(size + 1, sizeof *z);
    float *s = calloc(n, sizeof *s), *t = calloc(n, sizeof *t);
    for (int i = 0; i < size + m; i++)
        x[i] = (i * 37 % 101) / 9.0f - 5;
    scaled(n, m, x, y, s);
    expect(n, m, x, z, t);
    CHECK(!memcmp(y, z, size * sizeof *y));
    CHECK(!memcmp(s, t, n * sizeof *s));
    mixed(n, m, x, y, s);
    CHECK(!memcmp(y, z, size * sizeof *y));
    CHECK(!memcmp(s, t, n * sizeof *s));
    if (m > 0) {
        no_store(n, m, x, s);
        for (int r = 0; r < n; r++) {
            float most = x[r * m], sum = 0;
            int where = 0, count = 0;
            for (int c = 0; c < m; c++) {
                if (x[r * m + c] > most)
                    most = x[r * m + c], where = c;
                count += x[r * m + c] > 1;
                sum += x[r * m + c] / 3;
            }
            CHECK(s[r] == sum + where + count);
        }
    }
    memcpy(y, x, size * sizeof *x);
    steps(n, m, y, s);
    memcpy(z, x, size * sizeof *x);
    for (int r = 0; r < n; r++) {
        t[r] = 1;
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < m; c++)
                t[r] = z[r * m + c] > t[r] ? z[r * m + c] : t[r];
            for (int c = 0; c < m; c++)
                z[r * m + c] -= t[r] / 4;
        }
    }
    CHECK(!memcmp(y, z, size * sizeof *y));
    CHECK(!memcmp(s, t, n * sizeof *s));
    /* each row is what the row before has stored */
    memcpy(z, x, size * sizeof *x);
    for (int r = 0; r + 1 < n; r++)
        expect(1, m, z + r * m, z + (r + 1) * m, t + r);
    if (n > 1 && n < 100) {
#pragma acc data copy(x[0:size])
        scaled(n - 1, m, x, x + m, s);
        CHECK(!memcmp(x, z, size * sizeof *x));
    }
    free(x), free(y), free(z), free(s), free(t);
}

int main(void)
{
    const int sizes[][2] = {{5, 3}, {8200, 6}, {4100, 18}, {3, 1}, {7, 31}, {2, 257}, {1, 300}, {9, 1}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(sizes[i][0], sizes[i][1]);
    return report();
}
