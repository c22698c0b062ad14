// RUN: accopt --target=host --fast-math %s -p interchange-lanes | filecheck %s

// With --fast-math LLVM may add the elements of a row in any order, and vectorises along the row.
// CHECK-LABEL: llvm.func @sums
// CHECK-NOT:     accx.vector_width
// CHECK-NOT:     accx.lanes
builtin.module {
  llvm.func @sums(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %y: !llvm.ptr) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f64
    scf.for %i = %lo to %hi step %c1 : i32 {
      %row = arith.muli %i, %n : i32
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) : i32 {
        %at = arith.addi %row, %k : i32
        %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        %v = llvm.load %p : !llvm.ptr -> f64
        %next = arith.addf %acc, %v : f64
        scf.yield %next : f64
      }
      %r = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      llvm.store %sum, %r : f64, !llvm.ptr
    } {accx.lanes}
    llvm.return
  }

  // A recurrence along the row stays one: its iterations wait for each other.
  // CHECK-LABEL: llvm.func @recurrence
  // CHECK:         accx.vector_width = 4 : i32, accx.interleave = 2 : i32
  llvm.func @recurrence(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %b: f64) {
    %c1 = arith.constant 1 : i32
    scf.for %i = %lo to %hi step %c1 : i32 {
      %row = arith.muli %i, %n : i32
      scf.for %k = %c1 to %n step %c1 : i32 {
        %at = arith.addi %row, %k : i32
        %before = arith.subi %at, %c1 : i32
        %p = llvm.getelementptr %a[%before] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        %last = llvm.load %p : !llvm.ptr -> f64
        %next = arith.addf %b, %last : f64
        %q = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        llvm.store %next, %q : f64, !llvm.ptr
      }
    } {accx.lanes}
    llvm.return
  }
}
