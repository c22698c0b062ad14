// RUN: accopt %s --target=nvptx --emit=scheduled | filecheck %s

// The coordinates of a point are compared with those of each centre: 16 words fit into registers for one iteration
// of i, not for four.
// CHECK-LABEL: llvm.func @sixteen
// CHECK-NOT: elements =
// CHECK-LABEL: llvm.func @four
// CHECK: elements = 4
// CHECK-LABEL: llvm.func @hundred
// CHECK: elements = 4
#define NEAREST(name, words)                                                                    \
    void name(int n, const float *restrict a, const float *restrict c, float *restrict o)       \
    {                                                                                           \
        _Pragma("acc parallel loop present(a, c, o)")                                           \
        for (int i = 0; i < n; i++) {                                                           \
            float best = 1e30f;                                                                 \
            for (int k = 0; k < 32; k++) {                                                      \
                float d = 0;                                                                    \
                for (int j = 0; j < words; j++)                                                 \
                    d += (a[j * n + i] - c[k * words + j]) * (a[j * n + i] - c[k * words + j]); \
                best = d < best ? d : best;                                                     \
            }                                                                                   \
            o[i] = best;                                                                        \
        }                                                                                       \
    }
NEAREST(sixteen, 16)
NEAREST(four, 4)
NEAREST(hundred, 100)
