/* Kernels with cached sections; -DNO_CACHE compiles them without the directives. */

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif

#define GEMM(name, T)                                                                              \
    void name(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])       \
    {                                                                                              \
        _Pragma("acc parallel loop async(1) collapse(2) present(a[0:n], b[0:n], c[0:n])")          \
        for (int i = 0; i < n; i++)                                                                \
            for (int j = 0; j < n; j++) {                                                          \
                float sum = 0.0f;                                                                  \
                for (int k = 0; k < n; k += T) {                                                   \
                    CACHE(readonly: a[i:1][k:T], b[k:T][j:1])                                      \
                    for (int q = k; q < k + T; q++)                                                \
                        sum += a[i][q] * b[q][j];                                                  \
                }                                                                                  \
                c[i][j] = sum;                                                                     \
            }                                                                                      \
    }

GEMM(gemm8, 8)
GEMM(gemm16, 16)
GEMM(gemm32, 32)

/* The length of the inner loop is known only at run time, so that indices have to be compared. */
void gemm16_checked(int n, int t, float (*restrict a)[n], float (*restrict b)[n],
                    float (*restrict c)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k += 16) {
                CACHE(readonly: a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + t; q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

float rsqrtf(float x);

struct body { float x, y, z, m; };

void nbody(int n, const struct body *restrict p, struct body *restrict f)
{
#pragma acc parallel loop async(1) vector_length(256) present(p[0:n], f[0:n])
    for (int i = 0; i < n; i++) {
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        float xi = p[i].x, yi = p[i].y, zi = p[i].z;
        for (int t = 0; t < n; t += 256) {
            CACHE(readonly: p[t:256])
            for (int j = t; j < t + 256; j++) {
                float dx = p[j].x - xi, dy = p[j].y - yi, dz = p[j].z - zi;
                float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                float s = p[j].m * r * r * r;
                fx += dx * s;
                fy += dy * s;
                fz += dz * s;
            }
        }
        f[i].x = fx;
        f[i].y = fy;
        f[i].z = fz;
    }
}

#define STENCIL(name, R)                                                                           \
    void name(int n, const float *restrict a, float *restrict b)                                   \
    {                                                                                              \
        _Pragma("acc parallel loop async(1) present(a[0:n], b[0:n])")                              \
        for (int i = R; i < n - R; i++) {                                                          \
            float sum = 0.0f;                                                                      \
            CACHE(readonly: a[i-R:2*R+1])                                                          \
            for (int j = i - R; j <= i + R; j++)                                                   \
                sum += a[j];                                                                       \
            b[i] = sum * (1.0f / (2 * R + 1));                                                     \
        }                                                                                          \
    }

STENCIL(stencil1, 1)
STENCIL(stencil30, 30)

void jacobi(int n, float (*restrict a)[n], float (*restrict b)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            CACHE(readonly: a[i-1:3][j-1:3])
            float sum = 0.0f;
            for (int y = -1; y <= 1; y++)
                for (int x = -1; x <= 1; x++)
                    sum += a[i + y][j + x];
            b[i][j] = sum * (1.0f / 9.0f);
        }
}

void hotspot(int n, float (*restrict t)[n], float (*restrict p)[n], float (*restrict r)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(t[0:n], p[0:n], r[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            CACHE(readonly: t[i-1:3][j-1:3])
            float here = t[i][j];
            r[i][j] = here + 0.05f * (p[i][j] + (t[i - 1][j] + t[i + 1][j] - 2.0f * here) * 0.1f
                                      + (t[i][j - 1] + t[i][j + 1] - 2.0f * here) * 0.1f
                                      + (80.0f - here) * 0.0125f);
        }
}

void convolution(int n, float (*restrict a)[n], const float *restrict w, float (*restrict b)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n], w[0:49], b[0:n])
    for (int i = 3; i < n - 3; i++)
        for (int j = 3; j < n - 3; j++) {
            CACHE(readonly: a[i-3:7][j-3:7], w[0:49])
            float sum = 0.0f;
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 7; x++)
                    sum += w[y * 7 + x] * a[i + y - 3][j + x - 3];
            b[i][j] = sum;
        }
}

/* The update of the trailing matrix in a blocked LU decomposition with panels of 16. */
void lu(int n, float (*restrict l)[16], float (*restrict u)[n], float (*restrict a)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(l[0:n], u[0:16], a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            CACHE(readonly: l[i:1][0:16], u[0:16][j:1])
            float sum = 0.0f;
            for (int q = 0; q < 16; q++)
                sum += l[i][q] * u[q][j];
            a[i][j] -= sum;
        }
}

/* Write-policy workloads: every iteration writes its element again and again, or only few do. */
void write_dense(int n, int steps, float *restrict a, const float *restrict c)
{
#pragma acc parallel loop async(1) present(a[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1])
        float own = c[i];
        for (int s = 0; s < steps; s++)
            a[i] = 0.5f * a[i] + own;
    }
}

void write_sparse(int n, int steps, float *restrict a, const float *restrict c)
{
#pragma acc parallel loop async(1) present(a[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1])
        float own = c[i];
        for (int s = 0; s < steps; s++)
            if (i % 64 == 7 && s % 64 == 0)
                a[i] = 0.5f * a[i] + own;
    }
}
