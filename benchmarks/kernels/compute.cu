// Kernels bound by arithmetic, caches or irregular access, as an expert would write them.
#include "bench.cuh"

// Naive matrix multiplication: one element per thread, the inner loop unrolled.
__global__ void __launch_bounds__(256) matmul_kernel(int n, const float *__restrict__ a,
                                                     const float *__restrict__ b,
                                                     float *__restrict__ c)
{
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float sum = 0.0f;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += __ldg(a + (long)i * n + k) * __ldg(b + (long)k * n + j);
    c[(long)i * n + j] = sum;
}

extern "C" void matmul(int n, const float *a, const float *b, float *c)
{
    matmul_kernel<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(n, a, b, c);
    CHECK(cudaGetLastError());
}

// A block has MM × MM elements of the product, a thread 8 × 8 of them: two by two pieces of 4 × 4, so that
// neighbouring threads read neighbouring float4s of the tiles. While a pair of tiles is multiplied
// the next one is on its way.
constexpr int MM = 128, MK = 8;

__global__ void __launch_bounds__(256) matmul_registers_kernel(int n, const float *__restrict__ a,
                                                               const float *__restrict__ b,
                                                               float *__restrict__ c)
{
    __shared__ float as[2][MK][MM + 4], bs[2][MK][MM];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int row = t / 2, part = t % 2 * 4, depth = t / 32, column = t % 32 * 4;
    const float *from_a = a + (long)(blockIdx.y * MM + row) * n + part;
    const float *from_b = b + (long)depth * n + blockIdx.x * MM + column;
    float sum[8][8] = {};
    float4 next_a, next_b;

    auto load = [&](int k) {
        next_a = __ldg(reinterpret_cast<const float4 *>(from_a + k));
        next_b = __ldg(reinterpret_cast<const float4 *>(from_b + (long)k * n));
    };
    auto place = [&](int buffer) {
        as[buffer][part][row] = next_a.x;
        as[buffer][part + 1][row] = next_a.y;
        as[buffer][part + 2][row] = next_a.z;
        as[buffer][part + 3][row] = next_a.w;
        *reinterpret_cast<float4 *>(&bs[buffer][depth][column]) = next_b;
    };

    load(0);
    place(0);
    __syncthreads();
    for (int k = 0, buffer = 0; k < n; k += MK, buffer ^= 1) {
        if (k + MK < n)
            load(k + MK);
#pragma unroll
        for (int q = 0; q < MK; q++) {
            float x[8], y[8];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                *reinterpret_cast<float4 *>(x + 4 * half) =
                    *reinterpret_cast<const float4 *>(&as[buffer][q][64 * half + 4 * ty]);
                *reinterpret_cast<float4 *>(y + 4 * half) =
                    *reinterpret_cast<const float4 *>(&bs[buffer][q][64 * half + 4 * tx]);
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += x[i] * y[j];
        }
        if (k + MK < n)
            place(buffer ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const long r = blockIdx.y * MM + i / 4 * 64 + 4 * ty + i % 4;
            *reinterpret_cast<float4 *>(c + r * n + blockIdx.x * MM + 64 * half + 4 * tx) = make_float4(
                sum[i][4 * half], sum[i][4 * half + 1], sum[i][4 * half + 2], sum[i][4 * half + 3]);
        }
}

// For matrices that are no multiple of MM: tiles of 32 × 32, an element per thread.
__global__ void __launch_bounds__(1024) matmul_tiled_kernel(int n, const float *__restrict__ a,
                                                            const float *__restrict__ b,
                                                            float *__restrict__ c)
{
    __shared__ float as[32][32], bs[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const int j = blockIdx.x * 32 + x, i = blockIdx.y * 32 + y;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 32) {
        as[y][x] = i < n && k + x < n ? a[(long)i * n + k + x] : 0.0f;
        bs[y][x] = k + y < n && j < n ? b[(long)(k + y) * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 32; q++)
            sum += as[y][q] * bs[q][x];
        __syncthreads();
    }
    if (i < n && j < n)
        c[(long)i * n + j] = sum;
}

extern "C" void matmul_tiled(int n, const float *a, const float *b, float *c)
{
    if (n % MM == 0)
        matmul_registers_kernel<<<dim3(n / MM, n / MM), 256>>>(n, a, b, c);
    else
        matmul_tiled_kernel<<<dim3(ceil_div(n, 32), ceil_div(n, 32)), dim3(32, 32)>>>(n, a, b, c);
    CHECK(cudaGetLastError());
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
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = other.w * inverse * inverse * inverse;
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        __syncthreads();
    }
    if (i < n)
        f[i] = make_float4(fx, fy, fz, 0.0f);
}

extern "C" void nbody(int n, const float4 *p, float4 *f)
{
    nbody_kernel<<<ceil_div(n, 256), 256>>>(n, p, f);
    CHECK(cudaGetLastError());
}

// Four lanes per row: rows hold 27 entries.
__global__ void __launch_bounds__(256) csr_kernel(int rows, const int *__restrict__ offsets,
                                                  const int *__restrict__ cols,
                                                  const double *__restrict__ coefs,
                                                  const double *__restrict__ x,
                                                  double *__restrict__ y)
{
    constexpr int LANES = 4;
    const int row = (blockIdx.x * 256 + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (row >= rows)
        return;
    double sum = 0.0;
    const int end = __ldg(offsets + row + 1);
#pragma unroll 4
    for (int j = __ldg(offsets + row) + lane; j < end; j += LANES)
        sum += __ldg(coefs + j) * __ldg(x + __ldg(cols + j));
    const unsigned mask = __activemask();
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(mask, sum, step, LANES);
    if (lane == 0)
        y[row] = sum;
}

extern "C" void csr(int rows, long, const int *offsets, const int *cols, const double *coefs,
                    const double *x, double *y)
{
    csr_kernel<<<ceil_div(rows * 4, 256), 256>>>(rows, offsets, cols, coefs, x, y);
    CHECK(cudaGetLastError());
}

// A thread has four neighbouring outputs. i ^ j permutes within aligned groups of four, so that one
// float4 of a and one of b serve sixteen products. The block's four slices of threads share the sum
// over j and add up at the end.
constexpr int DYADIC_LANES = 128, DYADIC_SLICES = 4;

__global__ void __launch_bounds__(DYADIC_LANES * DYADIC_SLICES)
    dyadic_kernel(int n, const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c)
{
    __shared__ float4 as[DYADIC_SLICES][DYADIC_LANES], bs[DYADIC_SLICES][DYADIC_LANES];
    const int t = threadIdx.x, slice = threadIdx.y, groups = n / 4;
    float sum[4] = {0, 0, 0, 0};
    for (int base = slice * DYADIC_LANES; base < groups; base += DYADIC_SLICES * DYADIC_LANES) {
        as[slice][t] = __ldg(a + base + t);
        bs[slice][t] = __ldg(b + ((blockIdx.x * DYADIC_LANES) ^ base) + t);
        __syncthreads();
#pragma unroll 8
        for (int q = 0; q < DYADIC_LANES; q++) {
            const float4 x = as[slice][q], y = bs[slice][t ^ q];
            sum[0] += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
            sum[1] += x.x * y.y + x.y * y.x + x.z * y.w + x.w * y.z;
            sum[2] += x.x * y.z + x.y * y.w + x.z * y.x + x.w * y.y;
            sum[3] += x.x * y.w + x.y * y.z + x.z * y.y + x.w * y.x;
        }
        __syncthreads();
    }
    as[slice][t] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    __syncthreads();
    if (slice == 0) {
        float4 total = as[0][t];
        for (int s = 1; s < DYADIC_SLICES; s++) {
            total.x += as[s][t].x;
            total.y += as[s][t].y;
            total.z += as[s][t].z;
            total.w += as[s][t].w;
        }
        c[blockIdx.x * DYADIC_LANES + t] = total;
    }
}

// n is a power of two, at least 2048.
extern "C" void dyadic(int n, const float4 *a, const float4 *b, float4 *c)
{
    dyadic_kernel<<<n / 4 / DYADIC_LANES, dim3(DYADIC_LANES, DYADIC_SLICES)>>>(n, a, b, c);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(512) histogram_kernel(long n, const unsigned char *__restrict__ data,
                                                        int *__restrict__ bins)
{
    __shared__ int local[8][256];
    for (int b = threadIdx.x; b < 8 * 256; b += 512)
        (&local[0][0])[b] = 0;
    __syncthreads();
    int *mine = local[threadIdx.x / 32 % 8];
    const long quads = n / 16, stride = (long)gridDim.x * 512;
    const uint4 *wide = reinterpret_cast<const uint4 *>(data);
    for (long q = (long)blockIdx.x * 512 + threadIdx.x; q < quads; q += stride) {
        uint4 v = __ldg(wide + q);
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int w = 0; w < 4; w++)
#pragma unroll
            for (int s = 0; s < 32; s += 8)
                atomicAdd(mine + (words[w] >> s & 255u), 1);
    }
    for (long i = quads * 16 + (long)blockIdx.x * 512 + threadIdx.x; i < n; i += stride)
        atomicAdd(mine + data[i], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 512) {
        int sum = 0;
#pragma unroll
        for (int copy = 0; copy < 8; copy++)
            sum += local[copy][b];
        if (sum)
            atomicAdd(bins + b, sum);
    }
}

extern "C" void histogram(long n, const unsigned char *data, int *bins)
{
    histogram_kernel<<<132 * 4, 512>>>(n, data, bins);
    CHECK(cudaGetLastError());
}

__global__ void __launch_bounds__(256) monte_carlo_kernel(int streams, int points,
                                                          unsigned long long *inside)
{
    const int s = blockIdx.x * 256 + threadIdx.x;
    unsigned count = 0;
    if (s < streams) {
        unsigned state = 2463534242u ^ ((unsigned)s * 2654435761u);
#pragma unroll 4
        for (int k = 0; k < points; k++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            float x = (float)(state & 0xffffu) * (1.0f / 65536.0f);
            float y = (float)(state >> 16) * (1.0f / 65536.0f);
            count += x * x + y * y < 1.0f;
        }
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, (unsigned long long)count);
}

// The result goes to host memory, as in the OpenACC version.
extern "C" void monte_carlo(int streams, int points, long *inside)
{
    static unsigned long long *device = nullptr;
    if (!device)
        CHECK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMemsetAsync(device, 0, sizeof *device));
    monte_carlo_kernel<<<ceil_div(streams, 256), 256>>>(streams, points, device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(inside, device, sizeof *device, cudaMemcpyDeviceToHost));
}
