// The kernels of cache.c as an expert would write them with shared memory.
#include "../../kernels/bench.cuh"

template <int T>
__global__ void __launch_bounds__(T * T) gemm_kernel(int n, const float *__restrict__ a,
                                                     const float *__restrict__ b,
                                                     float *__restrict__ c)
{
    __shared__ float as[T][T], bs[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    const int j = blockIdx.x * T + x, i = blockIdx.y * T + y;
    float sum = 0.0f;
    for (int k = 0; k < n; k += T) {
        as[y][x] = i < n && k + x < n ? a[(long)i * n + k + x] : 0.0f;
        bs[y][x] = k + y < n && j < n ? b[(long)(k + y) * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < T; q++)
            sum += as[y][q] * bs[q][x];
        __syncthreads();
    }
    if (i < n && j < n)
        c[(long)i * n + j] = sum;
}

template <int T> static void gemm(int n, const float *a, const float *b, float *c)
{
    gemm_kernel<T><<<dim3(ceil_div(n, T), ceil_div(n, T)), dim3(T, T)>>>(n, a, b, c);
    CHECK(cudaGetLastError());
}

extern "C" void gemm8(int n, const float *a, const float *b, float *c) { gemm<8>(n, a, b, c); }
extern "C" void gemm16(int n, const float *a, const float *b, float *c) { gemm<16>(n, a, b, c); }
extern "C" void gemm32(int n, const float *a, const float *b, float *c) { gemm<32>(n, a, b, c); }

extern "C" void gemm16_checked(int n, int, const float *a, const float *b, float *c)
{
    gemm<16>(n, a, b, c);
}

__global__ void __launch_bounds__(256) nbody_kernel(int n, const float4 *__restrict__ p,
                                                    float4 *__restrict__ f)
{
    __shared__ float4 tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
    float fx = 0, fy = 0, fz = 0;
    for (int base = 0; base < n; base += 256) {
        tile[threadIdx.x] = base + threadIdx.x < n ? p[base + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 32
        for (int j = 0; j < 256; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = other.w * r * r * r;
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        __syncthreads();
    }
    if (i < n) {
        f[i].x = fx;
        f[i].y = fy;
        f[i].z = fz;
    }
}

extern "C" void nbody(int n, const float4 *p, float4 *f)
{
    nbody_kernel<<<ceil_div(n, 256), 256>>>(n, p, f);
    CHECK(cudaGetLastError());
}

template <int R>
__global__ void __launch_bounds__(256) stencil_kernel(int n, const float *__restrict__ a,
                                                      float *__restrict__ b)
{
    __shared__ float tile[256 + 2 * R];
    const int first = blockIdx.x * 256, i = first + R + threadIdx.x;
    for (int t = threadIdx.x; t < 256 + 2 * R; t += 256)
        tile[t] = first + t < n ? a[first + t] : 0.0f;
    __syncthreads();
    if (i >= n - R)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j <= 2 * R; j++)
        sum += tile[threadIdx.x + j];
    b[i] = sum * (1.0f / (2 * R + 1));
}

template <int R> static void stencil(int n, const float *a, float *b)
{
    stencil_kernel<R><<<ceil_div(n - 2 * R, 256), 256>>>(n, a, b);
    CHECK(cudaGetLastError());
}

extern "C" void stencil1(int n, const float *a, float *b) { stencil<1>(n, a, b); }
extern "C" void stencil30(int n, const float *a, float *b) { stencil<30>(n, a, b); }

constexpr int X = 32, Y = 8;

// A block's tile with a border of R elements; outside of the array it repeats the edge.
template <int R>
__device__ void load_tile(float (&tile)[Y + 2 * R][X + 2 * R], int n, const float *__restrict__ a)
{
    const int top = blockIdx.y * Y, left = blockIdx.x * X;
    for (int y = threadIdx.y; y < Y + 2 * R; y += Y)
        for (int x = threadIdx.x; x < X + 2 * R; x += X)
            tile[y][x] = a[(long)min(top + y, n - 1) * n + min(left + x, n - 1)];
    __syncthreads();
}

__global__ void __launch_bounds__(256) jacobi_kernel(int n, const float *__restrict__ a,
                                                     float *__restrict__ b)
{
    __shared__ float tile[Y + 2][X + 2];
    load_tile<1>(tile, n, a);
    const int i = blockIdx.y * Y + threadIdx.y + 1, j = blockIdx.x * X + threadIdx.x + 1;
    if (i >= n - 1 || j >= n - 1)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int y = 0; y < 3; y++)
#pragma unroll
        for (int x = 0; x < 3; x++)
            sum += tile[threadIdx.y + y][threadIdx.x + x];
    b[(long)i * n + j] = sum * (1.0f / 9.0f);
}

static dim3 blocks(int n) { return dim3(ceil_div(n, X), ceil_div(n, Y)); }

extern "C" void jacobi(int n, const float *a, float *b)
{
    jacobi_kernel<<<blocks(n - 2), dim3(X, Y)>>>(n, a, b);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) hotspot_kernel(int n, const float *__restrict__ t,
                                                      const float *__restrict__ p,
                                                      float *__restrict__ r)
{
    __shared__ float tile[Y + 2][X + 2];
    load_tile<1>(tile, n, t);
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    const int i = blockIdx.y * Y + y, j = blockIdx.x * X + x;
    if (i >= n - 1 || j >= n - 1)
        return;
    float here = tile[y][x];
    r[(long)i * n + j] = here
        + 0.05f * (p[(long)i * n + j] + (tile[y - 1][x] + tile[y + 1][x] - 2.0f * here) * 0.1f
                   + (tile[y][x - 1] + tile[y][x + 1] - 2.0f * here) * 0.1f
                   + (80.0f - here) * 0.0125f);
}

extern "C" void hotspot(int n, const float *t, const float *p, float *r)
{
    hotspot_kernel<<<blocks(n - 2), dim3(X, Y)>>>(n, t, p, r);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) convolution_kernel(int n, const float *__restrict__ a,
                                                          const float *__restrict__ w,
                                                          float *__restrict__ b)
{
    __shared__ float tile[Y + 6][X + 6], weights[49];
    if (threadIdx.y * X + threadIdx.x < 49)
        weights[threadIdx.y * X + threadIdx.x] = w[threadIdx.y * X + threadIdx.x];
    load_tile<3>(tile, n, a);
    const int i = blockIdx.y * Y + threadIdx.y + 3, j = blockIdx.x * X + threadIdx.x + 3;
    if (i >= n - 3 || j >= n - 3)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int y = 0; y < 7; y++)
#pragma unroll
        for (int x = 0; x < 7; x++)
            sum += weights[y * 7 + x] * tile[threadIdx.y + y][threadIdx.x + x];
    b[(long)i * n + j] = sum;
}

extern "C" void convolution(int n, const float *a, const float *w, float *b)
{
    convolution_kernel<<<blocks(n - 6), dim3(X, Y)>>>(n, a, w, b);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) lu_kernel(int n, const float *__restrict__ l,
                                                 const float *__restrict__ u,
                                                 float *__restrict__ a)
{
    __shared__ float ls[16][16], us[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
    ls[y][x] = i < n ? l[(long)i * 16 + x] : 0.0f;
    us[y][x] = j < n ? u[(long)y * n + j] : 0.0f;
    __syncthreads();
    if (i >= n || j >= n)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int q = 0; q < 16; q++)
        sum += ls[y][q] * us[q][x];
    a[(long)i * n + j] -= sum;
}

extern "C" void lu(int n, const float *l, const float *u, float *a)
{
    lu_kernel<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(n, l, u, a);
    CHECK(cudaGetLastError());
}

// Shared-memory micro-benchmark: element type, padding, which way threads run, iterations.
template <class Type, int PAD, bool XY, int ITERATIONS>
__global__ void __launch_bounds__(256) micro_kernel(Type *global, int size)
{
    __shared__ Type shared[16 + PAD][16 + PAD];
    const int row = XY ? threadIdx.x : threadIdx.y, col = XY ? threadIdx.y : threadIdx.x;
    const int index = (threadIdx.x + blockIdx.x * 16) * size + threadIdx.y + blockIdx.y * 16;
    shared[row][col] = global[index];
    __syncthreads();
    const int s = row == 15 ? row : row + 1, n = row == 0 ? 0 : row - 1;
    const int w = col == 15 ? col : col + 1, e = col == 0 ? 0 : col - 1;
    for (int k = 0; k < ITERATIONS; k++) {
        Type sum = (shared[row][col] + shared[s][col] + shared[n][col] + shared[row][e]
                    + shared[row][w]) * (Type)0.8;
        __syncthreads();
        shared[row][col] = sum;
        __syncthreads();
    }
    global[index] = shared[row][col];
}

// The same with the array flattened by hand.
template <class Type, int PAD, bool XY, int ITERATIONS>
__global__ void __launch_bounds__(256) flat_kernel(Type *global, int size)
{
    __shared__ Type shared[(16 + PAD) * (16 + PAD)];
    const int row = XY ? threadIdx.x : threadIdx.y, col = XY ? threadIdx.y : threadIdx.x;
    const int index = (threadIdx.x + blockIdx.x * 16) * size + threadIdx.y + blockIdx.y * 16;
    const int pitch = 16 + PAD;
    shared[row * pitch + col] = global[index];
    __syncthreads();
    const int s = row == 15 ? row : row + 1, n = row == 0 ? 0 : row - 1;
    const int w = col == 15 ? col : col + 1, e = col == 0 ? 0 : col - 1;
    for (int k = 0; k < ITERATIONS; k++) {
        Type sum = (shared[row * pitch + col] + shared[s * pitch + col] + shared[n * pitch + col]
                    + shared[row * pitch + e] + shared[row * pitch + w]) * (Type)0.8;
        __syncthreads();
        shared[row * pitch + col] = sum;
        __syncthreads();
    }
    global[index] = shared[row * pitch + col];
}

#define MICRO(layout, type, pad, xy, iterations)                                                   \
    extern "C" void layout##_##type##_##pad##_##xy##_##iterations(int n, type *a)                  \
    {                                                                                              \
        layout##_kernel<type, pad, xy, iterations><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, n);  \
        CHECK(cudaGetLastError());                                                                 \
    }
#define MICRO_ITERATIONS(layout, type, pad, xy)                                                    \
    MICRO(layout, type, pad, xy, 1) MICRO(layout, type, pad, xy, 2) MICRO(layout, type, pad, xy, 4)
#define MICRO_ORDER(layout, type, pad)                                                             \
    MICRO_ITERATIONS(layout, type, pad, 0) MICRO_ITERATIONS(layout, type, pad, 1)
#define MICRO_PADDING(layout, type) MICRO_ORDER(layout, type, 0) MICRO_ORDER(layout, type, 1)
MICRO_PADDING(micro, int)
MICRO_PADDING(micro, double)
MICRO_PADDING(flat, int)
MICRO_PADDING(flat, double)
