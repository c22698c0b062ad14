/* Bounds of inner loops that are parts of a size, under a directive on the outermost loop only: the host may compute
   them before the nest where that cannot trap, and must not where the loop around them may have no iterations. */
#include "check.h"
#include <limits.h>
#include <stdlib.h>

enum { N = 5, H = 23, W = 37 };
#define HALF(x) ((x) / 2)

static void divided(int n, int h, int w, const float *restrict in, float *restrict out)
{
#pragma acc parallel loop copyin(in[0:n*h*w]) copy(out[0:n*h*w])
    for (int k = 0; k < n; k++)
        for (int i = 0; i < h / 2; i++)
            for (int j = 0; j < w / 2; j++) {
                float m = -1e30f;
                for (int y = 0; y < 2; y++)
                    for (int x = 0; x < 2; x++)
                        if (in[(k * h + 2 * i + y) * w + 2 * j + x] > m)
                            m = in[(k * h + 2 * i + y) * w + 2 * j + x];
                out[(k * (h / 2) + i) * (w / 2) + j] = m;
            }
}

static void shifted(long n, long h, long w, const float *restrict in, float *restrict out)
{
#pragma acc parallel loop copyin(in[0:n*h*w]) copy(out[0:n*h*w])
    for (long k = 0; k < n; k++)
        for (long i = 0; i < h >> 1; i++)
            for (long j = 0; j < w >> 1; j++)
                out[(k * (h >> 1) + i) * (w >> 1) + j] = in[(k * h + 2 * i) * w + 2 * j];
}

static void declared(int n, int h, int w, float (*in)[h][w], float (*out)[h][w])
{
#pragma acc parallel loop copyin(in[0:n]) copy(out[0:n])
    for (int k = 0; k < n; k++) {
        int rows = HALF(h), columns = HALF(w);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                out[k][i][j] = in[k][2 * i][2 * j + 1];
    }
}

static void windows(int n, int h, int w, float (*restrict in)[h][w], float (*restrict out)[h][w])
{
#pragma acc parallel loop copyin(in[0:n]) copy(out[0:n])
    for (int k = 0; k < n; k++)
        for (int i = 0; i < (h - 3) / 2 + 1; ++i)
            for (int j = 0; j <= (w - 3) / 2; ++j)
                out[k][i][j] = in[k][2 * i][2 * j] + in[k][2 * i + 2][2 * j + 2];
}

static void blocks(int n, int m, const float *in, float *out)
{
#pragma acc kernels copyin(in[0:n*m]) copy(out[0:n*m])
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m - m % 8; j++)
            out[k * m + j] = 2 * in[k * m + j];
}

/* Divided by what is 0 where no iteration divides, and the least number by -1. */
static void by_a_variable(int n, int h, int stride, const float *in, float *out)
{
#pragma acc parallel loop copyin(in[0:N*H]) copy(out[0:N*H])
    for (int k = 0; k < n; k++)
        for (int i = 0; i < h / stride; i++)
            out[k * h + i] = in[k * h + i * stride];
}

int main(void)
{
    size_t all = (size_t)N * H * W;
    float *in = malloc(all * sizeof *in), *out = malloc(all * sizeof *out);
    for (size_t i = 0; i < all; i++) {
        in[i] = (float)(i * 7919 % 1013);
        out[i] = -1;
    }
    int h = H / 2, w = W / 2;
#define AT(k, i, j) in[((k) * H + (i)) * W + (j)]
#define CLEAR() for (size_t i = 0; i < all; i++) out[i] = -1

    divided(N, H, W, in, out);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                float m = AT(k, 2 * i, 2 * j);
                m = AT(k, 2 * i, 2 * j + 1) > m ? AT(k, 2 * i, 2 * j + 1) : m;
                m = AT(k, 2 * i + 1, 2 * j) > m ? AT(k, 2 * i + 1, 2 * j) : m;
                m = AT(k, 2 * i + 1, 2 * j + 1) > m ? AT(k, 2 * i + 1, 2 * j + 1) : m;
                CHECK(out[(k * h + i) * w + j] == m);
            }
    CHECK(out[N * h * w] == -1);

    CLEAR();
    shifted(N, H, W, in, out);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                CHECK(out[(k * h + i) * w + j] == AT(k, 2 * i, 2 * j));
    CHECK(out[N * h * w] == -1);
    CLEAR();
    shifted(N, -3, W, in, out);  /* -3 >> 1 is -2: no rows */
    divided(N, -1, W, in, out);
    CHECK(out[0] == -1);

    declared(N, H, W, (float(*)[H][W])in, (float(*)[H][W])out);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W; j++)
                CHECK(out[(k * H + i) * W + j] == (i < h && j < w ? AT(k, 2 * i, 2 * j + 1) : -1));

    CLEAR();
    windows(N, H, W, (float(*)[H][W])in, (float(*)[H][W])out);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W; j++) {
                int inside = i <= (H - 3) / 2 && j <= (W - 3) / 2;
                CHECK(out[(k * H + i) * W + j] == (inside ? AT(k, 2 * i, 2 * j) + AT(k, 2 * i + 2, 2 * j + 2) : -1));
            }

    CLEAR();
    blocks(N, W, in, out);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < W; j++)
            CHECK(out[k * W + j] == (j < W - W % 8 ? 2 * in[k * W + j] : -1));

    CLEAR();
    by_a_variable(0, H, 0, in, out);
    by_a_variable(0, INT_MIN, -1, in, out);
    CHECK(out[0] == -1);
    by_a_variable(N, H, 3, in, out);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < H; i++)
            CHECK(out[k * H + i] == (i < H / 3 ? in[k * H + 3 * i] : -1));
    free(in);
    free(out);
    return report();
}
