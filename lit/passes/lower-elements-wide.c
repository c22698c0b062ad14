// RUN: accopt %s --target=host --stop-before convert-acc-compute-to-host | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before convert-acc-compute-to-gpu | filecheck %s --check-prefix=GPU

// In constructs for CPU threads, sums and products of int are computed as i64, as those of rows are: LLVM can follow
// them. The row is a subscript of its own. An unsigned one, which may wrap around, is not; nor is a remainder. GPUs compute in 32 bits.
// CHECK-LABEL: @subscripts
// CHECK:         acc.loop
// CHECK:           %[[I:.*]] = arith.extsi %i : i32 to i64
// CHECK:           %[[N:.*]] = arith.extsi %n : i32 to i64
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %[[N]] overflow<nsw> : i64
// CHECK:           %[[PLACE:.*]] = arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK:           %[[A:.*]] = llvm.getelementptr %{{.*}}[%[[ROW]]] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK:           llvm.getelementptr %[[A]][%[[PLACE]]] {accx.in_row} : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK:           arith.remsi %{{.*}} : i32
// CHECK:           arith.extsi %{{.*}} : i32 to i64
// CHECK:           arith.addi %{{.*}} : i32
// CHECK:           arith.extui %{{.*}} : i32 to i64
// GPU-LABEL: @subscripts
// GPU-NOT:     overflow<nsw> : i64
// GPU:         acc.yield
void subscripts(int n, int k, unsigned u, double *restrict a, double *restrict b)
{
#pragma acc parallel loop gang vector present(a, b)
    for (int i = 0; i < n; i++)
        a[i * n + k - 3] = b[i * 7 % n] + b[i + u];
}
