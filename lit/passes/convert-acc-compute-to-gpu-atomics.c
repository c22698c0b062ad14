// RUN: accopt %s --target nvptx --emit=gpu | filecheck %s

// Lanes update a variable of the gang by atomic operations: a gang of a warp has one copy in shared memory, the
// workers of a gang that share rows have one each. Scalars that are only read there, or belong to a lane, and
// the copy of a thread with a row of its own, are stack slots.
// CHECK-NOT:   llvm.mlir.global internal @{{.*}}{{other|own}}
// CHECK:       llvm.mlir.global internal @[[GANG:[a-z_0-9]*_count]]() {addr_space = 3 : i32, {{.*}}} : !llvm.array<1 x i32>
// CHECK-NEXT:  llvm.mlir.global internal @[[WORKERS:[a-z_0-9]*_count]]() {addr_space = 3 : i32, {{.*}}} : !llvm.array<32 x !llvm.array<1 x i32>>
// CHECK-NOT:   llvm.mlir.global internal
// CHECK:       %[[OWN:count[a-z_0-9]*]] = llvm.alloca
// CHECK:       llvm.atomicrmw add %[[OWN]]
// CHECK:       %[[COPIES:[a-z_0-9]*]] = llvm.mlir.addressof @[[WORKERS]] : !llvm.ptr<3>
// CHECK:       llvm.atomicrmw add
// CHECK:       %[[COPY:[a-z_0-9]*]] = llvm.mlir.addressof @[[GANG]] : !llvm.ptr<3>
// CHECK:       llvm.atomicrmw add
void f(int n, int m, int a[n][m], int out[n])
{
#pragma acc parallel loop gang
    for (int r = 0; r < n; r++) {
        int count = 0, other = a[r][0];
#pragma acc loop vector
        for (int j = 0; j < m; j++) {
            int own = a[r][j] * other;
            if (own % 3) {
#pragma acc atomic update
                count++;
            }
        }
        out[r] = count + other;
    }
}
