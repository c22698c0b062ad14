// RUN: accopt %s --target=nvptx --stop-before choose-lanes | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before choose-lanes | filecheck %s --check-prefix=NOT
// RUN: accopt %s --target=host --stop-before choose-lanes | filecheck %s --check-prefix=HOST
// RUN: accopt %s --target=nvptx --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

#include <math.h>

// One table for all calls with the same values, in the order of the loops.
// CHECK-DAG:     llvm.mlir.global internal constant @cosf.table(dense<[1.0{{.*}}, 1.0{{.*}}, 9.{{.*}}]> : tensor<12xf32>)
// CHECK-DAG:     llvm.mlir.global internal constant @pow.table(dense<[1.0{{.*}}, 2.0{{.*}}, 4.0{{.*}}]> : tensor<3xf64>)
// CHECK-NOT:     llvm.mlir.global
// HOST-NOT:      table
// CHECK-LABEL: @transformed
// CHECK:         scf.for %u
// CHECK:           scf.for %y
// CHECK-NOT:         sitofp
// CHECK:             %[[ROW:.*]] = arith.muli %{{.*}}, %c4
// CHECK:             %[[PLACE:.*]] = arith.addi %[[ROW]], %
// CHECK:             llvm.getelementptr %table{{.*}}[%[[PLACE]]]
// CHECK:             %cosf = llvm.load
// SAYS:          :[[# @LINE + 9]]:39: remark: cosf: read from a table of its 12 values
void transformed(int n, const float *restrict a, float *restrict b)
{
    int i, u, y;
#pragma acc parallel loop private(u, y) present(a[0:4*n], b[0:3*n])
    for (i = 0; i < n; i++)
        for (u = 0; u < 3; u++) {
            float sum = 0;
            for (y = 0; y < 4; y++)
                sum += a[4 * i + y] * cosf((2 * y + 1) * u * 0.2f);
            b[3 * i + u] = sum;
        }
#pragma acc kernels present(a[0:4*n], b[0:3*n])
    for (i = 0; i < n; i++)
        for (u = 0; u < 3; u++)
            for (y = 0; y < 4; y++)
                b[3 * i + u] += cosf((2 * y + 1) * u * 0.2f);
}

// Counters that begin elsewhere and count down.
// CHECK-LABEL: @powers
// CHECK:         %[[NUMBER:.*]] = arith.subi %{{.*}}, %c
// CHECK:         llvm.getelementptr %table{{.*}}
void powers(int n, double *restrict b)
{
#pragma acc parallel loop present(b[0:n])
    for (int i = 0; i < n; i++)
        for (long k = 5; k < 8; k++)
            b[i] += pow(2, k - 5);
}

// Not values of which there are many, that depend on data, the size of a loop or all loops, are not numbers, or of
// functions that are none of C's.
// NOT-LABEL:   @others
// NOT-NOT:       table
// NOT:           llvm.return
#pragma acc routine seq
float own(float);
void others(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 300; k++)
            b[i] += cosf(k);
#pragma acc parallel loop present(a[0:4], b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            b[i] += cosf(k * a[k]);
#pragma acc parallel loop present(b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            b[i] += cosf(k);
#pragma acc parallel loop present(b[0:64])
    for (int i = 0; i < 64; i++)
        b[i] = cosf(i);
#pragma acc parallel loop present(b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            b[i] += logf(k);
#pragma acc parallel loop present(b[0:n])
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            b[i] += own(k);
}
