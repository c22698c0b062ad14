/* Iterations with small arrays and blocks of their own, on the device and on the host. */
#include "check.h"

enum { H = 14, W = 17, N = 9 };
static float a[H * W], b[2][H * W], x[N], out[2][N];

/* Blocks of a matrix, read again and again, of which rows are longer or shorter. */
static void blocks(int on, int h, int w, const float *restrict p, float *restrict q)
{
#pragma acc parallel loop collapse(2) if(on) copyin(p[0:h*w]) copy(q[0:h*w])
    for (int i = 0; i <= h - 4; i += 4)
        for (int j = 0; j < w / 4 * 4; j += 4)
            for (int u = 0; u < 4; u++)
                for (int v = 0; v < 4; v++) {
                    float s = 0;
                    for (int k = 0; k < 4; k++)
                        for (int l = 0; l < 4; l++)
                            s += p[(i + k) * w + j + l] * (float)((u + k) % 3 - 1) * (float)(v - l);
                    q[(i + u) * w + j + v] = s;
                }
#pragma acc parallel loop if(on) copyin(p[0:h*w]) copy(q[0:h*w])
    for (int i = 0; i < h / 4; i++)
        for (int u = 0; u < 8; u++) {
            const float *r = p + 4 * i * 3;
            float s = 0;
            for (int l = 0; l < 8; l++)
                s += r[l] * (float)(u - l) + r[3 + l] * (float)(u + l) - r[6 + l];
            q[i * w + u] = s;
        }
}

/* Triangles of loops over an array, around which loops of many steps, or of steps that are not known, stay. */
static void triangles(int on, int n, int m, float *restrict o)
{
#pragma acc parallel loop if(on) copyin(x) copy(o[0:N])
    for (int i = 0; i < n; i++) {
        float v[65], s = 0;
        for (int j = 0; j <= 64; j++)
            v[j] = x[i] * (float)j - 3;
        for (int t = 63; t >= 0; t--)
            for (int j = 0; j <= t; j++)
                v[j] = 0.5f * v[j + 1] + 0.25f * v[j];
        s = v[0];
        float u[33];
        int e = (int)x[i] & 15;
        for (int j = 0; j < 33; j++)
            u[j] = x[i] - (float)j;
        for (int t = 0; t < 32; t++) {
            for (int j = 3; j < t - 5; j += 3) {
                u[j] = u[j + 2];
                s += u[j];
            }
            if (s > 1000)
                break;
        }
        for (int t = 0; t < m; t++)
            for (int j = 0; j < e; j++)
                u[j] += u[j + 1] * 0.25f;
        o[i] = s + u[2];
    }
}

int main(void)
{
    for (int h = 0; h <= H; h += 7)
        for (int w = 8; w <= W; w += 9) {
            for (int e = 0; e < H * W; e++) {
                a[e] = (float)(e * 7 % 13) - 6;
                b[0][e] = b[1][e] = -1;
            }
            blocks(0, h, w, a, b[0]);
            blocks(1, h, w, a, b[1]);
            CHECK(memcmp(b[0], b[1], sizeof b[0]) == 0);
        }
    for (int i = 0; i < N; i++)
        x[i] = (float)i * 1.5f - 4;
    for (int m = 0; m < 4; m += 3) {
        triangles(0, N - m, m, out[0]);
        triangles(1, N - m, m, out[1]);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(out[1][i], out[0][i]);
    }
    return report();
}
