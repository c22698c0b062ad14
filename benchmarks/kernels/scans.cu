// Prefix sums through CUB, the library to beat.
#include "bench.cuh"
#include <cub/cub.cuh>

// Scratch memory is made once.
struct Scratch {
    void *memory = nullptr;
    size_t bytes = 0;

    template <class Scan> void run(Scan scan)
    {
        size_t need = 0;
        CHECK(scan(nullptr, need));
        if (need > bytes) {
            CHECK(cudaFree(memory));
            CHECK(cudaMalloc(&memory, need));
            bytes = need;
        }
        CHECK(scan(memory, bytes));
    }
};

extern "C" void scan_f32(long n, const float *x, float *y)
{
    static Scratch scratch;
    scratch.run([=](void *m, size_t &b) { return cub::DeviceScan::InclusiveSum(m, b, x, y, n); });
}

extern "C" void scan_f64(long n, const double *x, double *y)
{
    static Scratch scratch;
    scratch.run([=](void *m, size_t &b) { return cub::DeviceScan::InclusiveSum(m, b, x, y, n); });
}

extern "C" void scan_exclusive(long n, const int *x, int *y)
{
    static Scratch scratch;
    scratch.run([=](void *m, size_t &b) { return cub::DeviceScan::ExclusiveSum(m, b, x, y, n); });
}

// A block for each row, 16 elements per thread and turn.
__global__ void rows_kernel(int n, const float *__restrict__ x, float *__restrict__ y)
{
    constexpr int THREADS = 256, ITEMS = 16;
    using Load = cub::BlockLoad<float, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<float, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<float, THREADS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } shared;
    const float *in = x + (long)blockIdx.x * n;
    float *out = y + (long)blockIdx.x * n, carry = 0.0f;
    for (int first = 0; first < n; first += THREADS * ITEMS) {
        int left = min(n - first, THREADS * ITEMS);
        float v[ITEMS], total;
        Load(shared.load).Load(in + first, v, left, 0.0f);
        __syncthreads();
        Scan(shared.scan).InclusiveSum(v, v, total);
        for (int i = 0; i < ITEMS; i++)
            v[i] += carry;
        carry += total;
        __syncthreads();
        Store(shared.store).Store(out + first, v, left);
        __syncthreads();
    }
}

extern "C" void scan_rows(int rows, int n, const float *x, float *y)
{
    rows_kernel<<<rows, 256>>>(n, x, y);
    CHECK(cudaGetLastError());
}
