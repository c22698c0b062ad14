/* Built-in functions of GNU C in kernels, and OpenMP's routines without OpenMP. */
#include <alloca.h>
#include <byteswap.h>
#include <omp.h>
#include <stdio.h>
#include <sys/param.h>

static int sum(int n)
{
    int *a = alloca(n * sizeof(int)), s = 0;
    for (int i = 0; i < n; i++)
        a[i] = i * n;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

int main(void)
{
    int counts[64], s = 0;
    unsigned long swaps[64];
#pragma acc parallel loop copyout(counts, swaps)
    for (int i = 0; i < 64; i++) {
        unsigned x = i * 2654435761u | 1;
        unsigned long y = x * 0x9e3779b97f4a7c15ul;
        counts[i] = __builtin_popcount(x) + 100 * __builtin_clz(x) + 7 * __builtin_ctz(x & -16u | 1u << 31);
        counts[i] += __builtin_popcountll(y) - __builtin_clzl(y | 1) + 3 * __builtin_ctzll(y | 1ul << 40);
        counts[i] += __builtin_ffs(i - 1) + __builtin_parity(i) + __builtin_clrsb(-i) + MAX(i, 7);
        swaps[i] = bswap_64(y) + bswap_32(x) + bswap_16(i);
        __builtin_prefetch(&swaps[i]);
        if (__builtin_expect(i > 64, 0))
            __builtin_unreachable();
    }
    for (int i = 0; i < 64; i++)
        printf("%d %lx ", counts[i], swaps[i]);
    for (int i = 0; i < 1000; i++)
        s += sum(i);
    printf("%d %d %d %d\n", s, omp_get_max_threads() > 0, omp_get_thread_num(), omp_get_wtime() > 0);
    return 0;
}
