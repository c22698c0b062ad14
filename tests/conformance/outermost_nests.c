/* Nests with a directive on the outermost loop only, or in a kernels region: several nests in one iteration, arrays that a
   loop's body declares, loops in steps. Each is compared with the same loops run in order on the host. */
#ifndef NEST
#include "check.h"

enum { N = 21, M = 44, K = 19, SIZE = N * M * K };

#define NEST(name) name##_in_order
#define OUTER
#include "outermost_nests.c"
#undef NEST
#undef OUTER
#define NEST(name) name##_parallel
#define OUTER _Pragma("acc parallel loop default(present)")
#include "outermost_nests.c"
#undef NEST
#undef OUTER
#define NEST(name) name##_kernels
#define OUTER _Pragma("acc kernels default(present)")
#include "outermost_nests.c"
#undef NEST
#undef OUTER

/* Loops that are collapsed depend on one another through the inner one's variable. */
static void collapsed_in_order(int n, int m, int k, float *a, float *b, const float *c)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m - 1; j++)
            a[i * m + j] += 0.5f * a[(i - 1) * m + j + 1];
    (void)k, (void)b, (void)c;
}

static void collapsed_auto(int n, int m, int k, float *a, float *b, const float *c)
{
#pragma acc parallel loop auto collapse(2) default(present)
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m - 1; j++)
            a[i * m + j] += 0.5f * a[(i - 1) * m + j + 1];
    (void)k, (void)b, (void)c;
}

static float *filled(int seed)
{
    float *a = malloc(SIZE * sizeof *a);
    for (int i = 0; i < SIZE; i++)
        a[i] = (i * 37 + seed * 101) % 64 - 20;
    return a;
}

typedef void nest(int, int, int, float *, float *, const float *);

static void compare(const char *name, nest *in_order, nest *parallel, int n, int m, int k)
{
    float *a[2], *b[2], *c = filled(3);
    for (int side = 0; side < 2; side++) {
        a[side] = filled(1);
        b[side] = filled(2);
    }
    in_order(n, m, k, a[0], b[0], c);
    {
        float *x = a[1], *y = b[1];
#pragma acc data copy(x[0:SIZE], y[0:SIZE]) copyin(c[0:SIZE])
        parallel(n, m, k, x, y, c);
    }
    int wrong = 0;
    for (int i = 0; i < SIZE; i++)
        wrong += fabsf(a[0][i] - a[1][i]) > 1e-3f || fabsf(b[0][i] - b[1][i]) > 1e-3f;
    if (wrong) {
        failures++;
        printf("%s(%d, %d, %d): %d elements are wrong\n", name, n, m, k, wrong);
    }
    for (int side = 0; side < 2; side++) {
        free(a[side]);
        free(b[side]);
    }
    free(c);
}

#define COMPARE(name, n, m, k)                                                                   \
    do {                                                                                         \
        compare(#name, name##_in_order, name##_parallel, n, m, k);                            \
        compare(#name " in kernels", name##_in_order, name##_kernels, n, m, k);               \
    } while (0)
#define COMPARE_KERNELS(name, n, m, k) compare(#name, name##_in_order, name##_kernels, n, m, k)

int main(void)
{
    COMPARE(fields, N, M, K);
    COMPARE(fields, 2, 2, 2);
    COMPARE(fields, 1, M, K);
    COMPARE(components, N, 3 * M, K);
    COMPARE(sums_of_planes, N, M, K);
    COMPARE(median, N, M, 0);
    COMPARE(own_arrays, N, M, 0);
    COMPARE(passed_on, N, M, 0);
    COMPARE(blocks, 16, 40, 0);
    COMPARE(blocks, 24, 8, 0);
    COMPARE_KERNELS(blocks, 16, 44, 0);
    COMPARE_KERNELS(blocks, 21, 43, 0);
    COMPARE(wide_blocks, 16, 40, 0);
    COMPARE(stage, 1024, 16, 0);
    COMPARE(stage, 1024, 1024, 0);
    COMPARE(stage, 1024, 2, 0);
    COMPARE(half_stage, 1024, 8, 0);
    COMPARE_KERNELS(short_stage, 1024, 16, 12);
    COMPARE(short_stage, 1024, 16, 8);
    COMPARE(mixed, N, M, K);
    COMPARE(factors, N, 0, 0);
    COMPARE(two_buffers, N, M, K);
    COMPARE(two_buffers, N, 200, K);
    COMPARE(two_buffers, 2, 3, 1);
    COMPARE(in_steps, N, M, K);
    COMPARE(in_steps, N, 300, 5);
    COMPARE(hand_blocked, N, M, 0);
    COMPARE(hand_blocked, 16, 32, 0);
    COMPARE(eliminated, N, M, 3);
    COMPARE(eliminated, N, M, N - 1);
    COMPARE_KERNELS(eliminated, 3, M, 5);
    for (int colour = 0; colour < 2; colour++) {
        COMPARE(checkerboard, N, M, colour);
        COMPARE(checkerboard, N, M + 1, colour);
        COMPARE(by_condition, N, M, colour);
        COMPARE(by_condition, N + 1, M + 1, colour);
        COMPARE(by_continue, N, M, colour);
        COMPARE(periodic, N + 1, M, colour);
        COMPARE(periodic, N + 1, M + 1, colour);
        COMPARE_KERNELS(periodic, N, M, colour);
        COMPARE_KERNELS(periodic, N, M + 1, colour);
        COMPARE(chosen, N + 1, M, colour);
        COMPARE(chosen, N + 1, M + 1, colour);
        COMPARE_KERNELS(chosen, N, M + 1, colour);
        COMPARE_KERNELS(diagonal, N, M, colour);
        COMPARE(boxes, N, 20, colour);
    }
    compare("collapsed", collapsed_in_order, collapsed_auto, N, M, 0);
    COMPARE_KERNELS(checkerboard, N, M, -1);
    COMPARE_KERNELS(checkerboard, 4, 2, 1);
    COMPARE_KERNELS(periodic, 1, 1, 0);
    COMPARE_KERNELS(periodic, 2, 1, 0);
    return report();
}

#else

/* Three nests beside one another. */
static void NEST(fields)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 1; x < n; x++) {
        for (int y = 1; y < m; y++)
            for (int z = 1; z < k; z++)
                a[(x * m + y) * k + z] += c[(x * m + y) * k + z] - c[(x * m + y - 1) * k + z];
        for (int y = 0; y < m; y++)
            for (int z = 1; z < k; z++)
                b[(x * m + y) * k + z] -= a[(x * m + y) * k + z] - 2 * a[(x * m + y) * k + z - 1];
        for (int y = 0; y < m - 1; y++)
            for (int z = 0; z < k; z++)
                a[(x * m + y) * k + z] += 3 * b[(x * m + y + 1) * k + z];
    }
}

/* A loop over a few components around one along a row, and another one that needs all of them. */
static void NEST(components)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        float w = c[x];
        for (int q = 0; q < 3; q++)
            for (int y = 0; y < m; y++)
                a[(q * n + x) * m + y] = w * q + c[x * m + y];
        for (int y = 1; y < m; y++)
            b[x * m + y] = a[x * m + y - 1] + a[(n + x) * m + y] - a[(2 * n + x) * m + m - y];
    }
    (void)k;
}

/* A plane is added up, then divided. */
static void NEST(sums_of_planes)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        float sum = 0;
        for (int y = 0; y < m; y++)
            for (int z = 0; z < k; z++)
                sum += c[(x * m + y) * k + z];
        b[x] = sum;
        for (int y = 0; y < m; y++)
            for (int z = 0; z < k; z++)
                a[(x * m + y) * k + z] = c[(x * m + y) * k + z] - sum / (m * k);
    }
}

/* An array of the iteration, whose elements the data select. */
static void NEST(median)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++) {
            float v[9];
            int used = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    v[used++] = c[(y + dy) * m + x + dx];
            for (int i = 0; i < 5; i++) {
                int least = i;
                for (int j = i + 1; j < 9; j++)
                    if (v[j] < v[least])
                        least = j;
                float t = v[i];
                v[i] = v[least];
                v[least] = t;
            }
            a[y * m + x] = v[4];
        }
    (void)b, (void)k;
}

/* Two arrays of inner iterations, one of which a function fills. */
static void NEST(pick)(float *to, float x)
{
    int count[4] = {0};
    for (int i = 0; i < 7; i++)
        count[(int)(x + 64 + i * i) % 4]++;
    for (int i = 0; i < 4; i++)
        to[i] = count[i];
}

static void NEST(own_arrays)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int y = 0; y < n; y++) {
        float row[3] = {y, 2, 1};
        for (int x = 0; x < m; x++) {
            float own[4];
            NEST(pick)(own, c[y * m + x]);
            a[y * m + x] = own[x % 4] * row[x % 3] + own[(int)(c[y * m + x] + 64) % 4];
        }
    }
    (void)b, (void)k;
}

/* An array of the outer iteration passes values from one inner iteration to the next: these run in order. */
static void NEST(passed_on)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int y = 0; y < n; y++) {
        float last[2] = {0, 1};
        for (int x = 0; x < m; x++) {
            float now = c[y * m + x] - last[x % 2] * 0.5f;
            last[(x + 1) % 2] = now;
            a[y * m + x] = now;
        }
    }
    (void)b, (void)k;
}

/* Blocks of 8 by 8; where 8 does not divide the row, they overlap. */
static void NEST(blocks)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int y = 0; y < n; y += 8)
        for (int x = 0; x < m; x += 8)
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++) {
                    float sum = 0;
                    for (int t = 0; t < 8; t++)
                        sum += c[(y + u) * m + x + t] * (t + v);
                    a[(y + u) * m + x + v] = sum;
                }
    (void)b, (void)k;
}

/* Blocks of 8 by 9 in steps of 8: the last column of one is the first of the next. */
static void NEST(wide_blocks)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int y = 0; y < n; y += 8)
        for (int x = 0; x < m - 8; x += 8)
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 9; v++)
                    a[(y + u) * m + x + v] = a[(y + u) * m + x + v] * 0.5f + c[x];
    (void)b, (void)k;
}

/* Steps of a length known at run time. */
static void NEST(stage)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 0; i < n; i += m)
        for (int j = 0; j < m / 2; j++) {
            float x = a[i + j], y = a[i + j + m / 2];
            a[i + j] = x + c[j] * y;
            a[i + j + m / 2] = x - y;
        }
    (void)b, (void)k;
}

static void NEST(half_stage)(int n, int half, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 0; i < n; i += 2 * half)
        for (int j = 0; j < half; j++) {
            float x = a[i + j], y = a[i + j + half];
            a[i + j] = x + c[j] * y;
            a[i + j + half] = x - y;
        }
    (void)b, (void)k;
}

/* With k above half a step, iterations of the outer loop depend on one another. */
static void NEST(short_stage)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 0; i < n - m; i += m)
        for (int j = 0; j < k; j++) {
            a[i + j] += c[j] * 0.5f;
            a[i + j + k] -= 0.25f * a[i + j];
        }
    (void)b;
}

/* A recurrence beside a loop of independent iterations, with an array of the iteration. */
static void NEST(mixed)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        float row[64];
        for (int y = 0; y < m; y++)
            row[y] = c[x * m + y];
        for (int t = 0; t < k; t++)
            for (int y = 1; y < m; y++)
                row[y] = 0.5f * (row[y - 1] + row[y]);
        for (int y = 0; y < m; y++)
            a[x * m + y] = row[y];
    }
    (void)b;
}

/* Elements of one colour, whose neighbours have the other one. */
static void NEST(checkerboard)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour + 2) % 2; j < m - 1; j += 2)
            a[i * m + j] = 0.25f * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]) + c[j];
    (void)b;
}

static void NEST(by_condition)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            if ((i + j) % 2 == colour)
                a[i * m + j] = 0.25f * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]) + c[j];
    (void)b;
}

static void NEST(by_continue)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            if ((i & 1) != ((j + colour) & 1))
                continue;
            a[i * m + j] += 0.25f * (a[(i - 1) * m + j] - a[(i + 1) * m + j]) + 0.5f * a[i * m + j - 1];
        }
    (void)b, (void)c;
}

/* Rows and columns go around: with odd lengths, first and last elements of one colour are neighbours. */
static void NEST(periodic)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if ((i + j) % 2 == colour)
                a[i * m + j] = 0.25f * (a[(i + n - 1) % n * m + j] + a[(i + 1) % n * m + j]
                    + a[i * m + (j + m - 1) % m] + a[i * m + (j + 1) % m]) + c[j];
    (void)b;
}

static void NEST(chosen)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 0; i < n; i++)
        for (int j = (i + colour) % 2; j < m; j += 2) {
            int up = i == 0 ? n - 1 : i - 1, down = i < n - 1 ? i + 1 : 0;
            int left = j > 0 ? j - 1 : m - 1, right = j == m - 1 ? 0 : j + 1;
            a[i * m + j] = 0.25f * (a[up * m + j] + a[down * m + j] + a[i * m + left] + a[i * m + right]) + c[j];
        }
    (void)b;
}

/* Diagonal neighbours have the same colour: iterations of the outer loop depend on one another. */
static void NEST(diagonal)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < m - 1; j += 2)
            a[i * m + j] = 0.5f * (a[(i - 1) * m + j - 1] + a[(i - 1) * m + j + 1]) + c[j];
    (void)b;
}

/* The same in three dimensions. */
static void NEST(boxes)(int n, int m, int colour, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 1; x < n - 1; x++)
        for (int y = 1; y < m - 1; y++)
            for (int z = 1 + (x + y + colour) % 2; z < m - 1; z += 2) {
                int at = (x * m + y) * m + z;
                a[at] = (a[at - m * m] + a[at + m * m] + a[at - m] + a[at + m] + a[at - 1] + a[at + 1]) / 6 + c[z];
            }
    (void)b;
}

/* The steps of a row of its own, in two buffers. */
static void NEST(two_buffers)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        for (int y = 0; y < m; y++)
            a[x * m + y] = c[x * m + y];
        for (int t = 0; t < k; t++) {
            for (int y = 1; y < m - 1; y++)
                b[x * m + y] = 0.3f * a[x * m + y - 1] + 0.4f * a[x * m + y] + 0.3f * a[x * m + y + 1];
            for (int y = 1; y < m - 1; y++)
                a[x * m + y] = b[x * m + y];
        }
    }
}

static void NEST(in_steps)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++)
        for (int t = 1; t < k; t++)
            for (int y = 0; y < m; y++)
                a[x * m + y] = 0.5f * a[x * m + y] + c[x * m + y] * t;
    (void)b;
}

/* Blocks of rows, of which the last is cut off. */
static void NEST(hand_blocked)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int block = 0; block < n; block += 8)
        for (int x = block; x < (block + 8 < n ? block + 8 : n); x++)
            for (int y = 0; y < m; y++)
                a[x * m + y] += c[y * n + x];
    (void)b, (void)k;
}

/* All rows but one change, by that one. */
static void NEST(eliminated)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        if (x == k)
            continue;
        float f = a[x * m] / 64;
        for (int y = 0; y < m; y++)
            a[x * m + y] -= f * a[k * m + y];
    }
    (void)b, (void)c;
}

/* Factors of small matrices. */
static void NEST(factors)(int n, int m, int k, float *a, float *b, const float *c)
{
    OUTER
    for (int x = 0; x < n; x++) {
        float l[12][12];
        for (int i = 0; i < 12; i++)
            for (int j = 0; j <= i; j++)
                l[i][j] = c[x * 144 + i * 12 + j] + (i == j ? 900 : 0);
        for (int j = 0; j < 12; j++) {
            float d = l[j][j];
            for (int q = 0; q < j; q++)
                d -= l[j][q] * l[j][q];
            d = sqrtf(d);
            l[j][j] = d;
            for (int i = j + 1; i < 12; i++) {
                float s = l[i][j];
                for (int q = 0; q < j; q++)
                    s -= l[i][q] * l[j][q];
                l[i][j] = s / d;
            }
        }
        for (int i = 0; i < 12; i++)
            for (int j = 0; j <= i; j++)
                a[x * 144 + i * 12 + j] = l[i][j];
    }
    (void)b, (void)m, (void)k;
}
#endif
