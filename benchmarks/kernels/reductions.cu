// Reductions through CUB, the library to beat; the result goes to host memory.
#include "bench.cuh"
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

// Scratch memory and the device cell of the result are made once.
struct Scratch {
    void *memory = nullptr;
    size_t bytes = 0;
    float *result = nullptr;

    template <class Reduce> void run(Reduce reduce, float *out)
    {
        if (!result)
            CHECK(cudaMalloc(&result, sizeof *result));
        size_t need = 0;
        CHECK(reduce(nullptr, need, result));
        if (need > bytes) {
            CHECK(cudaFree(memory));
            CHECK(cudaMalloc(&memory, need));
            bytes = need;
        }
        CHECK(reduce(memory, bytes, result));
        CHECK(cudaMemcpy(out, result, sizeof *out, cudaMemcpyDeviceToHost));
    }
};

extern "C" void sum_f32(long n, const float *x, float *out)
{
    static Scratch scratch;
    scratch.run([=](void *m, size_t &b, float *r) { return cub::DeviceReduce::Sum(m, b, x, r, n); }, out);
}

extern "C" void max_f32(long n, const float *x, float *out)
{
    static Scratch scratch;
    scratch.run([=](void *m, size_t &b, float *r) { return cub::DeviceReduce::Max(m, b, x, r, n); }, out);
}

struct Product {
    const float *x, *y;
    __device__ float operator()(long i) const { return __ldg(x + i) * __ldg(y + i); }
};

extern "C" void dot_f32(long n, const float *x, const float *y, float *out)
{
    static Scratch scratch;
    auto products = thrust::make_transform_iterator(thrust::counting_iterator<long>(0), Product{x, y});
    scratch.run(
        [=](void *m, size_t &b, float *r) { return cub::DeviceReduce::Sum(m, b, products, r, n); }, out);
}
