/* Products of which a condition on both loops' variables computes some sums: triangles, bands, all but the diagonal. */
#include "check.h"
enum { HEADS = 2, MOST = 70, DEPTH = 48 };
static float q[HEADS * MOST * DEPTH], k[HEADS * MOST * DEPTH];
static float causal[HEADS * MOST * MOST], band[MOST * MOST], apart[MOST * MOST], gram[MOST * MOST];
static double sums[MOST * MOST];

static void compute(int n, int d, int width)
{
#pragma acc parallel loop collapse(2)
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < n; i++)
#pragma acc loop
            for (int j = 0; j < n; j++) {
                float v = -100.0f;
                if (j <= i) {
                    v = 0.0f;
                    for (int c = 0; c < d; c++)
                        v += q[(h * n + i) * d + c] * k[(h * n + j) * d + c];
                    v *= 0.125f;
                }
                causal[(h * n + i) * n + j] = v;
            }
#pragma acc parallel loop gang vector_length(64)
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            if (j > i || i - j >= width)
                continue;
            float v = 1.0f;
#pragma acc loop reduction(+ : v)
            for (int c = 0; c < d; c++)
                v += q[i * d + c] * k[j * d + c];
            band[i * n + j] = v;
        }
#pragma acc kernels loop independent
    for (int j = 0; j < n; j++)
#pragma acc loop independent
        for (int i = 0; i < n; i++) {
            float v = 0.0f;
            if (i != j)
                for (int c = 0; c < d; c++)
                    v += (q[i * d + c] - k[j * d + c]) * (q[i * d + c] - k[j * d + c]);
            apart[i * n + j] = v;
        }
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < n; j++)
            if (j < i) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * q[j * d + c];
                gram[i * n + j] = v;
                gram[j * n + i] = v;
            }
#pragma acc parallel loop collapse(2)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            if (j < i)
                sums[i * n + j] = -1.0;
            else
                for (long c = 0; c < d; c++)
                    sums[i * n + j] += q[c * n + i] * k[c * n + j];
        }
}

static float dot(const float *a, const float *b, int d)
{
    float sum = 0.0f;
    for (int c = 0; c < d; c++)
        sum += a[c] * b[c];
    return sum;
}

static void check(int n, int d, int width)
{
    int wrong = 0;
    for (int i = 0; i < HEADS * n * d; i++) {
        q[i] = (float)(i * 7 % 11 - 5);
        k[i] = (float)(i * 5 % 13 - 6);
    }
    memset(band, 0, sizeof band);
    memset(gram, 0, sizeof gram);
    for (int i = 0; i < n * n; i++)
        sums[i] = i % 3;
    compute(n, d, width);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int at = i * n + j;
            for (int h = 0; h < HEADS; h++)
                wrong += causal[h * n * n + at]
                         != (j <= i ? dot(q + (h * n + i) * d, k + (h * n + j) * d, d) * 0.125f : -100.0f);
            wrong += band[at] != (j <= i && i - j < width ? 1.0f + dot(q + i * d, k + j * d, d) : 0.0f);
            float square = 0.0f;
            double sum = at % 3;
            for (int c = 0; c < d; c++) {
                float away = q[i * d + c] - k[j * d + c];
                square += away * away;
                sum += q[c * n + i] * k[c * n + j];
            }
            wrong += apart[at] != (i != j ? square : 0.0f);
            wrong += gram[at] != (i != j ? dot(q + i * d, q + j * d, d) : 0.0f);
            wrong += sums[at] != (j < i ? -1.0 : sum);
        }
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    check(MOST, DEPTH, 9);
    check(35, 37, 0);
    check(1, 32, 3);
    return report();
}
