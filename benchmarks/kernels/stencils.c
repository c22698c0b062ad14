/* Stencils on regular grids, row-major, the last dimension contiguous. */

void jacobi5(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.25f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j]
                                    + a[(i + 1) * n + j]);
}

void jacobi9(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) collapse(2) present(a[0:n*n], b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.5f * a[i * n + j]
                           + 0.1f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j]
                                     + a[(i + 1) * n + j])
                           + 0.025f * (a[(i - 1) * n + j - 1] + a[(i - 1) * n + j + 1]
                                       + a[(i + 1) * n + j - 1] + a[(i + 1) * n + j + 1]);
}

void heat2d(int n, const double *restrict u, double *restrict v)
{
#pragma acc parallel loop async(1) collapse(2) present(u[0:n*n], v[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            v[i * n + j] = u[i * n + j]
                           + 0.2 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1]
                                    + u[i * n + j + 1] - 4.0 * u[i * n + j]);
}

void hotspot(int n, const double *restrict temperature, const double *restrict power,
             double *restrict result)
{
#pragma acc parallel loop async(1) collapse(2) present(temperature[0:n*n], power[0:n*n], result[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            double t = temperature[i * n + j];
            result[i * n + j] = t + 0.05 * (power[i * n + j]
                + (temperature[(i - 1) * n + j] + temperature[(i + 1) * n + j] - 2.0 * t) * 0.1
                + (temperature[i * n + j - 1] + temperature[i * n + j + 1] - 2.0 * t) * 0.1
                + (80.0 - t) * 0.0125);
        }
}

void laplacian(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) collapse(3) present(a[0:n*n*n], b[0:n*n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                b[(i * n + j) * n + k] = a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1]
                    + a[(i * n + j - 1) * n + k] + a[(i * n + j + 1) * n + k]
                    + a[((i - 1) * n + j) * n + k] + a[((i + 1) * n + j) * n + k]
                    - 6.0f * a[(i * n + j) * n + k];
}

void divergence(int n, const float *restrict u, const float *restrict v, const float *restrict w,
                float *restrict d)
{
#pragma acc parallel loop async(1) collapse(3) present(u[0:n*n*n], v[0:n*n*n], w[0:n*n*n], d[0:n*n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                d[(i * n + j) * n + k] = 0.5f * (u[(i * n + j) * n + k + 1] - u[(i * n + j) * n + k - 1]
                    + v[(i * n + j + 1) * n + k] - v[(i * n + j - 1) * n + k]
                    + w[((i + 1) * n + j) * n + k] - w[((i - 1) * n + j) * n + k]);
}

void wave13(int n, const float *restrict now, const float *restrict before, float *restrict next)
{
#pragma acc parallel loop async(1) collapse(3) present(now[0:n*n*n], before[0:n*n*n], next[0:n*n*n])
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < n - 2; j++)
            for (int k = 2; k < n - 2; k++) {
                float centre = now[(i * n + j) * n + k];
                float near = now[(i * n + j) * n + k - 1] + now[(i * n + j) * n + k + 1]
                    + now[(i * n + j - 1) * n + k] + now[(i * n + j + 1) * n + k]
                    + now[((i - 1) * n + j) * n + k] + now[((i + 1) * n + j) * n + k];
                float far = now[(i * n + j) * n + k - 2] + now[(i * n + j) * n + k + 2]
                    + now[(i * n + j - 2) * n + k] + now[(i * n + j + 2) * n + k]
                    + now[((i - 2) * n + j) * n + k] + now[((i + 2) * n + j) * n + k];
                next[(i * n + j) * n + k] = 2.0f * centre - before[(i * n + j) * n + k]
                    + 0.1f * (1.3333333f * near - 0.0833333f * far - 7.5f * centre);
            }
}

#define AT(i, j, k) (((i) * n + (j)) * n + (k))

void himeno(int n, const float *restrict p, const float *restrict a, const float *restrict bnd,
            float *restrict q)
{
#pragma acc parallel loop async(1) collapse(3) present(p[0:n*n*n], a[0:4*n*n*n], bnd[0:n*n*n], q[0:n*n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                float s0 = a[AT(i, j, k)] * p[AT(i + 1, j, k)]
                    + a[n * n * n + AT(i, j, k)] * p[AT(i, j + 1, k)]
                    + a[2 * n * n * n + AT(i, j, k)] * p[AT(i, j, k + 1)]
                    + 0.5f * (p[AT(i + 1, j + 1, k)] - p[AT(i + 1, j - 1, k)]
                              - p[AT(i - 1, j + 1, k)] + p[AT(i - 1, j - 1, k)])
                    + 0.5f * (p[AT(i, j + 1, k + 1)] - p[AT(i, j - 1, k + 1)]
                              - p[AT(i, j + 1, k - 1)] + p[AT(i, j - 1, k - 1)])
                    + 0.5f * (p[AT(i + 1, j, k + 1)] - p[AT(i - 1, j, k + 1)]
                              - p[AT(i + 1, j, k - 1)] + p[AT(i - 1, j, k - 1)])
                    + p[AT(i - 1, j, k)] + p[AT(i, j - 1, k)] + p[AT(i, j, k - 1)];
                float ss = (s0 * a[3 * n * n * n + AT(i, j, k)] - p[AT(i, j, k)]) * bnd[AT(i, j, k)];
                q[AT(i, j, k)] = p[AT(i, j, k)] + 0.8f * ss;
            }
}

void x_reuse(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) present(a[0:n*n], b[0:n*n])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 64; k++)
                sum += a[i * n + k];
            b[i * n + j] = sum;
        }
    }
}

void y_reuse(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop async(1) present(a[0:n*n], b[0:n*n])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 64; k++)
                sum += a[k * n + j];
            b[i * n + j] = sum;
        }
    }
}
