/* Rows of lengths of their own, which lanes share, of few and of many elements, and of none. */
#include "check.h"

static int seed = 1;

static int next(int below)
{
    seed = (seed * 7919 + 104729) & 0xffff;
    return seed % below;
}

#define CENTRED(ACC) \
    ACC \
    for (int i = 0; i < n; i++) { \
        float most = -1e30f, sum = 0; \
        for (int j = 0; j < length[i]; j++) \
            if (a[i * m + j] > most) \
                most = a[i * m + j]; \
        for (int j = 0; j < length[i]; j++) { \
            b[i * m + j] = a[i * m + j] - most; \
            sum += b[i * m + j] * .3f; \
        } \
        for (int j = 0; j < length[i]; j++) \
            b[i * m + j] += sum; \
    }

#define LISTS(ACC) \
    ACC \
    for (int i = 0; i < n; i++) { \
        double x = 0, y = i; \
        for (int k = 0; k < length[i]; k++) { \
            int j = list[i * m + k]; \
            double d = v[i] - v[j]; \
            if (d > 0) \
                x += d, y -= v[j]; \
        } \
        s[i] = x + 2 * y; \
    }

#define PARTS(ACC) \
    ACC \
    for (int i = 0; i < n; i++) { \
        int sum = 0; \
        for (long k = first[i]; k < end[i]; k++) \
            sum += list[k] * list[k]; \
        t[i] = sum; \
    }

#define PARALLEL(...) _Pragma("acc parallel loop copyin(length[0:n], a[0:n*m], list[0:n*m], v[0:n], first[0:n], end[0:n]) copy(b[0:n*m], s[0:n], t[0:n])")
#define KERNELS(...) _Pragma("acc kernels copyin(length[0:n], a[0:n*m], list[0:n*m], v[0:n], first[0:n], end[0:n]) copy(b[0:n*m], s[0:n], t[0:n])")

static void run(int n, int m, int parallel, const int *length, const float *restrict a, float *restrict b, const int *list,
                const double *v, double *restrict s, const long *first, const long *end, int *restrict t)
{
    if (parallel == 0) {
        CENTRED()
        LISTS()
        PARTS()
    } else if (parallel == 1) {
        CENTRED(PARALLEL())
        LISTS(PARALLEL())
        PARTS(PARALLEL())
    } else {
        CENTRED(KERNELS())
        LISTS(KERNELS())
        PARTS(KERNELS())
    }
}

int main(void)
{
    for (int m = 3; m < 300; m = m * 4 + 9) {
        int n = m < 100 ? 37 : 5, length[37], *list = malloc(n * m * sizeof *list), t[3][37];
        float *a = malloc(n * m * sizeof *a), *b[3];
        double v[37], s[3][37];
        long first[37], end[37];
        for (int i = 0; i < n; i++) {
            length[i] = next(m + 1);
            v[i] = next(100) * .25;
            first[i] = next(n * m);
            end[i] = first[i] + next(n * m - first[i] + 1) - (i % 4 == 0) * 2;
        }
        for (int i = 0; i < n * m; i++) {
            a[i] = next(1000) * .125f;
            list[i] = next(n);
        }
        for (int k = 0; k < 3; k++) {
            b[k] = calloc(n * m, sizeof **b);
            run(n, m, k, length, a, b[k], list, v, s[k], first, end, t[k]);
        }
        for (int k = 1; k < 3; k++) {
            for (int i = 0; i < n * m; i++)
                CHECK_NEAR(b[k][i], b[0][i]);
            for (int i = 0; i < n; i++) {
                CHECK_EQ(s[k][i] * 4, s[0][i] * 4);
                CHECK_EQ(t[k][i], t[0][i]);
            }
        }
    }
    return report();
}
