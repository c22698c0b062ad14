// RUN: accopt %s -p schedule-loops --split-input-file --verify-diagnostics | filecheck %s

// A vector loop in a vector loop.
// CHECK: error: a vector loop is inside a loop that is already partitioned at the vector level
// CHECK: help: order the levels gang, worker, vector from the outermost loop inwards
llvm.func @nested(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// -----

// A size that only the device knows.
// CHECK: error: the vector_length value of this loop is only known inside the construct
llvm.func @unknown(%n: i32, %x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    %v = llvm.load %x : !llvm.ptr -> i32
    acc.loop vector(%v : i32) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
