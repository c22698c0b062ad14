// RUN: accopt %s -p interchange-lanes | filecheck %s

// The loop in order runs once for 32 iterations: four registers of eight floats.
// CHECK-LABEL: llvm.func @columns
// CHECK:         scf.for %{{.*}} = %lo to %[[MIDDLE:.*]] step %{{.*}} : i32 {
// CHECK:           scf.for %lane
// CHECK:             llvm.store %zero, %{{.*}} {accx.access_groups = [0 : i32]}
// CHECK:           } {{.*}}accx.vector_width = 8 : i32, accx.interleave = 4 : i32
// CHECK:           scf.for %{{.*}} = %c0 to %n step
// CHECK:             llvm.load
// CHECK:             scf.for %lane
// CHECK:               llvm.intr.fmuladd
// CHECK:               llvm.store
// CHECK:           scf.for %lane
// CHECK:             llvm.store %{{.*}} {accx.access_groups = [2 : i32]}
// CHECK:         scf.for %{{.*}} = %[[MIDDLE]] to %hi step
// CHECK-NOT:     accx.lanes
llvm.func @columns(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
      %row = arith.muli %k, %n : i32
      %at = arith.addi %row, %i : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %q = llvm.getelementptr %x[%k] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %x_k = llvm.load %q : !llvm.ptr -> f32
      %t = arith.mulf %v, %x_k : f32
      %next = arith.addf %acc, %t : f32
      scf.yield %next : f32
    }
    %r = llvm.getelementptr %y[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %sum, %r : f32, !llvm.ptr
  } {accx.lanes}
  llvm.return
}

// Bounds that differ from lane to lane, variables that others use and volatile accesses stay.
// CHECK-LABEL: llvm.func @as_before
// CHECK-NOT: accx.vector_width
// CHECK-NOT: accx.lanes
llvm.func @as_before(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %private = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  scf.for %i = %lo to %hi step %c1 : i32 {
    scf.for %k = %c0 to %i step %c1 : i32 {
      %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %p : f32, !llvm.ptr
    }
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %private : f32, !llvm.ptr
    }
  } {accx.lanes}
  scf.for %i = %lo to %hi step %c1 : i32 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p {accx.volatile} : !llvm.ptr -> f32
      llvm.store %v, %p : f32, !llvm.ptr
    }
  } {accx.lanes}
  %last = llvm.load %private : !llvm.ptr -> f32
  llvm.store %last, %y : f32, !llvm.ptr
  llvm.return
}

// Lanes leave the loop one by one: what a lane has when it leaves stays in its element.
// CHECK-LABEL: llvm.func @until
// CHECK:         %[[MASKS:.*]] = llvm.alloca %{{.*}} x !llvm.array<32 x i32>
// CHECK:         scf.while () : () -> () {
// CHECK:           %[[ANY:.*]] = scf.for %lane{{.*}} iter_args(%any
// CHECK:             %[[MASK:.*]] = arith.cmpi ne
// CHECK:             %[[STAYS:.*]] = arith.select %[[MASK]], %less
// CHECK:             arith.select %[[STAYS]], %next
// CHECK:           } {{.*}}accx.vector_width = 8 : i32
// CHECK:           %[[ON:.*]] = arith.cmpi ne, %[[ANY]]
// CHECK:           scf.condition(%[[ON]])
llvm.func @until(%lo: i32, %hi: i32, %a: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 4.0 : f32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %end = scf.while (%x = %v) : (f32) -> f32 {
      %less = arith.cmpf olt, %x, %limit : f32
      scf.condition(%less) %x : f32
    } do {
    ^bb0(%y: f32):
      %next = arith.addf %y, %v : f32
      scf.yield %next : f32
    }
    llvm.store %end, %p : f32, !llvm.ptr
  } {accx.lanes}
  llvm.return
}

// The same with a jump out of the loop, and state in a variable; a store is made by the lanes that come to it.
// CHECK-LABEL: llvm.func @leaving
// CHECK:         scf.while () : () -> () {
// CHECK:           scf.for %lane
// CHECK:             scf.if %{{.*}} {
// CHECK-NEXT:          llvm.store
// CHECK:             arith.ori
// CHECK:           } {{.*}}accx.vector_width
llvm.func @leaving(%lo: i32, %hi: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 4.0 : f32
  %x = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  scf.for %i = %lo to %hi step %c1 : i32 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    llvm.store %v, %x : f32, !llvm.ptr
    scf.execute_region {
      cf.br ^head
    ^head:
      %old = llvm.load %x : !llvm.ptr -> f32
      %less = arith.cmpf olt, %old, %limit : f32
      cf.cond_br %less, ^more, ^out
    ^more:
      llvm.store %old, %q : f32, !llvm.ptr
      %next = arith.addf %old, %v : f32
      llvm.store %next, %x : f32, !llvm.ptr
      cf.br ^head
    ^out:
      scf.yield
    }
    %end = llvm.load %x : !llvm.ptr -> f32
    llvm.store %end, %p : f32, !llvm.ptr
  } {accx.lanes}
  llvm.return
}
