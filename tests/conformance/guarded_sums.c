/* Sums of loop variables that conditions keep within rows and columns: the section is the array, no more. */

#include "check.h"
#include <openacc.h>

enum { TAPS = 3, SIDE = 5 };

/* Padding by conditions on variables. */
static void both_named(int h, int w, const int *restrict in, const int *restrict taps, int *restrict out)
{
#pragma acc parallel loop collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++) {
                    int yy = y + i, xx = x + j;
                    if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                        sum += in[yy * w + xx] * taps[(i + 1) * TAPS + j + 1];
                }
            out[y * w + x] = sum;
        }
}

/* By continue, one condition for each side, offsets from 0. */
static void continued(int h, int w, const int *restrict in, const int *restrict taps, int *restrict out)
{
#pragma acc parallel loop
    for (int y = 0; y < h; y++)
#pragma acc loop
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = 0; i < TAPS; i++) {
                const int row = y + i - 1;
                if (row < 0 || row >= h)
                    continue;
                for (int j = 0; j < TAPS; j++) {
                    if (x - 1 + j < 0 || x + j > w)
                        continue;
                    sum += in[row * w + x + j - 1] * taps[i * TAPS + j];
                }
            }
            out[y * w + x] = sum;
        }
}

/* By a conditional expression, strides of two, several planes. */
static void strided(int c, int h, int w, const int *restrict in, const int *restrict taps, int *restrict out)
{
#pragma acc parallel loop
    for (int k = 0; k < c; k++)
        for (int y = 0; y < h / 2; y++)
            for (int x = 0; x < w / 2; x++) {
                int sum = 0;
                for (int i = 0; i < TAPS; i++)
                    for (int j = 0; j < TAPS; j++) {
                        int yy = 2 * y + i - 1, xx = 2 * x + j - 1;
                        int value = 0 <= yy && h > yy && !(xx < 0 || xx >= w) ? in[(k * h + yy) * w + xx] : 0;
                        sum += value * taps[i * TAPS + j];
                    }
                out[(k * (h / 2) + y) * (w / 2) + x] = sum;
            }
}

/* Rows of run-time length, from the far side, dilated by a run-time distance. */
static void dilated(int h, int w, int d, int (*restrict in)[w], const int *restrict taps, int *restrict out)
{
#pragma acc parallel loop gang
    for (int y = 0; y < h; y++)
#pragma acc loop vector
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = -1; i <= 1; i++) {
                long at = y - (long)i * d;
                if (at < h && at > -1)
                    sum += in[at][x] * taps[i + 1];
            }
            out[y * w + x] = sum;
        }
}

/* Stores, too. */
static void spread(int h, int w, const int *restrict in, int *restrict out)
{
#pragma acc parallel loop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int i = -1; i <= 1; i++) {
                int yy = y + i;
                if (yy >= 0 && yy < h) {
#pragma acc atomic update
                    out[yy * w + x] += in[y * w + x];
                }
            }
}

/* By one comparison of unsigned numbers, and by & of two. */
static void by_bits(int h, int w, const int *restrict in, const int *restrict taps, int *restrict out)
{
#pragma acc parallel loop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = 0; i < TAPS; i++)
                for (int j = 0; j < TAPS; j++) {
                    int yy = y + i - 1, xx = x + j - 1;
                    if ((unsigned)yy < (unsigned)h)
                        if ((xx >= 0) & (xx < w))
                            sum += in[yy * w + xx] * taps[i * TAPS + j];
                }
            out[y * w + x] = sum;
        }
}

static int around(int h, int w, const int *in, const int *taps, int y, int x, int plane)
{
    int sum = 0;
    for (int i = 0; i < TAPS; i++)
        for (int j = 0; j < TAPS; j++) {
            int yy = y + i - 1, xx = x + j - 1;
            sum += yy < 0 || yy >= h || xx < 0 || xx >= w ? 0 : in[plane * h * w + yy * w + xx] * taps[i * TAPS + j];
        }
    return sum;
}

int main(void)
{
    enum { H = 7, W = 9, C = 3, N = C * H * W };
    static int in[N], out[N], taps[TAPS * TAPS];
    for (int i = 0; i < N; i++)
        in[i] = i * 13 % 17;
    for (int i = 0; i < TAPS * TAPS; i++)
        taps[i] = i - 3;
    /* What is on the device is exactly the arrays: a section beyond them would be an error. */
    int *p = in, *q = out, *t = taps;
#pragma acc data copyin(p[0:H * W], t[0:TAPS * TAPS]) copy(q[0:H * W])
    {
        both_named(H, W, p, t, q);
#pragma acc update self(q[0:H * W])
        for (int i = 0; i < H * W; i++)
            CHECK(out[i] == around(H, W, in, taps, i / W, i % W, 0));
        continued(H, W, p, t, q);
#pragma acc update self(q[0:H * W])
        for (int i = 0; i < H * W; i++)
            CHECK(out[i] == around(H, W, in, taps, i / W, i % W, 0));
        by_bits(H, W, p, t, q);
#pragma acc update self(q[0:H * W])
        for (int i = 0; i < H * W; i++)
            CHECK(out[i] == around(H, W, in, taps, i / W, i % W, 0));
        dilated(H, W, 2, (int (*)[W])p, t, q);
#pragma acc update self(q[0:H * W])
        for (int i = 0; i < H * W; i++) {
            int y = i / W, sum = in[i] * taps[1];
            if (y + 2 < H)
                sum += in[i + 2 * W] * taps[0];
            if (y >= 2)
                sum += in[i - 2 * W] * taps[2];
            CHECK(out[i] == sum);
        }
        for (int i = 0; i < H * W; i++)
            out[i] = i;
#pragma acc update device(q[0:H * W])
        spread(H, W, p, q);
    }
    for (int i = 0; i < H * W; i++) {
        int y = i / W, sum = i + in[i] + (y > 0 ? in[i - W] : 0) + (y < H - 1 ? in[i + W] : 0);
        CHECK(out[i] == sum);
    }
#pragma acc data copyin(p[0:C * (H - 1) * (W - 1)], t[0:TAPS * TAPS]) copyout(q[0:C * 3 * 4])
    strided(C, H - 1, W - 1, p, t, q);
    for (int i = 0; i < C * 12; i++)
        CHECK(out[i] == around(H - 1, W - 1, in, taps, i / 4 % 3 * 2, i % 4 * 2, i / 12));
    return report();
}
