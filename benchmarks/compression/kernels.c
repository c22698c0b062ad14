/*
 * The benchmarks of the compression papers (shared/papers/000, chapter 6), with and without
 * compression: -DREAL=float or double, and -DPACKED(...) as nothing or compression(...) for the arrays
 * that are named in it.
 */
#include <math.h>

#ifndef REAL
#define REAL float
#endif
#ifndef SQRT
#define SQRT sqrtf
#endif
#ifndef PACKED
#define PACKED(...)
#endif
#ifndef PACKED_RECORDS
#define PACKED_RECORDS PACKED
#endif
#ifndef PACKED_POWER
#define PACKED_POWER(...)
#endif
#ifndef PACKED_TEMPERATURE
#define PACKED_TEMPERATURE(...)
#endif

void copy(long n, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n]) PACKED(x, y)
    for (long i = 0; i < n; i++)
        y[i] = x[i];
}

void reverse(long n, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n]) PACKED(x, y)
    for (long i = 0; i < n; i++)
        y[n - 1 - i] = x[n - 1 - i];
}

void strided(long n, int stride, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n]) PACKED(x, y)
    for (long i = 0; i < n / stride; i++)
        y[i * stride] = x[i * stride];
}

void gather(long n, const int *restrict index, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop async(1) present(index[0:n], x[0:n], y[0:n]) PACKED(x, y)
    for (long i = 0; i < n; i++)
        y[i] = x[index[i]];
}

void vecprod(long n, const REAL *restrict x, const REAL *restrict y, REAL *restrict z)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n], z[0:n]) PACKED(x, y, z)
    for (long i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

void matadd(int n, const REAL *restrict a, const REAL *restrict b, REAL *restrict c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n]) PACKED(a, b, c)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = a[i * n + j] + b[i * n + j];
}

void matmul(int n, const REAL *restrict a, const REAL *restrict b, REAL *restrict c)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n]) PACKED(a, b)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void hotspot(int n, const REAL *restrict temperature, const REAL *restrict power,
             REAL *restrict result)
{
#pragma acc parallel loop async(1) collapse(2) \
    present(temperature[0:n*n], power[0:n*n], result[0:n*n]) \
    PACKED_POWER(power) PACKED_TEMPERATURE(temperature, result)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            REAL t = temperature[i * n + j];
            result[i * n + j] = t + (REAL)0.05 * (power[i * n + j]
                + (temperature[(i - 1) * n + j] + temperature[(i + 1) * n + j] - 2 * t) * (REAL)0.1
                + (temperature[i * n + j - 1] + temperature[i * n + j + 1] - 2 * t) * (REAL)0.1
                + (80 - t) * (REAL)0.0125);
        }
}

/* Temperatures are decoded once, into a tile in shared memory, and read from there. */
void hotspot_cached(int n, REAL (*restrict temperature)[n], const REAL (*restrict power)[n],
                    REAL (*restrict result)[n])
{
#pragma acc parallel loop async(1) collapse(2) \
    present(temperature[0:n], power[0:n], result[0:n]) \
    PACKED_POWER(power) PACKED_TEMPERATURE(temperature, result)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
#pragma acc cache(readonly: temperature[i-1:3][j-1:3])
            REAL t = temperature[i][j];
            result[i][j] = t + (REAL)0.05 * (power[i][j]
                + (temperature[i - 1][j] + temperature[i + 1][j] - 2 * t) * (REAL)0.1
                + (temperature[i][j - 1] + temperature[i][j + 1] - 2 * t) * (REAL)0.1
                + (80 - t) * (REAL)0.0125);
        }
}

struct location {
    REAL latitude, longitude;
};

void nearest_aos(int n, const struct location *restrict records, REAL *restrict distance)
{
#pragma acc parallel loop async(1) present(records[0:n], distance[0:n]) PACKED_RECORDS(records)
    for (int i = 0; i < n; i++) {
        REAL dlat = records[i].latitude - 30;
        REAL dlon = records[i].longitude - 90;
        distance[i] = SQRT(dlat * dlat + dlon * dlon);
    }
}

void nearest_soa(int n, const REAL *restrict latitude, const REAL *restrict longitude,
                 REAL *restrict distance)
{
#pragma acc parallel loop async(1) present(latitude[0:n], longitude[0:n], distance[0:n]) \
    PACKED(latitude, longitude)
    for (int i = 0; i < n; i++) {
        REAL dlat = latitude[i] - 30;
        REAL dlon = longitude[i] - 90;
        distance[i] = SQRT(dlat * dlat + dlon * dlon);
    }
}

void dyadic(int n, const REAL *restrict x, const REAL *restrict y, REAL *restrict z)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n], z[0:n]) PACKED(x, y)
    for (int i = 0; i < n; i++) {
        REAL sum = 0;
        for (int j = 0; j < n; j++)
            sum += x[j] * y[i ^ j];
        z[i] = sum;
    }
}

/* Elements are decoded once per tile, as a tile is filled. */
void matmul_cached(int n, const REAL (*restrict a)[n], const REAL (*restrict b)[n],
                   REAL (*restrict c)[n])
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n], b[0:n], c[0:n]) PACKED(a, b)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            REAL sum = 0;
            for (int k = 0; k < n; k += 16) {
#pragma acc cache(readonly: a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}
