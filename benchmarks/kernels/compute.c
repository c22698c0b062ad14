/* Kernels bound by arithmetic, caches or irregular access. */
#include <math.h>

void matmul(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* The same in tiles of 16 × 16; n is a multiple of 16. */
void matmul_tiled(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k += 16) {
#pragma acc cache(a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

void nbody(int n, const float *restrict p, float *restrict f)
{
#pragma acc parallel loop async(1) present(p[0:4*n], f[0:4*n])
    for (int i = 0; i < n; i++) {
        float x = p[4 * i], y = p[4 * i + 1], z = p[4 * i + 2];
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = p[4 * j] - x, dy = p[4 * j + 1] - y, dz = p[4 * j + 2] - z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = p[4 * j + 3] * inverse * inverse * inverse;
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        f[4 * i] = fx;
        f[4 * i + 1] = fy;
        f[4 * i + 2] = fz;
        f[4 * i + 3] = 0.0f;
    }
}

void csr(int rows, long nnz, const int *restrict offsets, const int *restrict cols,
         const double *restrict coefs, const double *restrict x, double *restrict y)
{
#pragma acc parallel loop async(1) gang worker present(offsets[0:rows+1], cols[0:nnz], coefs[0:nnz], x[0:rows], y[0:rows])
    for (int i = 0; i < rows; i++) {
        double sum = 0.0;
        int start = offsets[i], end = offsets[i + 1];
#pragma acc loop vector reduction(+:sum)
        for (int j = start; j < end; j++)
            sum += coefs[j] * x[cols[j]];
        y[i] = sum;
    }
}

void dyadic(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop async(1) present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
            sum += a[j] * b[i ^ j];
        c[i] = sum;
    }
}

void histogram(long n, const unsigned char *restrict data, int *restrict bins)
{
#pragma acc parallel loop async(1) present(data[0:n], bins[0:256])
    for (long i = 0; i < n; i++) {
#pragma acc atomic update
        bins[data[i]]++;
    }
}

void monte_carlo(int streams, int points, long *restrict inside)
{
    long count = 0;
#pragma acc parallel loop reduction(+:count)
    for (int s = 0; s < streams; s++) {
        unsigned int state = 2463534242u ^ ((unsigned int)s * 2654435761u);
        for (int k = 0; k < points; k++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            float x = (float)(state & 0xffffu) * (1.0f / 65536.0f);
            float y = (float)(state >> 16) * (1.0f / 65536.0f);
            if (x * x + y * y < 1.0f)
                count++;
        }
    }
    *inside = count;
}
