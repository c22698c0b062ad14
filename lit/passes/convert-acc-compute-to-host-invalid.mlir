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
