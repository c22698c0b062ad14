/* Prefix sums (the research extension `loop scan`). */

void scan_f32(long n, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop scan(+: x, y, 0, n) present(x[0:n], y[0:n])
    for (long i = 1; i < n; i++)
        y[i] = y[i - 1] + x[i];
}

void scan_f64(long n, const double *restrict x, double *restrict y)
{
#pragma acc parallel loop scan(+: x, y, 0, n) present(x[0:n], y[0:n])
    for (long i = 1; i < n; i++)
        y[i] = y[i - 1] + x[i];
}

void scan_exclusive(long n, const int *restrict x, int *restrict y)
{
#pragma acc parallel loop scan(+: x, y, 0, n) present(x[0:n], y[0:n])
    for (long i = 1; i < n; i++)
        y[i] = y[i - 1] + x[i - 1];
}

void scan_rows(int rows, int n, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop gang vector_length(256) present(x[0:(long)rows * n], y[0:(long)rows * n])
    for (int r = 0; r < rows; r++) {
#pragma acc loop vector scan(+: x, y, 0, n)
        for (int i = 1; i < n; i++)
            y[(long)r * n + i] = y[(long)r * n + i - 1] + x[(long)r * n + i];
    }
}
