/* Kernels with `cache` directives; -DNO_CACHE compiles them without. Arrays are copied in and out. */

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif

#ifndef TILE
#define TILE 16
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void gemm(int m, int n, int p, float (*restrict a)[p], float (*restrict b)[n],
          float (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:m], b[0:p]) copyout(c[0:m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < p; k += TILE) {
                CACHE(readonly: a[i:1][k:TILE], b[k:TILE][j:1])
                for (int q = k; q < MIN(k + TILE, p); q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}

/* One matrix in one dimension: the rate of its rows is known only at run time. */
void gemm_flat(int m, int n, int p, const float *restrict a, float (*restrict b)[n],
               float *restrict c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:m*p], b[0:p]) copyout(c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < p; k += TILE) {
                CACHE(a[i*p+k:TILE])
                CACHE(b[k:TILE][j:1])
                for (int q = 0; q < TILE; q++)
                    if (k + q < p)
                        sum += a[i * p + k + q] * b[k + q][j];
            }
            c[i * n + j] = sum;
        }
}

void nbody(int n, const float *restrict x, const float *restrict y, const float *restrict m,
           float *restrict f)
{
#pragma acc parallel loop vector_length(64) copyin(x[0:n], y[0:n], m[0:n]) copyout(f[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0, xi = x[i], yi = y[i];
        for (int t = 0; t < n; t += 64) {
            CACHE(x[t:64], y[t:64], m[t:64])
            for (int j = t; j < MIN(t + 64, n); j++) {
                float dx = x[j] - xi, dy = y[j] - yi;
                sum += m[j] * dx / (dx * dx + dy * dy + 0.5f);
            }
        }
        f[i] = sum;
    }
}

struct body { float x, y, z, m; };

void nbody_struct(int n, const struct body *restrict p, float *restrict f)
{
#pragma acc parallel loop vector_length(64) copyin(p[0:n]) copyout(f[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0, xi = p[i].x, yi = p[i].y;
        for (int t = 0; t < n; t += 64) {
            CACHE(p[t:64])
            for (int j = t; j < MIN(t + 64, n); j++) {
                float dx = p[j].x - xi, dy = p[j].y - yi;
                sum += p[j].m * dx / (dx * dx + dy * dy + p[j].z);
            }
        }
        f[i] = sum;
    }
}

#ifndef RADIUS
#define RADIUS 5
#endif

void stencil(int n, const double *restrict a, double *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = RADIUS; i < n - RADIUS; i++) {
        double sum = 0;
        CACHE(a[i-RADIUS:2*RADIUS+1])
        for (int j = i - RADIUS; j <= i + RADIUS; j++)
            sum += a[j];
        b[i] = sum / (2 * RADIUS + 1);
    }
}

/* The loop counts down and in steps: neighbouring iterations are two elements apart. */
void stencil_down(int n, const double *restrict a, double *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = n - 3; i >= 2; i -= 2) {
        CACHE(a[i-2:5])
        b[i] = a[i - 2] + 2 * a[i - 1] + 3 * a[i] + 2 * a[i + 1] + a[i + 2];
    }
}

/* The section moves against the loop. */
void reversed(int n, const int *restrict a, int *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = 1; i < n - 1; i++) {
        CACHE(a[n-2-i:3])
        b[i] = a[n - 2 - i] + 10 * a[n - 1 - i] + 100 * a[n - i];
    }
}

void jacobi(int m, int n, float (*restrict a)[n], float (*restrict b)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:m]) copy(b[0:m])
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            CACHE(a[i-1:3][j-1:3])
            float sum = 0;
            for (int y = -1; y <= 1; y++)
                for (int x = -1; x <= 1; x++)
                    sum += a[i + y][j + x];
            b[i][j] = sum / 9;
        }
}

/* Rows of a constant length; the edge is guarded inside the loops. */
#define W 70
void hotspot(int m, double (*restrict t)[W], double (*restrict p)[W], double (*restrict r)[W])
{
#pragma acc parallel loop collapse(2) copyin(t[0:m], p[0:m]) copyout(r[0:m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < W; j++) {
            CACHE(t[i-1:3][j-1:3])
            double here = t[i][j];
            double north = i > 0 ? t[i - 1][j] : here;
            double south = i < m - 1 ? t[i + 1][j] : here;
            double west = j > 0 ? t[i][j - 1] : here;
            double east = j < W - 1 ? t[i][j + 1] : here;
            r[i][j] = here + 0.1 * (p[i][j] + north + south + east + west - 4 * here);
        }
}

void convolution(int m, int n, float (*restrict a)[n], const float *restrict k,
                 float (*restrict b)[n])
{
#pragma acc parallel loop collapse(2) copyin(a[0:m], k[0:49]) copy(b[0:m])
    for (int i = 3; i < m - 3; i++)
        for (int j = 3; j < n - 3; j++) {
            CACHE(a[i-3:7][j-3:7], k[0:49])
            float sum = 0;
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 7; x++)
                    sum += k[y * 7 + x] * a[i + y - 3][j + x - 3];
            b[i][j] = sum;
        }
}

/* The index is read from memory: it lies in the section only some of the time. */
void gather(int n, const int *restrict at, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(at[0:n], a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i-4:9])
        float sum = 0;
        for (int r = 0; r < 8; r++)
            sum += a[(at[i] + r) % n] * (r + 1);
        b[i] = sum;
    }
}

/* The trip count is known only at run time: checks are hoisted out of the loop. */
void window(int n, int w, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = w; i < n - w; i++) {
        CACHE(a[i-8:17])
        float sum = 0;
        for (int j = i - w; j <= i + w; j++)
            sum += a[j];
        b[i] = sum;
    }
}

/* Written in a sequential loop: what an iteration writes it reads again. */
void relax(int n, int steps, float *restrict a, const float *restrict c)
{
#pragma acc parallel loop copy(a[0:n]) copyin(c[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1])
        for (int s = 0; s < steps; s++)
            a[i] = 0.5f * a[i] + c[i] + s;
    }
}

/* Few iterations write, and only now and then. */
void sparse(int n, int steps, float *restrict a, const float *restrict c)
{
#pragma acc parallel loop copy(a[0:n]) copyin(c[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1])
        for (int s = 0; s < steps; s++)
            if (i % 50 == 7 && s % 50 == 3)
                a[i] = 0.5f * a[i] + c[i] + s;
    }
}

/* Neighbouring sections overlap, but every iteration writes its own element. */
void overlapping(int n, int steps, float *restrict a, const float *restrict c)
{
#pragma acc parallel loop copy(a[0:n]) copyin(c[0:n])
    for (int i = 1; i < n - 1; i++) {
        CACHE(a[i-1:3])
        for (int s = 0; s < steps; s++)
            a[i] = 0.5f * a[i] + c[i] + s;
    }
}

/* One step of an LU decomposition: the column and the row of the pivot. */
void lu_step(int n, int k, double (*restrict a)[n], const double *restrict row,
             const double *restrict column)
{
#pragma acc parallel loop collapse(2) copy(a[0:n]) copyin(row[0:n], column[0:n])
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++) {
            CACHE(row[j:1], column[i:1])
            a[i][j] -= column[i] * row[j];
        }
}

/* The directive stands around a vector loop: the whole gang shares the row. */
void rows(int m, int n, float (*restrict a)[64], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop gang copyin(a[0:m], b[0:64]) copyout(c[0:m])
    for (int i = 0; i < m; i++) {
        CACHE(a[i:1][0:64])
#pragma acc loop vector
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < 64; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
}

/* The same in blocks of a row that a sequential loop renews, with an index that is not proved. */
void windows(int m, int n, const double *restrict a, double *restrict c)
{
#pragma acc parallel loop gang copyin(a[0:n]) copyout(c[0:m*128])
    for (int i = 0; i < m; i++)
        for (int t = 0; t < 2; t++) {
            CACHE(a[i+t-1:20])
#pragma acc loop vector
            for (int j = 0; j < 64; j++) {
                double sum = 0;
                for (int k = 0; k < 19; k++)
                    sum += a[(i + t + (j * k) % 23) % n];
                c[i * 128 + t * 64 + j] = sum;
            }
        }
}

/* Coherence: every iteration writes its own element and reads it back. */
void own_copy(int n, int *restrict a, int *restrict seen)
{
#pragma acc parallel loop copy(a[0:n]) copyout(seen[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[i:1])
        for (int s = 0; s < 3; s++)
            a[i] = 10 * i + s;
        seen[i] = a[i];
    }
}

/* Coherence: every iteration reads, outside of the directive's scope, what another block writes. */
void others_copy(int n, int *restrict a, int *restrict seen)
{
#pragma acc parallel loop copy(a[0:n]) copyout(seen[0:n])
    for (int i = 0; i < n; i++) {
        seen[i] = a[n - 1 - i];
        {
            CACHE(a[i:1])
            for (int s = 0; s < 3; s++)
                a[i] = 10 * i + s;
        }
    }
}

/* Coherence: all iterations write one element that they all hold. */
void common_copy(int n, int *restrict a, int *restrict seen)
{
#pragma acc parallel loop num_gangs(8) copy(a[0:4]) copyout(seen[0:n])
    for (int i = 0; i < n; i++) {
        CACHE(a[0:4])
        for (int s = 0; s < 3; s++)
            a[1] = i + 100;
        seen[i] = a[1];
    }
}
