// RUN: accopt %s -p convert-acc-compute-to-host --split-input-file --verify-diagnostics | filecheck %s

// Device code must not see host variables.
// CHECK: error: global variable 'factor' is used in device code but the device has no copy of it
// CHECK: help: write '#pragma acc declare create(factor)' (or copyin) after its declaration
llvm.mlir.global @factor(7 : i32) : i32
llvm.func @work(%x: !llvm.ptr) {
  %g = llvm.mlir.addressof @factor : !llvm.ptr
  %f = llvm.load %g : !llvm.ptr -> i32
  llvm.store %f, %x : i32, !llvm.ptr
  llvm.return
}
llvm.func @main(%x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) {
    llvm.call @work(%dx) : (!llvm.ptr) -> ()
    acc.yield
  }
  llvm.return
}

// -----

// A loop over gang dimension 2 of a construct with one dimension.
// CHECK: error: the loop is partitioned over gang dimension 2, which the construct lacks
// CHECK: help: give num_gangs 2 arguments
llvm.func @main(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.gang_dim = 2 : i32}
    acc.yield
  }
  llvm.return
}
