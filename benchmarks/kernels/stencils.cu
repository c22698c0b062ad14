// Stencils, as an expert would write them: 2D ones walk down several rows per thread with the rows
// in registers; 3D ones march along the slowest dimension with the planes in registers.
#include "bench.cuh"

// Rows per thread of the 2D kernels; planes per thread of the 3D ones.
constexpr int ROWS = 8, PLANES = 16;

// Four columns (one float4) and ROWS rows per thread. Neighbours left and right of the four come from
// the L1 cache; the grid's border columns are left out when the four are stored.
__global__ void __launch_bounds__(64) jacobi5_kernel(int n, const float *__restrict__ a,
                                                     float *__restrict__ b)
{
    const int j = (blockIdx.x * 64 + threadIdx.x) * 4;
    const int i0 = 1 + blockIdx.y * ROWS;
    if (j >= n)
        return;
    const int last = min(ROWS, n - 1 - i0);
    const float *p = a + (long)(i0 - 1) * n + j;
    float4 rows[ROWS + 2];
    float left[ROWS], right[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++)
        if (r < last + 2)
            rows[r] = __ldg(reinterpret_cast<const float4 *>(p + (long)r * n));
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (r < last) {
            left[r] = j > 0 ? __ldg(p + (long)(r + 1) * n - 1) : 0.0f;
            right[r] = j + 4 < n ? __ldg(p + (long)(r + 1) * n + 4) : 0.0f;
        }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (r < last) {
            const float4 up = rows[r], c = rows[r + 1], down = rows[r + 2];
            const float4 out = make_float4(0.25f * (left[r] + c.y + up.x + down.x),
                                           0.25f * (c.x + c.z + up.y + down.y),
                                           0.25f * (c.y + c.w + up.z + down.z),
                                           0.25f * (c.z + right[r] + up.w + down.w));
            float *q = b + (long)(i0 + r) * n + j;
            if (j > 0 && j + 4 < n) {
                *reinterpret_cast<float4 *>(q) = out;
            } else {
                if (j > 0)
                    q[0] = out.x;
                q[1] = out.y;
                q[2] = out.z;
                if (j + 4 < n)
                    q[3] = out.w;
            }
        }
}

// For rows that do not start at multiples of 16 bytes.
__global__ void __launch_bounds__(128) jacobi5_unaligned_kernel(int n, const float *__restrict__ a,
                                                                float *__restrict__ b)
{
    const int j = 1 + blockIdx.x * 128 + threadIdx.x, i = 1 + blockIdx.y;
    if (j < n - 1) {
        const float *p = a + (long)i * n + j;
        b[(long)i * n + j] = 0.25f * (__ldg(p - 1) + __ldg(p + 1) + __ldg(p - n) + __ldg(p + n));
    }
}

extern "C" void jacobi5(int n, const float *a, float *b)
{
    if (n % 4 == 0)
        jacobi5_kernel<<<dim3(ceil_div(n, 256), ceil_div(n - 2, ROWS)), 64>>>(n, a, b);
    else
        jacobi5_unaligned_kernel<<<dim3(ceil_div(n - 2, 128), n - 2), 128>>>(n, a, b);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(128) jacobi9_kernel(int n, const float *__restrict__ a,
                                                      float *__restrict__ b)
{
    const int j = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int i0 = 1 + blockIdx.y * ROWS;
    if (j >= n - 1)
        return;
    const float *p = a + (long)(i0 - 1) * n + j;
    float rows[ROWS + 2][3];
    const int last = min(ROWS, n - 1 - i0);
#pragma unroll
    for (int r = 0; r < ROWS + 2; r++)
        if (r < last + 2)
#pragma unroll
            for (int c = 0; c < 3; c++)
                rows[r][c] = __ldg(p + (long)r * n + c - 1);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (r < last)
            b[(long)(i0 + r) * n + j] =
                0.5f * rows[r + 1][1]
                + 0.1f * (rows[r + 1][0] + rows[r + 1][2] + rows[r][1] + rows[r + 2][1])
                + 0.025f * (rows[r][0] + rows[r][2] + rows[r + 2][0] + rows[r + 2][2]);
}

extern "C" void jacobi9(int n, const float *a, float *b)
{
    jacobi9_kernel<<<dim3(ceil_div(n - 2, 128), ceil_div(n - 2, ROWS)), 128>>>(n, a, b);
    CHECK(cudaGetLastError());
}

// HEAT: v = u + r * laplacian; otherwise HotSpot with its power term. Four rows a thread.
template <bool HEAT>
__global__ void __launch_bounds__(128) thermal_kernel(int n, const double *__restrict__ u,
                                                      const double *__restrict__ power,
                                                      double *__restrict__ v)
{
    constexpr int R = 4;
    const int j = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int i0 = 1 + blockIdx.y * R;
    if (j >= n - 1)
        return;
    double column[R + 2], left[R], right[R], source[R];
    const int last = min(R, n - 1 - i0);
    const double *p = u + (long)(i0 - 1) * n + j;
#pragma unroll
    for (int r = 0; r < R + 2; r++)
        if (r < last + 2)
            column[r] = __ldg(p + (long)r * n);
#pragma unroll
    for (int r = 0; r < R; r++)
        if (r < last) {
            left[r] = __ldg(p + (long)(r + 1) * n - 1);
            right[r] = __ldg(p + (long)(r + 1) * n + 1);
            if (!HEAT)
                source[r] = __ldg(power + (long)(i0 + r) * n + j);
        }
#pragma unroll
    for (int r = 0; r < R; r++)
        if (r < last) {
            double t = column[r + 1];
            v[(long)(i0 + r) * n + j] =
                HEAT ? t + 0.2 * (column[r] + column[r + 2] + left[r] + right[r] - 4.0 * t)
                     : t + 0.05 * (source[r] + (column[r] + column[r + 2] - 2.0 * t) * 0.1
                                   + (left[r] + right[r] - 2.0 * t) * 0.1 + (80.0 - t) * 0.0125);
        }
}

extern "C" void heat2d(int n, const double *u, double *v)
{
    thermal_kernel<true><<<dim3(ceil_div(n - 2, 128), ceil_div(n - 2, 4)), 128>>>(n, u, nullptr, v);
    CHECK(cudaGetLastError());
}

extern "C" void hotspot(int n, const double *temperature, const double *power, double *result)
{
    thermal_kernel<false>
        <<<dim3(ceil_div(n - 2, 128), ceil_div(n - 2, 4)), 128>>>(n, temperature, power, result);
    CHECK(cudaGetLastError());
}

// March along i with three planes of the centre column in registers.
__global__ void __launch_bounds__(256) laplacian_kernel(int n, const float *__restrict__ a,
                                                        float *__restrict__ b)
{
    const int k = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int j = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int i0 = 1 + blockIdx.z * PLANES;
    if (k >= n - 1 || j >= n - 1)
        return;
    const long plane = (long)n * n;
    const float *p = a + (long)i0 * plane + (long)j * n + k;
    float below = __ldg(p - plane), centre = __ldg(p);
    const int last = min(PLANES, n - 1 - i0);
#pragma unroll 4
    for (int r = 0; r < last; r++) {
        float above = __ldg(p + plane);
        b[p - a] = __ldg(p - 1) + __ldg(p + 1) + __ldg(p - n) + __ldg(p + n) + below + above - 6.0f * centre;
        below = centre;
        centre = above;
        p += plane;
    }
}

__device__ __forceinline__ float4 load4(const float *p) { return __ldg(reinterpret_cast<const float4 *>(p)); }

// The same with four columns (one float4) per thread.
__global__ void __launch_bounds__(128) laplacian4_kernel(int n, const float *__restrict__ a,
                                                         float *__restrict__ b)
{
    const int k = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int j = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int i0 = 1 + blockIdx.z * PLANES;
    if (k >= n || j >= n - 1)
        return;
    const long plane = (long)n * n;
    const float *p = a + (long)i0 * plane + (long)j * n + k;
    float4 below = load4(p - plane), c = load4(p);
    const int last = min(PLANES, n - 1 - i0);
#pragma unroll 4
    for (int r = 0; r < last; r++) {
        const float4 above = load4(p + plane), north = load4(p - n), south = load4(p + n);
        const float left = k > 0 ? __ldg(p - 1) : 0.0f, right = k + 4 < n ? __ldg(p + 4) : 0.0f;
        const float4 out = make_float4(
            left + c.y + north.x + south.x + below.x + above.x - 6.0f * c.x,
            c.x + c.z + north.y + south.y + below.y + above.y - 6.0f * c.y,
            c.y + c.w + north.z + south.z + below.z + above.z - 6.0f * c.z,
            c.z + right + north.w + south.w + below.w + above.w - 6.0f * c.w);
        float *q = b + (p - a);
        if (k > 0 && k + 4 < n) {
            *reinterpret_cast<float4 *>(q) = out;
        } else {
            if (k > 0)
                q[0] = out.x;
            q[1] = out.y;
            q[2] = out.z;
            if (k + 4 < n)
                q[3] = out.w;
        }
        below = c;
        c = above;
        p += plane;
    }
}

static dim3 grid3(int n, int halo)
{
    return dim3(ceil_div(n - 2 * halo, 64), ceil_div(n - 2 * halo, 4), ceil_div(n - 2 * halo, PLANES));
}

extern "C" void laplacian(int n, const float *a, float *b)
{
    if (n % 4 == 0)
        laplacian4_kernel<<<dim3(ceil_div(n, 128), ceil_div(n - 2, 4), ceil_div(n - 2, PLANES)),
                            dim3(32, 4)>>>(n, a, b);
    else
        laplacian_kernel<<<grid3(n, 1), dim3(64, 4)>>>(n, a, b);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256)
    divergence_kernel(int n, const float *__restrict__ u, const float *__restrict__ v,
                      const float *__restrict__ w, float *__restrict__ d)
{
    const int k = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int j = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int i0 = 1 + blockIdx.z * PLANES;
    if (k >= n - 1 || j >= n - 1)
        return;
    const long plane = (long)n * n;
    long at = (long)i0 * plane + (long)j * n + k;
    float below = __ldg(w + at - plane), centre = __ldg(w + at);
    const int last = min(PLANES, n - 1 - i0);
#pragma unroll 4
    for (int r = 0; r < last; r++, at += plane) {
        float above = __ldg(w + at + plane);
        d[at] = 0.5f * (__ldg(u + at + 1) - __ldg(u + at - 1) + __ldg(v + at + n) - __ldg(v + at - n)
                        + above - below);
        below = centre;
        centre = above;
    }
}

extern "C" void divergence(int n, const float *u, const float *v, const float *w, float *d)
{
    divergence_kernel<<<grid3(n, 1), dim3(64, 4)>>>(n, u, v, w, d);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256)
    wave13_kernel(int n, const float *__restrict__ now, const float *__restrict__ before,
                  float *__restrict__ next)
{
    const int k = 2 + blockIdx.x * blockDim.x + threadIdx.x;
    const int j = 2 + blockIdx.y * blockDim.y + threadIdx.y;
    const int i0 = 2 + blockIdx.z * PLANES;
    if (k >= n - 2 || j >= n - 2)
        return;
    const long plane = (long)n * n;
    long at = (long)i0 * plane + (long)j * n + k;
    float m2 = __ldg(now + at - 2 * plane), m1 = __ldg(now + at - plane), c = __ldg(now + at),
          p1 = __ldg(now + at + plane);
    const int last = min(PLANES, n - 2 - i0);
#pragma unroll 4
    for (int r = 0; r < last; r++, at += plane) {
        float p2 = __ldg(now + at + 2 * plane);
        float near = __ldg(now + at - 1) + __ldg(now + at + 1) + __ldg(now + at - n) + __ldg(now + at + n)
                     + m1 + p1;
        float far = __ldg(now + at - 2) + __ldg(now + at + 2) + __ldg(now + at - 2 * n)
                    + __ldg(now + at + 2 * n) + m2 + p2;
        next[at] = 2.0f * c - __ldg(before + at) + 0.1f * (1.3333333f * near - 0.0833333f * far - 7.5f * c);
        m2 = m1;
        m1 = c;
        c = p1;
        p1 = p2;
    }
}

extern "C" void wave13(int n, const float *now, const float *before, float *next)
{
    wave13_kernel<<<grid3(n, 2), dim3(64, 4)>>>(n, now, before, next);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256)
    himeno_kernel(int n, const float *__restrict__ p, const float *__restrict__ a,
                  const float *__restrict__ bnd, float *__restrict__ q)
{
    const int k = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int j = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    const int i0 = 1 + blockIdx.z * PLANES;
    if (k >= n - 1 || j >= n - 1)
        return;
    const long plane = (long)n * n, volume = plane * n;
    long at = (long)i0 * plane + (long)j * n + k;
    const int last = min(PLANES, n - 1 - i0);
#pragma unroll 2
    for (int r = 0; r < last; r++, at += plane) {
        const float *c = p + at;
        float s0 = __ldg(a + at) * __ldg(c + plane) + __ldg(a + volume + at) * __ldg(c + n)
                   + __ldg(a + 2 * volume + at) * __ldg(c + 1)
                   + 0.5f * (__ldg(c + plane + n) - __ldg(c + plane - n) - __ldg(c - plane + n)
                             + __ldg(c - plane - n))
                   + 0.5f * (__ldg(c + n + 1) - __ldg(c - n + 1) - __ldg(c + n - 1) + __ldg(c - n - 1))
                   + 0.5f * (__ldg(c + plane + 1) - __ldg(c - plane + 1) - __ldg(c + plane - 1)
                             + __ldg(c - plane - 1))
                   + __ldg(c - plane) + __ldg(c - n) + __ldg(c - 1);
        float ss = (s0 * __ldg(a + 3 * volume + at) - __ldg(c)) * __ldg(bnd + at);
        q[at] = __ldg(c) + 0.8f * ss;
    }
}

extern "C" void himeno(int n, const float *p, const float *a, const float *bnd, float *q)
{
    himeno_kernel<<<grid3(n, 1), dim3(64, 4)>>>(n, p, a, bnd, q);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) x_reuse_kernel(int n, const float *__restrict__ a,
                                                      float *__restrict__ b)
{
    float sum = 0.0f;
    const float *row = a + (long)blockIdx.x * n;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum += __ldg(row + k);
    float *out = b + (long)blockIdx.x * n;
    for (int j = threadIdx.x; j < n; j += 256)
        out[j] = sum;
}

extern "C" void x_reuse(int n, const float *a, float *b)
{
    x_reuse_kernel<<<n, 256>>>(n, a, b);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) y_reuse_kernel(int n, const float *__restrict__ a,
                                                      float *__restrict__ b)
{
    constexpr int R = 32;
    const int j = blockIdx.x * 256 + threadIdx.x;
    if (j >= n)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 64; k++)
        sum += __ldg(a + (long)k * n + j);
    const int last = min(n, (int)(blockIdx.y + 1) * R);
    for (int i = blockIdx.y * R; i < last; i++)
        b[(long)i * n + j] = sum;
}

extern "C" void y_reuse(int n, const float *a, float *b)
{
    y_reuse_kernel<<<dim3(ceil_div(n, 256), ceil_div(n, 32)), 256>>>(n, a, b);
    CHECK(cudaGetLastError());
}
