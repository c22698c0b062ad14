// RUN: accopt %s -p infer-routines | filecheck %s
// RUN: accopt %s -p infer-routines 2>&1 >/dev/null | filecheck %s --check-prefix=WARN

// Loops that nobody runs in parallel are warned about, once for a nest; those of routines are not.
// WARN:     this 'loop' is not in a compute construct
// WARN:     give 'lost' a 'routine' directive
// WARN-NOT: this 'loop' is in no

llvm.func @sqrtf(f32) -> f32

// A function that a routine's caller reaches gets a routine, recursion included.
// CHECK:      acc.routine @acc_routine_square func(@square) seq implicit attributes {accx.implicit_routine}
// CHECK-NEXT: llvm.func @square
llvm.func @square(%v: f32) -> f32 {
  %r = llvm.call @square(%v) : (f32) -> f32
  llvm.return %r : f32
}

// Its level follows its loops.
// CHECK:      acc.routine @acc_routine_rows func(@rows) vector implicit attributes {accx.implicit_routine}
llvm.func @rows(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// CHECK-NOT:  func(@lost)
llvm.func @lost(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.loop control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// What only host code calls gets none.
// CHECK-NOT:  acc.routine
// CHECK:      llvm.func @host_only
llvm.func @host_only() {
  llvm.return
}

// A directive without a level gets that of the loops.
// CHECK:      acc.routine @given func(@unlevelled) worker
acc.routine @given func(@unlevelled)
llvm.func @unlevelled(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.loop worker control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// Device code calls @there instead of @here, which is host code only.
// CHECK:      acc.routine @bound func(@here) bind(@there) seq
acc.routine @bound func(@here) bind(@there) seq
llvm.func @here() {
  %f = llvm.mlir.addressof @counter : !llvm.ptr
  llvm.return
}
// CHECK:      acc.routine @acc_routine_there func(@there) seq implicit
llvm.func @there() {
  llvm.return
}
llvm.mlir.global internal @counter(0 : i32) : i32

llvm.func @main(%n: i32, %v: f32) {
  acc.parallel {
    llvm.call @here() : () -> ()
    acc.yield
  }
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  llvm.call @host_only() : () -> ()
  acc.parallel {
    %s = llvm.call @square(%v) : (f32) -> f32
    %t = llvm.call @sqrtf(%s) : (f32) -> f32
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @rows(%n) : (i32) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
