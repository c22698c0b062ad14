// Shared by the hand-written CUDA kernels: launch arithmetic and error checks.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t status_ = (call);                                                            \
        if (status_ != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

template <class T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }

constexpr int STREAM_THREADS = 256;

// Each block handles a contiguous tile of STREAM_THREADS * K elements, K of them per thread, all
// loaded before any is stored.
template <int K, class Load, class Store>
__global__ void __launch_bounds__(STREAM_THREADS) stream_kernel(long n, Load load, Store store)
{
    const long tile = (long)blockIdx.x * (STREAM_THREADS * K) + threadIdx.x;
    using Value = decltype(load(0L));
    Value v[K];
    if (tile - threadIdx.x + STREAM_THREADS * K <= n) {
#pragma unroll
        for (int k = 0; k < K; k++)
            v[k] = load(tile + k * STREAM_THREADS);
#pragma unroll
        for (int k = 0; k < K; k++)
            store(tile + k * STREAM_THREADS, v[k]);
    } else {
        for (int k = 0; k < K; k++)
            if (tile + k * STREAM_THREADS < n)
                store(tile + k * STREAM_THREADS, load(tile + k * STREAM_THREADS));
    }
}

template <int K, class Load, class Store> void stream(long n, Load load, Store store)
{
    stream_kernel<K><<<(unsigned)ceil_div<long>(n, STREAM_THREADS * K), STREAM_THREADS>>>(n, load, store);
    CHECK(cudaGetLastError());
}
