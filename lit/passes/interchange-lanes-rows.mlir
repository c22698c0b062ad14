// RUN: accopt %s -p interchange-lanes | filecheck %s

// Sums of rows in order: each addition waits for the one before, so eight rows are summed at a time. LLVM does not
// learn that lanes are %n elements apart, as it would vectorise the loop only for %n = 1.
// CHECK-LABEL: llvm.func @sums
// CHECK:         %zero = llvm.inline_asm
// CHECK:         scf.for %{{.*}} = %c0 to %n step
// CHECK:           %[[D:.*]] = arith.addi %n, %zero : i32
// CHECK:           scf.for %lane
// CHECK:             arith.muli %{{.*}}, %[[D]]
// CHECK:             arith.addf
// CHECK:           accx.vector_width = 4 : i32, accx.interleave = 2 : i32
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

// The same sum in memory, of floats.
// CHECK-LABEL: llvm.func @in_memory
// CHECK:         accx.vector_width = 8 : i32, accx.interleave = 1 : i32
llvm.func @in_memory(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %at = arith.addi %row, %k : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %acc = llvm.load %q : !llvm.ptr -> f32
      %next = arith.addf %acc, %v : f32
      %r = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %next, %r : f32, !llvm.ptr
    }
  } {accx.lanes}
  llvm.return
}

// A recurrence downwards: an element is computed from the one that the iteration before has stored.
// CHECK-LABEL: llvm.func @backwards
// CHECK:         accx.vector_width = 4 : i32, accx.interleave = 2 : i32
llvm.func @backwards(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %b: f64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %from = arith.subi %row, %k : i32
      %at = arith.subi %from, %c1 : i32
      %p = llvm.getelementptr %a[%from] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %q = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %last = llvm.load %p : !llvm.ptr -> f64
      %old = llvm.load %q : !llvm.ptr -> f64
      %t = arith.mulf %last, %b : f64
      %new = arith.addf %old, %t : f64
      llvm.store %new, %q : f64, !llvm.ptr
    }
  } {accx.lanes}
  llvm.return
}

// The product that is the same for all lanes stays apart, in the remaining iterations too, which LLVM must not
// vectorise: rows have the same bits wherever a thread's range ends.
// CHECK-LABEL: llvm.func @products
// CHECK:         %[[SAME:.*]] = arith.mulf %{{.*}}, %{{.*}} {accx.unfused} : f64
// CHECK:         scf.for %lane
// CHECK:           llvm.intr.fmuladd(%{{.*}}, %{{.*}}, %[[SAME]])
// CHECK:         accx.vector_width = 4 : i32, accx.interleave = 2 : i32
// CHECK:         %[[REST:.*]] = arith.mulf %{{.*}}, %{{.*}} {accx.unfused} : f64
// CHECK:         llvm.intr.fmuladd(%{{.*}}, %{{.*}}, %[[REST]])
// CHECK:         accx.vector_width = 1 : i32, accx.interleave = 1 : i32
llvm.func @products(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %y: !llvm.ptr, %b: f64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f64
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) : i32 {
      %at = arith.addi %row, %k : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %q = llvm.getelementptr %a[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %w = llvm.load %q : !llvm.ptr -> f64
      %t = arith.mulf %w, %b : f64
      %u = arith.mulf %v, %b : f64
      %term = arith.addf %t, %u : f64
      %next = arith.addf %acc, %term : f64
      scf.yield %next : f64
    }
    %r = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %sum, %r : f64, !llvm.ptr
  } {accx.lanes}
  llvm.return
}

// LLVM vectorises along rows: where nothing is carried, where only what the same iteration has stored is read,
// where the order of a sum is free, and where elements are read before another iteration stores them. A sum
// with three rows would take longer with lanes, and short loops are unrolled.
// CHECK-LABEL: llvm.func @along_rows
// CHECK-NOT: accx.vector_width
// CHECK-NOT: accx.lanes
llvm.func @along_rows(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %zero = arith.constant 0.0 : f64
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %at = arith.addi %row, %k : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = arith.addf %v, %v : f64
      %q = llvm.getelementptr %y[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      llvm.store %w, %q : f64, !llvm.ptr
      %u = llvm.load %q : !llvm.ptr -> f64
      %x = arith.addf %u, %w : f64
      llvm.store %x, %q : f64, !llvm.ptr
    }
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) : i32 {
      %at = arith.addi %row, %k : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %next = arith.addf %acc, %v fastmath<reassoc> : f64
      scf.yield %next : f64
    }
    %r = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %sum, %r : f64, !llvm.ptr
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %at = arith.addi %row, %k : i32
      %from = arith.addi %at, %c1 : i32
      %p = llvm.getelementptr %a[%from] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = arith.addf %v, %v : f64
      %q = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      llvm.store %w, %q : f64, !llvm.ptr
    }
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) : i32 {
      %at = arith.addi %row, %k : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %further = arith.addi %at, %n : i32
      %q = llvm.getelementptr %a[%further] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %w = llvm.load %q : !llvm.ptr -> f64
      %r = llvm.getelementptr %y[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %x = llvm.load %r : !llvm.ptr -> f64
      %t = arith.mulf %v, %w : f64
      %u = arith.mulf %t, %x : f64
      %next = arith.addf %acc, %u : f64
      scf.yield %next : f64
    }
    %s = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %sum, %s : f64, !llvm.ptr
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f64) : i32 {
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
