// RUN: accopt %s --emit=ptx | filecheck %s

// The address of a guarded row is computed before the guards, so that the guarded blocks have no 64-bit
// additions, which need predicates for their carries, and become predicated instructions.
// CHECK-LABEL: .entry weighted
// CHECK:       @%p{{[0-9]+}} bra $L__BB0_5;
// CHECK-NEXT:  ld.global.nc.b32 %{{.*}}, [%[[ROW:rd[0-9]+]]+-4];
// CHECK:       @%p{{[0-9]+}} bra $L__BB0_9;
// CHECK-NEXT:  ld.global.nc.b32 %{{.*}}, [%[[ROW]]+4];
#include <math.h>
void weighted(int n, const float *restrict a, float *restrict o)
{
#pragma acc parallel loop collapse(2) present(a[0:n * n], o[0:n * n])
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float c = a[y * n + x], s = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    int yy = y + dy, xx = x + dx;
                    if (yy < 0 || yy >= n || xx < 0 || xx >= n)
                        continue;
                    float v = a[yy * n + xx];
                    s += v * expf(-(dx * dx + dy * dy) * 0.08f - (v - c) * (v - c) * 12.5f);
                }
            o[y * n + x] = s;
        }
}
