// RUN: accopt %s --target=nvptx --emit scheduled -p promote-cache-to-shared | filecheck %s
// RUN: accopt %s --target=nvptx --emit gpu | filecheck %s --check-prefix=GPU
// RUN: accopt %s --target=nvptx --emit device-llvm | filecheck %s --check-prefix=LLVM
// RUN: accopt %s --target=nvptx --emit ptx | filecheck %s --check-prefix=PTX
// RUN: accopt %s --target=nvptx --sm=80 --emit ptx | filecheck %s --check-prefix=SINGLE
// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared{matrix=never}" | filecheck %s --check-prefix=NONE
// RUN: accopt %s --target=nvptx --sm=75 --emit scheduled -p promote-cache-to-shared | filecheck %s --check-prefix=NONE
// RUN: accopt %s --target=nvptx --no-fma --emit scheduled -p promote-cache-to-shared | filecheck %s --check-prefix=NONE
// RUN: accopt %s --target=nvptx --emit scheduled -p promote-cache-to-shared -DREAL=float | filecheck %s --check-prefix=NONE
// RUN: accopt %s --target=nvptx --emit scheduled -p promote-cache-to-shared -DTERM="sum += a[i][k] * (b[k][j] + 1)" | filecheck %s --check-prefix=NONE
// RUN: accopt %s --target=nvptx --emit scheduled -p promote-cache-to-shared -DTERM="sum -= a[i][k] * b[k][j]" | filecheck %s --check-prefix=MINUS
// RUN: accopt %s --target=nvptx --no-fma --emit scheduled -p promote-cache-to-shared -DTERM="sum = fma(a[i][k], b[k][j], sum)" | filecheck %s --check-prefix=MINUS

// A product of doubles: a warp is 8 rows of 4 threads. Of a turn's terms a thread loads one, for its row of the
// left tile and, of every group of 8 columns, for the column that is its share of the right one.
// CHECK:       accx.gang_threads [16 : i64, 4 : i64]
// CHECK:       accx.shared_tile "a" 20480 : i64
// CHECK:       accx.shared_tile "b" 17408 : i64
// CHECK:       accx.copy_async {{.*}} 16 : i64
// CHECK:       accx.opaque
// CHECK:       accx.wait_copies
// CHECK:       %column = arith.andi
// CHECK:       scf.for %k =
// CHECK:       %term = arith.andi %thread
// CHECK-COUNT-4: llvm.load %a_cached
// CHECK-COUNT-8: llvm.load %b_cached
// CHECK-COUNT-16: accx.warp_product <m = 16, n = 8, k = 4>
// CHECK-NOT:   arith.mulf
// CHECK:       4 elements in a matrix instruction
// GPU:         nvvm.mma.sync A[{{%[^,]*, %[^,]*}}] B[{{%[^,]*}}] C[
// GPU-NEXT:    llvm.extractvalue
// LLVM:        call { double, double, double, double } @llvm.nvvm.mma.m16n8k4.row.col.f64({{.*}}) convergent
// PTX:         mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64
// SINGLE:      mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64

// Not on older GPUs, of floats, where a multiplication and an addition may not be one, or of anything else
// than a product of two elements.
// NONE:        accx.gang_threads
// NONE-NOT:    accx.warp_product
// MINUS:       accx.warp_product
double fma(double, double, double);
#ifndef REAL
#define REAL double
#endif
#ifndef TERM
#define TERM sum += a[i][k] * b[k][j]
#endif
#define N 4096

void multiply(const REAL (*restrict a)[N], const REAL (*restrict b)[N], REAL (*restrict c)[N])
{
#pragma acc parallel loop collapse(2) present(a[0:N], b[0:N], c[0:N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            REAL sum = 0;
            for (int k = 0; k < N; k++)
                TERM;
            c[i][j] = sum;
        }
}
