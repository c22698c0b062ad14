// RUN: accopt %s -p convert-acc-data-to-runtime --verify-diagnostics | filecheck %s

// CHECK: error: the section of 'x' is not contiguous in memory
// CHECK: help: name whole rows in data clauses; only update takes parts of rows
llvm.func @f(%n: i64, %x: !llvm.ptr) {
  %l0 = arith.constant 0 : i64
  %l2 = arith.constant 2 : i64
  %l8 = arith.constant 8 : i64
  %l80 = arith.constant 80 : i64
  %b0 = acc.bounds lowerbound(%l0 : i64) extent(%n : i64) stride(%l80 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %b1 = acc.bounds lowerbound(%l0 : i64) extent(%l2 : i64) stride(%l8 : i64) startIdx(%l0 : i64) {strideInBytes = true}
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(!llvm.array<10 x f64>) bounds(%b0, %b1) -> !llvm.ptr {name = "x"}
  acc.enter_data dataOperands(%dx : !llvm.ptr)
  llvm.return
}
