/* Parallel loops around loops in order, in every form that may run an iteration per SIMD lane; numbers are exact. */
#include <math.h>
#include <stdio.h>

enum { N = 77, K = 23 };
static double table[K][N], square[N][N], wide[3][K][N];
static double in[N + K], out[N], expected[N];
static float single[N], also[N];
static int counts[N], numbers[N], limits[2] = {0, K};
static int wrong;

static void check(const char *what)
{
    for (int i = 0; i < N; i++)
        if (out[i] != expected[i]) {
            printf("%s failed at %d: %g, not %g\n", what, i, out[i], expected[i]);
            wrong = 1;
            break;
        }
    for (int i = 0; i < N; i++)
        out[i] = expected[i] = -7.0;
}

/* The same loop for the device and for the host. */
#define LOOP(to, ...)                 \
    for (int i = 0; i < N; i++) {     \
        double *result = to;          \
        __VA_ARGS__                   \
    }

#define COLUMN_SUM                    \
    double sum = 0.0;                 \
    for (int k = 0; k < K; k++)       \
        sum += table[k][i];           \
    result[i] = sum;

#define TWO_LOOPS                     \
    double sum = 1.0, product = 0.0;  \
    for (int k = 0; k < K; k++)       \
        sum += table[k][i];           \
    for (int k = 0; k < K; k++)       \
        product += sum * table[k][i] - k; \
    result[i] = sum + product;

#define NESTED                        \
    double sum = i;                   \
    for (int p = 0; p < 3; p++) {     \
        double part = p;              \
        for (int k = K - 1; k >= 0; k--) \
            part += wide[p][k][i];    \
        sum = sum * 0.5 + part;       \
    }                                 \
    result[i] = sum;

#define SWAPPED                       \
    double a = i, b = 1.0;            \
    for (int k = 0; k < 10; k++) {    \
        double t = a + b;             \
        a = b;                        \
        b = t;                        \
    }                                 \
    result[i] = a * 1000.0 + b;

#define CONDITIONAL                   \
    double most = -1.0;               \
    int where = -1;                   \
    for (int k = 0; k < K; k++)       \
        if (table[k][i] > most) {     \
            most = table[k][i];       \
            where = k;                \
        } else if (i % 3 == 0)        \
            most += 1.0;              \
    result[i] = most * 100.0 + where;

#define NEIGHBOURS                    \
    double sum = 0.0;                 \
    for (int k = 0; k < K; k++)       \
        sum += in[i + k] * k;         \
    result[i] = sum;

#define TRIANGLE                      \
    double sum = 0.0;                 \
    for (int k = 0; k < i % K; k++)   \
        sum += table[k][i];           \
    result[i] = sum;

#define LEFT_EARLY                    \
    double sum = 0.0;                 \
    for (int k = 0; k < K; k++) {     \
        if (sum > 50.0)               \
            break;                    \
        sum += table[k][i];           \
    }                                 \
    result[i] = sum;

#define ROWS                          \
    double sum = 0.0;                 \
    for (int k = 0; k < N; k++)       \
        sum += square[i][k] + square[k][i]; \
    result[i] = sum;

#define WRITES                        \
    for (int k = 1; k < K; k++)       \
        result[i] = (k == 1 ? 0.0 : result[i]) + table[k - 1][i]; \

#define LIMITS                        \
    double sum = 0.0;                 \
    for (int k = limits[0]; k < limits[1]; k += 2) \
        sum += table[k][i] + limits[1]; \
    result[i] = sum;

#define PRIVATE                       \
    double last[4] = {0.0, 0.0, 0.0, 0.0}; \
    for (int k = 0; k < K; k++)       \
        last[k % 4] += table[k][i];   \
    result[i] = last[0] + 2.0 * last[1] + 3.0 * last[2];

#define NOTHING                       \
    double sum = 5.0;                 \
    for (int k = K; k < limits[0]; k++) \
        sum += table[k][i];           \
    result[i] = sum;

#define ROOTS                         \
    double sum = 0.0;                 \
    for (int k = 0; k < K; k++)       \
        sum += sqrt(table[k][i] * table[k][i]) + fabs(-in[i]); \
    result[i] = sum;

#define TEST(body)                                                                    \
    _Pragma("acc parallel loop copyin(table, square, wide, in, limits) copyout(out)") \
    LOOP(out, body)                                                                   \
    LOOP(expected, body)                                                              \
    check(#body);

static void types(void)
{
#pragma acc parallel loop copyin(table, numbers) copyout(single, also, counts)
    for (int i = 0; i < N; i++) {
        float sum = 0.0f;
        double large = 0.0;
        int count = 0;
        long long total = 0;
        for (int k = 0; k < K; k++) {
            large += table[k][i];
            sum += (float)large;
            count += numbers[i] > k;
            total += count;
        }
        single[i] = sum;
        also[i] = (float)total;
        counts[i] = count;
    }
    for (int i = 0; i < N; i++) {
        float sum = 0.0f;
        double large = 0.0;
        int count = 0;
        long long total = 0;
        for (int k = 0; k < K; k++) {
            large += table[k][i];
            sum += (float)large;
            count += numbers[i] > k;
            total += count;
        }
        out[i] = single[i] + 2.0 * also[i] + counts[i];
        expected[i] = sum + 2.0 * (float)total + count;
    }
    check("types");
}

static void product(int n)
{
#pragma acc parallel loop gang copyin(square, table) copy(wide)
    for (int i = 0; i < K; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += table[i][k] * square[k][j];
            wide[2][i][j] = sum;
        }
    for (int i = 0; i < K; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += table[i][k] * square[k][j];
            expected[j] = j < n ? sum : wide[2][i][j];
            out[j] = wide[2][i][j];
        }
        check("product");
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        numbers[i] = i * 7 % 31 - 3;
        for (int j = 0; j < N; j++)
            square[i][j] = (i * 13 + j * 5) % 17;
        for (int k = 0; k < K; k++) {
            table[k][i] = (i * 3 + k * 11) % 19;
            for (int p = 0; p < 3; p++)
                wide[p][k][i] = (i + k * p) % 8;
        }
    }
    for (int i = 0; i < N + K; i++)
        in[i] = i * 5 % 13;
    TEST(COLUMN_SUM)
    TEST(TWO_LOOPS)
    TEST(NESTED)
    TEST(SWAPPED)
    TEST(CONDITIONAL)
    TEST(NEIGHBOURS)
    TEST(TRIANGLE)
    TEST(LEFT_EARLY)
    TEST(ROWS)
    TEST(WRITES)
    TEST(LIMITS)
    TEST(PRIVATE)
    TEST(NOTHING)
    TEST(ROOTS)
    types();
    for (int n = 0; n <= N; n += 11)
        product(n);
    return wrong;
}
