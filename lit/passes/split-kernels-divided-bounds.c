// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s

// Bounds of inner loops that are parts of a size: a division by a constant or a shift is computed before the loops.

#define HALF(x) ((x) / 2)

void divided(int n, int h, int w, const float *restrict in, float *restrict out)
{
#pragma acc parallel loop copyin(in[0:n*h*w]) copyout(out[0:n*(h/2)*(w/2)])
    for (int k = 0; k < n; k++)
        // CHECK: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (int i = 0; i < h / 2; i++)
            // CHECK: :[[# @LINE + 1]]:13: remark: loop mapped to
            for (int j = 0; j < w / 2; j++)
                out[(k * (h / 2) + i) * (w / 2) + j] = in[(k * h + 2 * i) * w + 2 * j];
}

void shifted(long n, long h, long w, const float *restrict in, float *restrict out)
{
#pragma acc parallel loop copyin(in[0:n*h*w]) copyout(out[0:n*(h>>1)*(w>>1)])
    for (long k = 0; k < n; k++)
        // CHECK: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (long i = 0; i < h >> 1; i++)
            // CHECK: :[[# @LINE + 1]]:13: remark: loop mapped to
            for (long j = 0; j < w >> 1; j++)
                out[(k * (h >> 1) + i) * (w >> 1) + j] = in[(k * h + 2 * i) * w + 2 * j];
}

void declared_inside(int n, int h, int w, float (*restrict in)[h][w], float (*restrict out)[h][w])
{
#pragma acc parallel loop copyin(in[0:n]) copy(out[0:n])
    for (int k = 0; k < n; k++) {
        int rows = HALF(h), columns = HALF(w);
        // CHECK: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (int i = 0; i < rows; i++)
            // CHECK: :[[# @LINE + 1]]:13: remark: loop mapped to
            for (int j = 0; j < columns; j++)
                out[k][i][j] = in[k][2 * i][2 * j];
    }
}

void windows(int n, int h, int w, float (*restrict in)[h][w], float (*restrict out)[h][w])
{
#pragma acc parallel loop copyin(in[0:n]) copy(out[0:n])
    for (int k = 0; k < n; k++)
        // CHECK: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (int i = 0; i < (h - 3) / 2 + 1; ++i)
            // CHECK: :[[# @LINE + 1]]:13: remark: loop mapped to
            for (int j = 0; j <= (w - 3) / 2; ++j)
                out[k][i][j] = in[k][2 * i][2 * j] + in[k][2 * i + 2][2 * j + 2];
}

void whole_blocks(int n, int m, const double *restrict in, double *restrict out)
{
#pragma acc kernels copyin(in[0:n*m]) copy(out[0:n*m])
    // CHECK: :[[# @LINE + 1]]:5: remark: loop mapped to
    for (int k = 0; k < n; k++)
        // CHECK: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (int j = 0; j < m - m % 8; j++)
            out[k * m + j] = 2 * in[k * m + j];
}

// Nobody may divide by a number that is perhaps 0 before it is known that the loop runs.
// CHECK-NOT: remark: loop over 'i'
void by_a_variable(int n, int h, int stride, float (*restrict in)[h], float (*restrict out)[h])
{
#pragma acc parallel loop copyin(in[0:n]) copy(out[0:n])
    for (int k = 0; k < n; k++)
        // CHECK-NOT: :[[# @LINE + 1]]:9: remark: loop mapped to
        for (int i = 0; i < h / stride; i++)
            out[k][i] = in[k][i * stride];
}
