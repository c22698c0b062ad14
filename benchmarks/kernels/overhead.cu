// The same loops with the CUDA runtime.
#include "bench.cuh"

__global__ void nothing(float *) {}

extern "C" void empty_async(int n, float *x)
{
    static cudaStream_t stream;
    if (!stream)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < n; i++)
        nothing<<<1, 32, 0, stream>>>(x);
    CHECK(cudaStreamSynchronize(stream));
}

extern "C" void empty_sync(int n, float *x)
{
    for (int i = 0; i < n; i++) {
        nothing<<<1, 32>>>(x);
        CHECK(cudaStreamSynchronize(0));
    }
}

constexpr int LANES = 32, WARPS = 8, ROWS = 4;

__device__ float block_max(float v)
{
    __shared__ float of_warp[WARPS];
    for (int d = 16; d; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    if (threadIdx.x == 0)
        of_warp[threadIdx.y] = v;
    __syncthreads();
    v = of_warp[0];
    for (int w = 1; w < WARPS; w++)
        v = fmaxf(v, of_warp[w]);
    return v;
}

// The block that finishes last combines the largest changes of all.
__global__ void __launch_bounds__(LANES *WARPS)
step(int n, const float *__restrict__ a, float *__restrict__ b, float *partial, unsigned *finished,
     float *result)
{
    const int j = 1 + blockIdx.x * LANES + threadIdx.x;
    const int i0 = 1 + (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    float change = 0.0f;
    if (j < n - 1) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int i = i0 + r;
            if (i >= n - 1)
                break;
            const float next =
                0.25f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
            change = fmaxf(change, fabsf(next - a[i * n + j]));
            b[i * n + j] = next;
        }
    }
    change = block_max(change);
    const unsigned blocks = gridDim.x * gridDim.y, thread = threadIdx.y * LANES + threadIdx.x;
    __shared__ bool last;
    if (thread == 0) {
        partial[blockIdx.y * gridDim.x + blockIdx.x] = change;
        __threadfence();
        last = atomicInc(finished, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (last) {
        float v = 0.0f;
        for (unsigned k = thread; k < blocks; k += LANES * WARPS)
            v = fmaxf(v, __ldcg(partial + k));
        __syncthreads();
        v = block_max(v);
        if (thread == 0)
            *result = v;
    }
}

extern "C" float jacobi(int n, int steps, float *a, float *b)
{
    const dim3 grid(ceil_div(n - 2, LANES), ceil_div(n - 2, WARPS * ROWS)), block(LANES, WARPS);
    float *partial, *result, *host;
    unsigned *finished;
    CHECK(cudaMalloc(&partial, grid.x * grid.y * sizeof *partial));
    CHECK(cudaMalloc(&result, sizeof *result));
    CHECK(cudaMalloc(&finished, sizeof *finished));
    CHECK(cudaMallocHost(&host, sizeof *host));
    CHECK(cudaMemset(finished, 0, sizeof *finished));
    for (int s = 0; s < steps; s++) {
        step<<<grid, block>>>(n, a, b, partial, finished, result);
        CHECK(cudaMemcpyAsync(host, result, sizeof *host, cudaMemcpyDeviceToHost));
        CHECK(cudaStreamSynchronize(0));
        float *t = a;
        a = b;
        b = t;
    }
    const float change = *host;
    CHECK(cudaFree(partial));
    CHECK(cudaFree(result));
    CHECK(cudaFree(finished));
    CHECK(cudaFreeHost(host));
    return change;
}
