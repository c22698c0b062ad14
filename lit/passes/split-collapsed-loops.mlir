// RUN: accopt %s -p split-collapsed-loops | filecheck %s

// A collapsed loop without levels becomes a nest; the variables keep their places.
// CHECK-LABEL: llvm.func @plain
llvm.func @plain(%n: i32, %m: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:      acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    // CHECK-NEXT:   acc.loop control(%j : i32) = (%c0 : i32) to (%m : i32) step (%c1 : i32) {
    // CHECK-NEXT:     %s = arith.addi %i, %j : i32
    // CHECK-NEXT:     llvm.store %s, %a : i32, !llvm.ptr
    // CHECK-NEXT:     acc.yield
    acc.loop control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %m : i32, i32) step (%c1, %c1 : i32, i32) {
      %s = arith.addi %i, %j : i32
      llvm.store %s, %a : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
    acc.yield
  }
  llvm.return
}

// Explicit levels speak of the collapsed iterations: the loop stays.
// CHECK-LABEL: llvm.func @explicit
llvm.func @explicit(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK: acc.loop gang vector control(%{{.*}} : i32, %{{.*}} : i32)
    acc.loop gang vector control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
    acc.yield
  }
  llvm.return
}

// A short inner loop would leave lanes idle: one numbering is kept.
// CHECK-LABEL: llvm.func @short
llvm.func @short(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  acc.parallel {
    // CHECK: acc.loop control(%{{.*}} : i32, %{{.*}} : i32)
    acc.loop control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %c3 : i32, i32) step (%c1, %c1 : i32, i32) {
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
    acc.yield
  }
  llvm.return
}

// Variables of an iteration are those of the innermost loop's iterations.
acc.private.recipe @private_f32 : !llvm.ptr init {
^bb0(%v: !llvm.ptr):
  acc.yield %v : !llvm.ptr
}
// CHECK-LABEL: llvm.func @variables
llvm.func @variables(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %own = acc.private varPtr(%x : !llvm.ptr) varType(f32) recipe(@private_f32) -> !llvm.ptr
    // CHECK:      acc.loop control(%{{.*}} : i32) =
    // CHECK-NEXT:   acc.loop private(%own : !llvm.ptr) control(%{{.*}} : i32) =
    acc.loop private(%own : !llvm.ptr) control(%i : i32, %j : i32) = (%c0, %c0 : i32, i32) to (%n, %n : i32, i32) step (%c1, %c1 : i32, i32) {
      %s = arith.addi %i, %j : i32
      llvm.store %s, %own : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false, false>}
    acc.yield
  }
  llvm.return
}
