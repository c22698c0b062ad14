// RUN: accopt %s --emit=gpu | filecheck %s
// RUN: accopt %s --emit=gpu --sm=75 | filecheck %s --check-prefix OLD
// RUN: accopt %s --emit=gpu --pass-option 'convert-acc-compute-to-gpu{reduction_strategy=atomic}' | filecheck %s --check-prefix ATOMIC
// RUN: accopt %s --emit=gpu --pass-option 'convert-acc-compute-to-gpu{exchange=shared}' | filecheck %s --check-prefix SHARED

// From sm_80 on, a warp's sum of ints is one instruction; the warps' sums meet in shared memory.
// The last gang adds up all gangs' sums.
// CHECK:      nvvm.redux.sync
// CHECK:      "gpu.barrier"
// CHECK:      nvvm.memory.barrier <gpu>
// CHECK-NEXT: llvm.atomicrmw add {{.*}} syncscope("device")

// OLD-NOT: nvvm.redux.sync
// OLD:     nvvm.shfl.sync bfly

// One atomic per gang; no scratch memory, no ticket.
// ATOMIC:     nvvm.redux.sync
// ATOMIC-NOT: nvvm.memory.barrier
// ATOMIC:     llvm.atomicrmw add

// A tree of halves in shared memory.
// SHARED:      llvm.mlir.global internal @sum_{{[0-9]+}}_kernel_reduce() {{.*}} !llvm.array<1024 x i8>
// SHARED-NOT:  nvvm.redux.sync
// SHARED-NOT:  nvvm.shfl.sync bfly
// SHARED:      "gpu.barrier"
// SHARED:      %partner = arith.addi %lane{{[_0-9]*}}, %c128
// SHARED:      "gpu.barrier"
// SHARED:      %partner{{.*}} = arith.addi %lane{{[_0-9]*}}, %c64
int sum(int n, const int *restrict a)
{
    int total = 0;
#pragma acc parallel loop reduction(+ : total) present(a[0:n])
    for (int i = 0; i < n; i++)
        total += a[i];
    return total;
}
