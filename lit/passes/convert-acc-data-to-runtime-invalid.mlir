// RUN: accopt %s -p convert-acc-data-to-runtime --split-input-file --verify-diagnostics | filecheck %s

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

// -----

// Versions whose queue is read between them and the data operations.
// CHECK: error: the queue of a construct is not known where its data operations are
// CHECK: help: a pass that puts the construct into versions must call 'ready_for_versions' first
builtin.module attributes {accx.sites = [{kind = "launch", file = "a.c", line = 3 : i64, function = "f", kernel = "f_3_host"}]} {
llvm.func @f(%n: i32, %x: !llvm.ptr, %place: !llvm.ptr, %c: i1) {
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  scf.if %c {
    %q = llvm.load %place : !llvm.ptr -> i64
    accx.launch_host @f_3_host gangs(%n) queue(%q) args(%dx) {accx.site = 0 : i32} : !llvm.ptr
  }
  acc.copyout accPtr(%dx : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(i32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}
}
