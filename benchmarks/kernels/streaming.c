/* Streaming kernels: every element is touched once. */
#include <math.h>

void copy_f32(long n, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n])
    for (long i = 0; i < n; i++)
        y[i] = x[i];
}

void vecprod_f32(long n, const float *restrict x, const float *restrict y, float *restrict z)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n], z[0:n])
    for (long i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

void vecprod_f64(long n, const double *restrict x, const double *restrict y, double *restrict z)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n], z[0:n])
    for (long i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

void saxpy(long n, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n])
    for (long i = 0; i < n; i++)
        y[i] = 2.5f * x[i] + y[i];
}

void matadd(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = a[i * n + j] + b[i * n + j];
}

void transpose(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = a[j * n + i];
}

struct location {
    float latitude, longitude;
};

void nearest(int n, const struct location *restrict records, float *restrict distance)
{
#pragma acc parallel loop async(1) present(records[0:n], distance[0:n])
    for (int i = 0; i < n; i++) {
        float dlat = records[i].latitude - 30.0f;
        float dlon = records[i].longitude - 90.0f;
        distance[i] = sqrtf(dlat * dlat + dlon * dlon);
    }
}
