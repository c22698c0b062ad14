// RUN: accopt %s --emit transformed | filecheck %s
// RUN: accopt %s --emit transformed --pass-option "promote-cache-to-shared{promote=never}" | filecheck %s --check-prefix NEVER

// A block runs a loop over terms under a condition if that holds in one of the block's corners: of a triangle, in
// the first column of the last row; of a band, also in the last column of the first row. All outputs of a thread
// keep their initial values otherwise.
// CHECK-LABEL: llvm.func @band
// CHECK:         accx.gang_threads [8 : i64, 16 : i64]
// CHECK:           %first = arith.muli %i
// CHECK:           %first_1 = arith.muli %j
// CHECK:           %[[ROWS:.*]] = arith.addi %first, %c64{{.*}} : i32
// CHECK-NEXT:      %[[ROW:.*]] = arith.subi %[[ROWS]], %c1
// CHECK-NEXT:      %[[BELOW:.*]] = arith.cmpi sle, %first_1, %[[ROW]] : i32
// CHECK-NEXT:      %[[COLUMNS:.*]] = arith.addi %first_1, %c64{{.*}} : i32
// CHECK-NEXT:      %[[COLUMN:.*]] = arith.subi %[[COLUMNS]], %c1
// CHECK-NEXT:      arith.constant 24
// CHECK-NEXT:      %[[EDGE:.*]] = arith.subi %first, %c24
// CHECK-NEXT:      %[[ABOVE:.*]] = arith.cmpi sgt, %[[COLUMN]], %[[EDGE]] : i32
// CHECK-NEXT:      %near = arith.andi %[[BELOW]], %[[ABOVE]] : i1
// CHECK-NEXT:      scf.if %near -> (f32
// CHECK:             accx.gang_barrier

// Without a block, the condition is that of the iteration.
// NEVER-LABEL: llvm.func @band
// NEVER:         %[[INSIDE:.*]] = arith.select
// NEVER-NOT:     accx.holds_in_block
// NEVER:         scf.if %[[INSIDE]] -> (f32)
// NEVER:           scf.for
enum { N = 1024, D = 64 };
void band(const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:N*D], k[0:N*D], s[0:N*N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float v = -100.0f;
            if (j <= i && j > i - 24) {
                v = 0.0f;
                for (int c = 0; c < D; c++)
                    v += q[i * D + c] * k[j * D + c];
            }
            s[i * N + j] = v;
        }
}
