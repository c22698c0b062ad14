// RUN: accopt %s --target=nvptx --emit=scheduled -p load-early | filecheck %s

// Loads come before the first quotient, root or function: not those whose address depends on one, those of what
// has just been stored to, nor those behind a loop.
#include <math.h>

// CHECK-LABEL: @straight
// CHECK:         acc.loop
// CHECK-COUNT-3: llvm.load
// CHECK:         llvm.call @sqrtf
// CHECK-NOT:     llvm.load
// CHECK:         arith.divf
// CHECK:         llvm.store
void straight(int n, const float *restrict a, const float *restrict b, const float *restrict c, float *restrict o)
{
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n], o[0:n])
    for (int i = 0; i < n; i++) {
        float r = sqrtf(a[i]);
        o[i] = b[i] / c[i] + r;
    }
}

// CHECK-LABEL: @dependent
// CHECK:         arith.divf
// CHECK:         arith.fptosi
// CHECK:         llvm.load
// CHECK:         arith.divf
// CHECK:         llvm.store
// CHECK:         llvm.load
// CHECK:         llvm.store
// CHECK:         scf.for
// CHECK:         llvm.load
void dependent(int n, const float *restrict a, float *restrict b, float *c)
{
#pragma acc parallel loop independent present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        int k = (int)(a[i] / 3.0f);
        c[i] = a[k] / 7.0f;
        b[i] = c[k];
        float s = 0;
        for (int j = 0; j < n; j++)
            s += a[j];
        c[i] = s / a[0];
    }
}
