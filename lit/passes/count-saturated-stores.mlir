// RUN: accopt %s -p 'compress-arrays{wide=false},count-saturated-stores' | filecheck %s
// RUN: accopt %s -p 'compress-arrays{wide=false},count-saturated-stores{target=host}' | filecheck %s --check-prefix=HOST
// RUN: accopt %s -p 'compress-arrays{wide=false count=false},count-saturated-stores' | filecheck %s --check-prefix=NONE

// Both stores to %a are tested together: the farther of the two rounded numbers decides. The store to
// the half array is tested on its own, for infinity.
// CHECK-LABEL: llvm.func @stores
// CHECK:         %a_c0, %a_c1, %a_inverse, %a_offset, %a_plane, %a_counter = accx.coefficients {{.*}} {accx.counted = 0 : i32}
// CHECK:         %h_c0, %h_c1, %h_inverse, %h_offset, %h_plane, %h_counter = accx.coefficients {{.*}} {accx.counted = 1 : i32}
// CHECK:           llvm.store %code
// CHECK:           llvm.store %code_1
// CHECK:           %[[FIRST:.*]] = arith.addi %{{.*}}, %cm1065353344 : i32
// CHECK:           %[[SECOND:.*]] = arith.addi %{{.*}}, %cm1065353344_1 : i32
// CHECK-NEXT:      %[[MOST:.*]] = arith.maxui %[[FIRST]], %[[SECOND]] : i32
// CHECK-NEXT:      %[[LIMIT:.*]] = arith.constant 8388352 : i32
// CHECK-NEXT:      %saturates = arith.cmpi uge, %[[MOST]], %[[LIMIT]] : i32
// CHECK-NEXT:      scf.if %saturates {
// CHECK:             %extreme = arith.cmpi uge
// CHECK:             %extreme_1 = arith.cmpi uge
// CHECK:             %[[WORD:.*]] = llvm.getelementptr %a_counter[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:        llvm.atomicrmw add %[[WORD]], %{{.*}} monotonic : !llvm.ptr, i64
// CHECK:           llvm.store %code_2
// CHECK:           arith.constant 31744 : i32
// CHECK:           llvm.getelementptr %h_counter
// CHECK-NEXT:      llvm.atomicrmw add

// On the host a gang has its own counts, and the loop no branch.
// HOST-LABEL: llvm.func @stores
// HOST:         acc.parallel
// HOST-DAG:       %[[OWN:saturated.*]] = llvm.alloca
// HOST:           acc.loop
// HOST-NOT:         scf.if
// HOST:             llvm.load %[[OWN]]
// HOST:             llvm.store %{{.*}}, %[[OWN]] : i32
// HOST:             acc.yield
// HOST:           scf.if
// HOST:             llvm.atomicrmw add %a_counter

// NONE-LABEL: llvm.func @stores
// NONE-NOT:     accx.counted
// NONE-NOT:     llvm.atomicrmw
llvm.func @stores(%n: i64, %a: !llvm.ptr, %h: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %two = arith.constant 2.0 : f32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, range>, accx.decodes, name = "a"}
  %h_dev = acc.present varPtr(%h : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, half>, accx.decodes, name = "h"}
  acc.parallel dataOperands(%a_dev, %h_dev : !llvm.ptr, !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %a_dev[%i] of f32 : i64
      llvm.store %two, %p : f32, !llvm.ptr
      %j = arith.addi %i, %n : i64
      %q = accx.element %a_dev[%j] of f32 : i64
      llvm.store %two, %q : f32, !llvm.ptr
      %r = accx.element %h_dev[%i] of f32 : i64
      llvm.store %two, %r : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  acc.delete accPtr(%h_dev : !llvm.ptr) {name = "h"}
  llvm.return
}
